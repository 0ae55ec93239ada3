# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is drawn beside the robots that are heard, each from topics or services of its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rclpy.node import Node

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.ros.heard_formation import HeardFormation
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.near_rotors import NearRotors
from aerotwin_view.ros.placed_estimates import PlacedEstimate
from aerotwin_view.ros.polled_topic import TopicGraph
from aerotwin_view.scene.formation_links import FormationLinks
from aerotwin_view.scene.layers import Layers
from aerotwin_view.scene.rotor_hubs import RotorHub
from aerotwin_view.scene.uncertainty_ellipsoids import Believed, UncertaintyEllipsoids
from aerotwin_view.scene.wind_arrow import SetWind, WindArrow


class LiveLayers:
    """Rotors, uncertainty, links of a formation, and wind."""

    def __init__(self, page: Page, node: Node) -> None:
        layers = Layers(page)
        self._rotors = NearRotors(page, node)
        self._formation = HeardFormation(node)
        self._links = FormationLinks(page, layers)
        self._ellipsoids = UncertaintyEllipsoids(page, layers)
        self._arrow = WindArrow(page, layers)

    def look(
        self,
        graph: TopicGraph,
        robots: Mapping[str, HeardPose],
        hubs: Mapping[str, Sequence[RotorHub]],
    ) -> None:
        """Look for what came or left."""
        self._rotors.look(graph, robots, hubs)
        self._formation.look(graph)

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self._rotors.rest()
        self._formation.rest()

    def read(self) -> None:
        """Take over what came."""
        self._rotors.read()
        self._formation.read()

    def show(self, robots: Mapping[str, HeardPose], dt: float) -> None:
        """Show rotors and links at robots; `dt` passed [s], 0 while time stands still."""
        self._rotors.show(robots, dt)
        places = {name: pose.p for name, pose in robots.items()}
        self._links.show(self._formation.links(), places)

    def show_estimates(self, estimates: Sequence[PlacedEstimate]) -> None:
        """Show how sure estimates are."""
        believed: dict[str, list[Believed]] = defaultdict(list)
        for each in estimates:
            if each.covariance is not None:
                believed[each.kind].append((each.p_map, each.covariance))
        self._ellipsoids.show(believed)

    def show_wind(self, wind: SetWind | None, p_map: FloatArray | None) -> None:
        """Show the wind above a place (3,) [m]."""
        self._arrow.show(wind, p_map)
