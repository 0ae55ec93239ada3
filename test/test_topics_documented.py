# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reference/topics.md against a flight and a drive, both ways."""

import pytest

from support.documented_topics import (
    DOCS,
    documented_topics,
    page_of_parameters,
    page_of_topics,
    rows_below,
)
from support.graph_observer import observed_launch

pytest.importorskip("rclpy")
pytestmark = [pytest.mark.ros, pytest.mark.slow]

RATE_ERROR = 0.05  # some stamps are whole steps of 4 ms: 2 % of four intervals of 50 ms
N_INTERVALS = 4
OF_A_FLIGHT = {"The simulator publishes", "Beside the simulator in a flight"}
ON_IN_THE_FLIGHT = {
    "", "sensors.gnss", "an airframe with a battery", "camera.is_rendered", "lidar.preset",
    "radar.preset",
    "sensors.range_finder", "sensors.optical_flow", "sensors.airspeed", "camera.file",
    "camera.file, depth", "slam", "voxel_cloud_m",
}  # fmt: skip
CAMERAS = """
cameras:
  - {name: film, outputs: [mono], rate_hz: 10.0}
  - {name: ahead, preset: d435_depth, outputs: [depth], rate_hz: 10.0}
"""
SLAM = """
/**:
  ros__parameters:
    map_every_keyframes: 1
"""
OF_OTHERS = ("parameter", "type_description", "/_action/")


@pytest.fixture(scope="module")
def page():
    return page_of_topics()


class Comparison:
    """The rows of a page, those of them that a launch must show, and what was observed."""

    def __init__(self, page, headings, on, observer):
        self.rows = documented_topics(page, headings)
        assert self.rows
        self.expected = [row for row in self.rows if row.only_with in on]
        self.seen = observer

    def observed(self, row):
        """Yield (topic, what the words in capitals are) of the publishers that a row documents."""
        for name, node in self.seen.published:
            found = row.matched(name)
            if found is not None and node == row.node:
                yield name, found

    def is_complete(self):
        """Return whether all that is expected was seen, and what has a rate a few times."""
        return all(self._is_heard(row) for row in self.expected)

    def _is_heard(self, row):
        names = [name for name, _ in self.observed(row)]
        if not row.frame and row.rate_hz is None:
            return bool(names)
        counts = [len(stamps) for n in names for stamps in self.seen.stamps_s[n].values()]
        n_sources = sum(r.name == row.name and r.rate_hz is not None for r in self.expected)
        n_least = 1 if row.rate_hz is None else N_INTERVALS + 1
        return len(counts) >= max(n_sources, 1) and min(counts) >= n_least

    def check(self):
        """Compare both ways; every difference is named."""
        differences = [
            f"{row.name} by {row.node}: documented, not published"
            for row in self.expected
            if not [*self.observed(row)]
        ]
        for (name, node), (msgtype, qos) in sorted(self.seen.published.items()):
            rows = [r for r in self.rows if r.matched(name) is not None and r.node == node]
            if not rows:
                differences.append(f"{name} by {node}: published ({msgtype}), not documented")
            elif (msgtype, qos) not in [(r.msgtype, r.qos) for r in rows]:
                differences.append(f"{name} by {node}: {msgtype}, {qos}; documented: {rows}")
        for name in sorted({name for name, _ in self.seen.published}):
            rows = [r for r in self.expected if name in [n for n, _ in self.observed(r)]]
            differences += self._of_frames(name, rows) + self._of_rates(name, rows)
        assert not differences, "\n".join(differences) + "\n" + self.seen.log.read_text()

    def _of_frames(self, name, rows):
        documented = {row.frames(row.matched(name)) for row in rows}
        observed = self.seen.frames[name]
        if () in documented or observed == documented:
            return []
        return [f"{name}: frames {sorted(observed)}, documented {sorted(documented)}"]

    def _of_rates(self, name, rows):
        documented = {row.rate_hz for row in rows}
        observed = self.seen.rates_hz(name)
        if None in documented:
            return []
        is_same = all(
            any(abs(a - b) <= RATE_ERROR * b for a, b in pairs)
            for pairs in (
                *([(rate, d) for rate in observed] for d in documented),
                *([(rate, d) for d in documented] for rate in observed),
            )
        )
        return [] if is_same else [f"{name}: {observed} Hz, documented {sorted(documented)}"]


def services_of(observer, node):
    """Return the services of a node, with their types, without those of every node and action."""
    found = observer.node.get_service_names_and_types_by_node(node, "/")
    return {name: types[0] for name, types in found if not any(w in name for w in OF_OTHERS)}


def test_a_flight_shows_topics_services_and_parameters_of_the_documentation(
    page, coarse_world, tmp_path
):
    (tmp_path / "cameras.yaml").write_text(CAMERAS)
    (tmp_path / "slam.yaml").write_text(SLAM)
    words = [
        f"world:={coarse_world}", "lidar:=spinning_16", "radar:=ideal", "record:=none",
        "voxel_cloud_m:=2.0",
        "range_finder:=lidar_lite_v3", "optical_flow:=pmw3901", "airspeed:=default",
        f"cameras:={tmp_path / 'cameras.yaml'}", f"slam_parameters:={tmp_path / 'slam.yaml'}",
        f"runs_dir:={tmp_path}",
    ]  # fmt: skip
    with observed_launch("sitl_flight.launch.yaml", words, tmp_path) as (observer, process):
        comparison = Comparison(page, OF_A_FLIGHT, ON_IN_THE_FLIGHT, observer)
        observer.run(process, comparison.is_complete)
        services = services_of(observer, "simulator")
        interfaces = services_of(observer, "simulator_interfaces")
        parameters = observer.parameters_of("simulator")
    comparison.check()
    inputs = {f"/{cells[0].lstrip('/')}" for _, cells in rows_below(page, ["topic", "type"])}
    heard = {name for name, node in observer.subscribed if node == "simulator"}
    assert heard <= inputs
    columns = ["service", "type", "what it does"]
    rows = [cells for _, cells in rows_below(page, columns)]
    assert services == {f"/{n.replace('~', 'simulator')}": kind for n, kind, _ in rows}
    columns = ["parameter", "default", "unit", "range", "meaning"]
    rows = rows_below(page_of_parameters("aerotwin_bringup"), columns)
    assert parameters == {c[0] for heading, c in rows if heading == "SitlFlightParameters"}
    standard = (DOCS / "reference" / "simulation_interfaces.md").read_text("utf-8")
    columns = ["service, below ~/", "what it does here", "announced"]
    names = ", ".join(c[0] for _, c in rows_below(standard, columns) if "action" not in c[0])
    assert {*interfaces} == {f"/simulator/{name}" for name in names.split(", ")}


def test_a_ground_robot_shows_the_topics_of_the_documentation(page, coarse_world, tmp_path):
    words = [f"world:={coarse_world}", "radar:=ideal"]
    with observed_launch("ground_vehicle.launch.yaml", words, tmp_path) as (observer, process):
        on = {"", "publish_tf", "lidar.preset", "radar.preset"}
        comparison = Comparison(page, {"A ground robot publishes"}, on, observer)
        observer.run(process, comparison.is_complete)
    comparison.check()
