# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles and fleets in events: what appears, what signals say of it, what is published."""

from math import inf

import numpy as np
import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_simulator import CameraSettings, ControllerSettings, Simulation, SimulatorParameters
from aerotwin_simulator.events.plan import MOST_EVENTS, parse_events
from aerotwin_simulator.obstacles import MOST_OBSTACLES
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.signals import SIGNALS, signals_of
from aerotwin_temporal_logic import judge, parse
from support.obstacle_stage import BOX, box_file

__all__ = ["box_file"]

SECOND = 1_000_000_000
STEP_M = 0.004 * 5.0 + 1e-3  # way of the box in a step, and single precision


@pytest.fixture
def hover(tmp_path, flat_world, controllers):
    """Hover 2 m above the start with events; return the simulation and its bag."""

    def run(events, name="hover", **changes):
        folder = tmp_path / name
        folder.mkdir()
        default = SimulatorParameters(
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            camera=CameraSettings(is_rendered=False),
            duration_s=4.0,
        )
        parameters = replaced(default, changes)
        n = parameters.fleet.instances
        names = [f"uav{k}" for k in range(n)] if n > 1 else [""]
        plan = parse_events(yaml.safe_load(events), where="test", vehicles=names)
        bag = BagSink(folder / "bag")
        try:
            simulation = Simulation(parameters, flat_world, folder, [bag], events=plan)
            try:
                simulation.start()
                while simulation.outcome is None:
                    simulation.advance()
            finally:
                simulation.close()
        finally:
            bag.close()
        return simulation, BagReader(folder / "bag")

    return run


def test_an_obstacle_comes_when_its_event_happens_and_its_distance_is_a_signal(hover, box_file):
    simulation, _ = hover(
        f"""
        crossing:
          when: height_m > 1
          do: obstacle
          parameters: {{kind: {box_file}, waypoints_m: [[-20, 6], [20, 6]], speed_m_s: 5.0}}
        """
    )
    trace = simulation.events.trace()
    came_s, v = trace.events["crossing"], trace.values
    there = trace.times_s >= came_s
    assert np.isnan(v["obstacle_distance_m"][~there]).all()
    # The box goes along x with its long side ahead; the vehicle is beside, above and behind it.
    ahead = np.abs(-20.0 + 5.0 * (trace.times_s - came_s) - v["east_m"]) - BOX[0] / 2
    beside = np.abs(6.0 - v["north_m"]) - BOX[1] / 2
    above = v["up_m"] - BOX[2]
    parts = np.maximum([ahead, beside, above], 0.0)
    expected = np.sqrt((parts**2).sum(axis=0))
    found = v["obstacle_distance_m"]
    np.testing.assert_allclose(found[there], expected[there], atol=STEP_M)
    assert np.ptp(found[there]) > 5.0


def test_a_distance_to_an_obstacle_that_never_came_speaks_for_nothing(hover):
    trace = hover("never: {when: height_m > 50, do: mark}")[0].events.trace()
    for text in ("always obstacle_distance_m > 1", "eventually obstacle_distance_m > 1",
                 "never obstacle_distance_m < 1"):  # fmt: skip
        assert not judge(parse(text, SIGNALS), trace).is_met


def test_a_vehicle_hits_the_obstacle_of_an_event(hover, box_file):
    simulation, _ = hover(
        f"""
        crate: {{at_s: 1.0, do: obstacle, parameters: {{kind: {box_file}, name: red_crate,
                waypoints_m: [[-20, 0], [20, 0]], speed_m_s: 8.0}}}}
        """,
        duration_s=8.0,
    )
    assert "red_crate" in simulation.outcome
    trace = simulation.events.trace()
    assert judge(parse("crashed within 5 s of crate", SIGNALS, ["crate"]), trace).is_met


