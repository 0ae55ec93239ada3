# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot description, read by the rules of its format."""

from math import cos, sin
from xml.etree import ElementTree

import numpy as np

from aerotwin_core.frames import rotation_from_quaternion


def _numbers(text):
    return [float(token) for token in text.split()]


def joint_pose(element):
    """Return T of the origin of an element: turned about the fixed axes x, then y, then z."""
    origin = element.find("origin")
    r, p, y = _numbers(origin.get("rpy"))
    about_x = np.array([[1, 0, 0], [0, cos(r), -sin(r)], [0, sin(r), cos(r)]])
    about_y = np.array([[cos(p), 0, sin(p)], [0, 1, 0], [-sin(p), 0, cos(p)]])
    about_z = np.array([[cos(y), -sin(y), 0], [sin(y), cos(y), 0], [0, 0, 1]])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = about_z @ about_y @ about_x, _numbers(origin.get("xyz"))
    return T


def read_urdf(urdf):
    """Return a robot, and its joints as (parent, child) -> T; every link but one is a child."""
    robot = ElementTree.fromstring(urdf)
    assert robot.tag == "robot"
    assert robot.get("name")
    links = [link.get("name") for link in robot.findall("link")]
    joints = {}
    for joint in robot.findall("joint"):
        assert joint.get("type") == "fixed"
        frames = joint.find("parent").get("link"), joint.find("child").get("link")
        joints[frames] = joint_pose(joint)
    names = [joint.get("name") for joint in robot.findall("joint")]
    assert len(set(links)) == len(links) and len(set(names)) == len(names)
    children = [child for _, child in joints]
    (root,) = set(links) - set(children)
    assert len(set(children)) == len(children) == len(links) - 1
    assert {parent for parent, _ in joints} <= set(links)
    assert root.endswith("base_link")
    known = {material.get("name") for material in robot.findall("material")}
    assert {m.get("name") for m in robot.iterfind("link/visual/material")} <= known
    return robot, joints


def edges_of(transforms):
    """Return the transforms of a message as (parent, child) -> T."""
    found = {}
    for edge in transforms:
        p, q = edge.transform.translation, edge.transform.rotation
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = rotation_from_quaternion([q.x, q.y, q.z, q.w]), (p.x, p.y, p.z)
        found[edge.header.frame_id, edge.child_frame_id] = T
    return found
