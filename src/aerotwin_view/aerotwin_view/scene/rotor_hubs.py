# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the rotors of a robot are, from its URDF."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_view.scene.robot_model import length_of, parsed_urdf, poses_of_links

MOST_ROTORS = 16
"""Of a robot; one with more is shown without."""
_ROTOR = re.compile(r"(?:.*/)?rotor_(\d{1,2})")
"""Names of links, as of `sensor_msgs/JointState` on the topic `rotors`."""
_RADIUS_M = 0.1, 0.01, 10.0
"""Of a rotor without a shape; the least and the largest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RotorHub:
    """A rotor: its name as in messages, its pose (4, 4) with its axis along z, its radius [m]."""

    name: str
    T_base_hub: FloatArray
    radius_m: float


def rotor_hubs(urdf: str) -> tuple[RotorHub, ...]:
    """Return the rotors of a robot in the order of their numbers; none if no link is one.

    Raises
    ------
    UserError
        If the text is no URDF, or has more than `MOST_ROTORS` rotors.
    """
    robot = parsed_urdf(urdf)
    try:
        poses = poses_of_links(robot)
        found = {
            int(match[1]): _hub(f"rotor_{int(match[1])}", poses[name], link)
            for link in robot.iter("link")
            for name in (link.get("name", ""),)
            if (match := _ROTOR.fullmatch(name)) is not None
        }
    except (KeyError, ValueError) as error:
        raise UserError(f"robot_description: its rotors cannot be found: {error}") from None
    if len(found) > MOST_ROTORS:
        raise UserError(f"robot_description: expected at most {MOST_ROTORS} rotors")
    return tuple(found[number] for number in sorted(found))


def _hub(name: str, T_base_hub: FloatArray, link: ElementTree.Element) -> RotorHub:
    default_m, least_m, most_m = _RADIUS_M
    disc = link.find("visual/geometry/cylinder")
    radius_m = default_m if disc is None else length_of(disc, "radius")
    if not least_m <= radius_m <= most_m:
        raise ValueError(f"{name} has a radius of {radius_m:g} m")
    return RotorHub(name=name, T_base_hub=T_base_hub, radius_m=radius_m)