def test_events_are_published_and_recorded_with_what_they_do(hover):
    _, bag = hover(
        """
        first: {at_s: 0.5, do: mark}
        wind: {when: height_m > 1, do: gust, parameters: {east_m_s: 4.0}, ramp_s: 0.5}
        """
    )
    said = {message.status[0].name: message for _, _, message in bag.messages(["/events"])}
    assert list(said) == ["first", "wind"]
    assert stamp_ns(said["first"]) == SECOND // 2
    assert said["first"].status[0].message == "mark"
    wind = said["wind"].status[0]
    values = {pair.key: pair.value for pair in wind.values}
    assert (wind.message, values["east_m_s"], values["ramp_s"]) == ("gust", "4.0", "0.5")
    assert values["duration_s"] == str(inf)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("{waypoints_m: [[0, 5], [500, 5]]}", "leaves the world|beside|world"),
        ("{kind: dragon, waypoints_m: [[0, 5], [5, 5]]}", "dragon"),
    ],
)
def test_an_obstacle_that_cannot_come_is_refused_before_the_flight(hover, parameters, words):
    event = f"walk: {{at_s: 1, do: obstacle, parameters: {parameters}}}"
    with pytest.raises(ParameterError, match=f"test: events.walk: .*({words})"):
        hover(event)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ("a: {at_s: 1, do: obstacle}", "'waypoints_m' is missing"),
        ("a: {at_s: 1, do: obstacle, parameters: {waypoints_m: [[0, 0]], sped_m_s: 1}}",
         "did you mean 'speed_m_s'"),
        ("a: {at_s: 1, do: obstacle, parameters: {waypoints_m: [[0, 0]], speed_m_s: 99}}",
         "expected at most 50"),
        ("a: {at_s: 1, do: obstacle, duration_s: 3, parameters: {waypoints_m: [[0, 0]]}}",
         "done at once"),
        ("A: {at_s: 1, do: obstacle, parameters: {waypoints_m: [[0, 0]]}}", "a letter first"),
        ("a: {at_s: 1, do: obstacle, parameters: {waypoints_m: [[0, 0]]}}\n"
         "b: {at_s: 1, do: obstacle, parameters: {waypoints_m: [[0, 0]], name: a}}",
         "a has an obstacle of the name a"),
    ],
)  # fmt: skip
def test_a_wrong_obstacle_is_refused_when_it_is_read(events, words):
    with pytest.raises(UserError, match=words):
        parse_events(yaml.safe_load(events), where="my.yaml")


def test_there_are_no_more_events_than_obstacles():
    assert MOST_EVENTS <= MOST_OBSTACLES


class TestFleet:
    """Three vehicles close together."""

    EVENTS = """
        up: {when: uav2.height_m > 1, do: mark}
        own: {when: east_m > 2, do: mark, vehicle: uav2}
        first: {when: east_m > 2, do: mark}
        near: {when: "uav1.distance_to(0, 3) < 0.5", do: mark}
        """

    @pytest.fixture
    def trace(self, hover):
        return hover(self.EVENTS, **{"fleet.instances": 3})[0].events.trace()

    def test_each_vehicle_has_its_signals_and_the_first_one_those_without_a_name(self, trace):
        assert set(trace.values) == set(signals_of(["uav0", "uav1", "uav2"]))
        for name in SIGNALS:
            np.testing.assert_array_equal(trace.values[name], trace.values[f"uav0.{name}"])
        starts = [
            [trace.values[f"uav{k}.{axis}_m"][0] for axis in ("east", "north")] for k in range(3)
        ]
        np.testing.assert_allclose(starts, [[0, 0], [0, 3], [3, 0]], atol=1e-6)

    def test_the_separation_is_the_smallest_distance_of_two(self, trace):
        v = trace.values
        p = np.stack([[v[f"uav{k}.{axis}_m"] for axis in ("east", "north", "up")]
                      for k in range(3)])  # fmt: skip
        distances = [np.linalg.norm(p[a] - p[b], axis=0) for a, b in ((0, 1), (0, 2), (1, 2))]
        np.testing.assert_allclose(v["separation_m"], np.min(distances, axis=0))

    def test_conditions_name_vehicles_and_an_event_means_its_own(self, trace):
        assert trace.events["up"] is not None
        assert trace.events["own"] == 0.0
        assert trace.events["first"] is None
        assert trace.events["near"] == 0.0


def test_one_vehicle_has_no_separation_and_no_name():
    assert signals_of([""]) == SIGNALS == signals_of([])
    with pytest.raises(UserError, match="no signal or event 'separation_m'"):
        parse_events({"a": {"when": "separation_m < 2", "do": "mark"}}, where="x", vehicles=[""])
    with pytest.raises(UserError, match=r"x: events\.a\.vehicle: no 'uav9'; the vehicles are uav0"):
        parse_events(
            {"a": {"at_s": 1, "do": "mark", "vehicle": "uav9"}}, where="x", vehicles=["uav0"]
        )
