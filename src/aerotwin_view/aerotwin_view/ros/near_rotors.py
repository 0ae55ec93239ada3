# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rotors of the robots that are nearest to whom watches."""

from collections.abc import Mapping, Sequence

import numpy as np
from rclpy.node import Node

from aerotwin_view.page import Page
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.heard_rotors import HeardRotors
from aerotwin_view.ros.polled_topic import TopicGraph
from aerotwin_view.scene.nearest_robots import eyes_of, nearest_rows
from aerotwin_view.scene.rotor_hubs import RotorHub
from aerotwin_view.scene.spinning_rotors import MOST_SPINNING, SpinningRotors


class NearRotors:
    """Listens to the rotors of some robots, and turns their blades."""

    def __init__(self, page: Page, node: Node) -> None:
        self._page = page
        self._heard = HeardRotors(node)
        self._blades = SpinningRotors(page)
        self._hubs: dict[str, Sequence[RotorHub]] = {}

    def look(
        self,
        graph: TopicGraph,
        robots: Mapping[str, HeardPose],
        hubs: Mapping[str, Sequence[RotorHub]],
    ) -> None:
        """Choose the nearest of the robots that have rotors."""
        turning = [name for name in robots if hubs.get(name)]
        places = np.array([robots[name].p for name in turning]).reshape(-1, 3)
        rows = nearest_rows(places, eyes_of(self._page), MOST_SPINNING)
        chosen = {turning[row]: hubs[turning[row]] for row in rows}
        self._heard.look(graph, list(chosen))
        if chosen != self._hubs:
            self._hubs = chosen
            self._blades.set_rotors(list(chosen.values()))

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self._heard.rest()

    def read(self) -> None:
        """Take over how fast they turn."""
        self._heard.read()

    def show(self, robots: Mapping[str, HeardPose], dt: float) -> None:
        """Turn the blades for some time [s], 0 while time stands still; move them along."""
        if not self._hubs:
            return
        if not robots.keys() >= self._hubs.keys():  # one has left since the last look
            self._hubs = {}
            self._blades.set_rotors(())
            return
        poses = [robots[name] for name in self._hubs]
        speeds = [self._heard.speeds(name, hubs) for name, hubs in self._hubs.items()]
        self._blades.show(
            np.array([pose.p for pose in poses]),
            np.array([pose.q_xyzw for pose in poses]),
            np.concatenate(speeds),
            dt,
        )
