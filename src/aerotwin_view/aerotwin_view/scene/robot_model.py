# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a robot from its URDF, as `robot_description` carries it.

Boxes, cylinders and spheres at fixed or resting joints; meshes from files of a stranger's machine
are left out.
"""

from xml.etree import ElementTree

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, make_transform

MOST_BYTES = 1 << 20
MOST_PARTS = 2000
_GREY = (0.5, 0.5, 0.55, 1.0)
_SIDES = 24


def robot_model(urdf: str) -> trimesh.Trimesh | None:
    """Return the visible shape in the axes of the root link [m]; None if nothing has one.

    Raises
    ------
    UserError
        If the text is no URDF, or has more than `MOST_BYTES` or `MOST_PARTS` visible parts.
    """
    robot = parsed_urdf(urdf)
    try:
        poses = poses_of_links(robot)
        visuals = [(poses[link.get("name", "")], visual)
                   for link in robot.iter("link") for visual in link.iter("visual")]  # fmt: skip
        if len(visuals) > MOST_PARTS:
            raise UserError(f"robot_description: it has {len(visuals)} parts, at most {MOST_PARTS}")
        colours = {
            str(each.get("name")): _numbers(colour.get("rgba"), _GREY)
            for each in robot.iter("material")
            if (colour := each.find("color")) is not None
        }
        parts = [part for T, visual in visuals if (part := _part(T, visual, colours)) is not None]
    except (KeyError, ValueError) as error:
        raise UserError(f"robot_description: it is no URDF that can be shown: {error}") from None
    whole = trimesh.util.concatenate(parts) if parts else None
    return whole if isinstance(whole, trimesh.Trimesh) else None


def parsed_urdf(urdf: str) -> ElementTree.Element:
    """Return a URDF as XML. Raises UserError if it is none, or has more than `MOST_BYTES`."""
    if len(urdf) > MOST_BYTES:
        raise UserError(f"robot_description: expected at most {MOST_BYTES} bytes, got {len(urdf)}")
    try:
        return ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise UserError(f"robot_description: it is no URDF that can be shown: {error}") from None


def poses_of_links(robot: ElementTree.Element) -> dict[str, FloatArray]:
    """Return the pose (4, 4) of each link by name, in the root's axes, with all joints at zero."""
    joints = {}
    for joint in robot.iter("joint"):
        child, parent = joint.find("child"), joint.find("parent")
        if child is not None and parent is not None:
            joints[child.get("link", "")] = parent.get("link", ""), _origin(joint)
    names = [link.get("name", "") for link in robot.iter("link")]
    poses = {name: np.eye(4) for name in names if name not in joints}
    for name in names:
        chain: list[str] = []
        while name not in poses:
            if name in chain:
                raise ValueError(f"its link {name} is its own parent")
            chain.append(name)
            name = joints[name][0]
        for below in reversed(chain):
            parent_name, T_parent_child = joints[below]
            poses[below] = poses[parent_name] @ T_parent_child
    return poses


def _part(
    T_root_link: FloatArray, visual: ElementTree.Element, colours: dict[str, FloatArray]
) -> trimesh.Trimesh | None:
    shape = visual.find("geometry/*")
    if shape is None:
        return None
    if shape.tag == "box":
        part = trimesh.creation.box(extents=_numbers(shape.get("size"), (0.1, 0.1, 0.1)))
    elif shape.tag == "cylinder":
        radius, length = length_of(shape, "radius"), length_of(shape, "length")
        part = trimesh.creation.cylinder(radius=radius, height=length, sections=_SIDES)
    elif shape.tag == "sphere":
        part = trimesh.creation.icosphere(subdivisions=2, radius=length_of(shape, "radius"))
    else:
        return None
    part.apply_transform(T_root_link @ _origin(visual))
    material = visual.find("material")
    name = "" if material is None else str(material.get("name"))
    rgba = np.array(colours.get(name, _GREY))
    rgba[3] = 1.0  # robots are drawn in batches, which cannot be sorted by distance
    part.visual = trimesh.visual.ColorVisuals(
        part, face_colors=np.round(255.0 * np.clip(rgba, 0.0, 1.0)).astype(np.uint8)
    )
    return part


def _origin(element: ElementTree.Element) -> FloatArray:
    """Return the pose (4, 4) in an element's origin; rpy are about the fixed axes x, y, z."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    rpy = _numbers(origin.get("rpy"), (0.0, 0.0, 0.0))
    xyz = _numbers(origin.get("xyz"), (0.0, 0.0, 0.0))
    return make_transform(Rotation.from_euler("xyz", rpy).as_matrix(), xyz)


def length_of(element: ElementTree.Element, name: str) -> float:
    """Return a length in an attribute [m], 0.1 without. Raises ValueError if it is no number."""
    return float(_numbers(element.get(name), (0.1,))[0])


def _numbers(text: str | None, default: tuple[float, ...]) -> FloatArray:
    """Return as many numbers as the default has. Raises ValueError for others, or if not finite."""
    values = np.array(default if text is None else [float(word) for word in text.split()])
    if len(values) != len(default) or not np.isfinite(values).all():
        raise ValueError(f"expected {len(default)} numbers, got {text!r}")
    return values
