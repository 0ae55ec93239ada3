# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle as URDF, for RViz, Foxglove and MoveIt: links and fixed joints are those of /tf_static.

Masses and inertias are those of the airframe, shapes are simple: arms, legs, discs of the rotors.
"""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics.airframe import Airframe
from aerotwin_multirotor_dynamics.truth_messages import rotor_names

UNKNOWN_RADIUS_M = 0.1
"""Of the rotors of an airframe that has no `propeller.radius_m`."""
_THIN_M, _SENSOR_M = 0.01, 0.03
_COLOURS = {"body": "0.25 0.25 0.28 1", "rotor": "0.1 0.45 0.8 0.5", "sensor": "0.85 0.4 0.1 1"}


def multirotor_description(airframe: Airframe, fixed: Sequence[Any], prefix: str = "") -> str:
    """Return the URDF of a multirotor from its fixed transforms, TransformStamped messages.

    `prefix` is that of its frames, as "uav0/".
    """
    hubs = np.array([rotor.position_m for rotor in airframe.rotors])
    base = f"{prefix}base_link"
    robot, links = robot_of_frames(airframe.name, base, fixed)
    moments = dict(zip(("ixx", "iyy", "izz"), airframe.inertia_kg_m2, strict=True))
    inertial = ElementTree.SubElement(links[base], "inertial")
    ElementTree.SubElement(inertial, "mass", value=number_text(airframe.mass_kg))
    values = {"ixy": 0.0, "ixz": 0.0, "iyz": 0.0, **moments}
    ElementTree.SubElement(inertial, "inertia", {k: number_text(v) for k, v in values.items()})
    size = 0.3 * float(np.linalg.norm(hubs[:, :2], axis=1).max())
    add_box(links[base], (2.0 * size, size, 0.5 * size), (0.0, 0.0, 0.0), "body")
    for hub in hubs:
        _rod(links[base], np.array([0.0, 0.0, 0.0]), hub)
    for foot in np.array(airframe.contact.feet_m):
        _rod(links[base], 0.5 * foot * (1.0, 1.0, 0.0), foot)
    radius = airframe.propeller.radius_m or UNKNOWN_RADIUS_M
    for name in rotor_names(len(hubs)):
        disc = {"radius": number_text(radius), "length": number_text(_THIN_M)}
        add_visual(links[f"{prefix}{name}"], "cylinder", disc, "rotor")
    return urdf_text(robot)


def robot_of_frames(
    name: str, base: str, fixed: Sequence[Any]
) -> tuple[ElementTree.Element, dict[str, ElementTree.Element]]:
    """Return a robot with a link for each frame, joined as the transforms say, and its links."""
    robot = ElementTree.Element("robot", name=name)
    for colour, rgba in _COLOURS.items():
        material = ElementTree.SubElement(robot, "material", name=colour)
        ElementTree.SubElement(material, "color", rgba=rgba)
    links = {base: ElementTree.SubElement(robot, "link", name=base)}
    for edge in fixed:
        parent, child = edge.header.frame_id, edge.child_frame_id
        links[child] = ElementTree.SubElement(robot, "link", name=child)
        joint = ElementTree.SubElement(robot, "joint", name=f"{child}_joint", type="fixed")
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
        p, q = edge.transform.translation, edge.transform.rotation
        _origin(joint, (p.x, p.y, p.z), Rotation.from_quat([q.x, q.y, q.z, q.w]))
        if parent == base and not child.rpartition("/")[2].startswith("rotor_"):
            add_box(links[child], (_SENSOR_M,) * 3, (0.0, 0.0, 0.0), "sensor")
    return robot, links


def _rod(link: ElementTree.Element, start: np.ndarray, end: np.ndarray) -> None:
    """Add a thin cylinder between two points."""
    way = end - start
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return
    turn, _ = Rotation.align_vectors([way / length], [[0.0, 0.0, 1.0]])
    rod = {"radius": number_text(_THIN_M), "length": number_text(length)}
    add_visual(link, "cylinder", rod, "body", 0.5 * (start + end), turn)


def add_box(
    link: ElementTree.Element, size: Sequence[float], middle: Sequence[float], colour: str
) -> None:
    """Add a box of a size (3,) around a point (3,) to a link [m]."""
    add_visual(link, "box", {"size": " ".join(map(number_text, size))}, colour, middle)


def add_visual(
    link: ElementTree.Element,
    shape: str,
    attributes: dict[str, str],
    colour: str,
    middle: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
    turn: Rotation | None = None,
) -> None:
    """Add a shape with its attributes to a link: where its middle is (3,) [m], how it is turned."""
    visual = ElementTree.SubElement(link, "visual")
    _origin(visual, middle, Rotation.identity() if turn is None else turn)
    geometry = ElementTree.SubElement(visual, "geometry")
    ElementTree.SubElement(geometry, shape, attributes)
    ElementTree.SubElement(visual, "material", name=colour)


def _origin(element: ElementTree.Element, p: Sequence[float] | np.ndarray, turn: Rotation) -> None:
    """Add an origin: rpy are the angles about the fixed axes x, y, z, in this order."""
    rpy = turn.as_euler("xyz", suppress_warnings=True)
    texts = {"xyz": " ".join(map(number_text, p)), "rpy": " ".join(map(number_text, rpy))}
    ElementTree.SubElement(element, "origin", texts)


def number_text(value: float) -> str:
    """Return a number for an attribute."""
    return repr(float(value) + 0.0)  # no negative zero


def urdf_text(robot: ElementTree.Element) -> str:
    """Return a robot as text."""
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
