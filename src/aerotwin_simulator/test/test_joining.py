# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles that join a running simulation, and leave it."""

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import replaced
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.fleet import plan_joining, plan_vehicles
from aerotwin_simulator.fleet_file import FleetVehicle
from aerotwin_simulator.recording import MemorySink

SECOND = 1_000_000_000


@pytest.fixture
def make(tmp_path, flat_world):
    """A simulation of the vehicles of rows of a fleet file, and the sink of its messages."""
    made = []

    def run(*rows, **changes):
        (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": list(rows)}))
        values = {
            "camera.is_rendered": False,
            "controller.kind": "ros2",
            "fleet.file": str(tmp_path / "fleet.yaml"),
            "duration_s": 2.0,
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values | changes)
        simulation = Simulation(parameters, flat_world, tmp_path, [sink])
        made.append(simulation)
        simulation.start()
        return simulation, sink

    yield run
    for simulation in made:
        simulation.close()


def fly(simulation):
    while simulation.outcome is None:
        simulation.advance()


A = {"name": "a"}
B = {"name": "b", "start_east_m": 3.0, "joins_at_s": 0.5, "leaves_at_s": 1.5}


def test_one_joins_and_leaves_at_its_times_and_is_there_between(make):
    simulation, sink = make(A, B)
    joined = []
    left = []
    simulation.call_on_change(joined.append, left.append)
    assert [vehicle.name for vehicle in simulation.vehicles] == ["a"]
    fly(simulation)
    assert [vehicle.name for vehicle in simulation.vehicles] == ["a"]
    for those in (simulation.left, joined, left):
        assert [vehicle.name for vehicle in those] == ["b"]
    for name, rate_hz in (("truth/odom", 100), ("imu/data_raw", 250), ("imu/mag", 100)):
        stamps = np.array([stamp for stamp, _ in sink.of(f"b/{name}")])
        assert 0.5 * SECOND < stamps[0] <= (0.5 + 1.0 / rate_hz) * SECOND
        assert stamps[-1] == pytest.approx(1.5 * SECOND, abs=SECOND / rate_hz)
        assert len(stamps) == pytest.approx(rate_hz, abs=1)
        assert len(sink.of(f"a/{name}")) == pytest.approx(2 * rate_hz, abs=1)
    assert len(sink.of("/tf_static")) == 3
    assert [stamp for stamp, _ in sink.of("b/robot_description")] == [0]
    assert simulation.outcome == "2 s are over"


def test_the_same_times_give_the_same_bytes_and_others_are_not_changed(make):
    flights = [make(A, B, **{"wind.turbulence_m_s": 4.0}) for _ in range(2)]
    for simulation, _ in flights:
        fly(simulation)
    assert flights[0][1].messages == flights[1][1].messages
    alone, sink = make(A, **{"wind.turbulence_m_s": 4.0})
    fly(alone)
    own = [row for row in sink.messages if row[0].startswith("a/")]
    assert own == [row for row in flights[0][1].messages if row[0].startswith("a/")]


def test_they_see_each_other_only_while_both_are_there(make):
    simulation, _ = make(A, B, **{"lidar.preset": "ideal"})
    around = simulation.vehicles[0]._surroundings
    counts = []
    while simulation.outcome is None:
        simulation.advance()
        counts.append(len(around.sight.objects_at(simulation.stamp_ns)))
    seen = [(k + 1) * 0.004 for k, n in enumerate(counts) if n]
    assert seen[0] == pytest.approx(0.504, abs=0.004)
    assert seen[-1] == pytest.approx(1.5, abs=0.004)
    assert max(counts) == 1


def test_one_that_would_join_inside_another_ends_the_run(make):
    simulation, _ = make(A, B | {"start_east_m": 0.2})
    fly(simulation)
    assert not simulation.is_success
    assert simulation.outcome.startswith("b: its start (0.2, 0.0) m in map touches a")
    assert [vehicle.name for vehicle in simulation.vehicles] == ["a"]


def test_an_autopilot_joins_and_knows_where_it_is(make):
    simulation, _ = make(
        A, B | {"controller": "embedded", "joins_at_s": 1.0, "leaves_at_s": 8.0}, duration_s=8.5
    )
    while simulation.stamp_ns < 7.9 * SECOND:
        simulation.advance()
    b = simulation.vehicles[1]
    assert b.backend.link.is_connected
    assert b.backend.estimate is not None
    assert b.backend.estimate.p_map == pytest.approx(b.p_map_body, abs=3.0)
    fly(simulation)
    assert simulation.outcome == "8.5 s are over" and not b.n_missed


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": "a", "start_east_m": 5.0}, "there is a vehicle 'a'"),
        ({"name": "c", "instance": 0}, "instance: a has 0"),
        ({"name": "c", "start_east_m": 99.0}, "lies beside the world"),
    ],
)
def test_who_cannot_join_is_refused_and_the_run_goes_on(make, entry, message):
    simulation, _ = make(A)
    simulation.advance()
    plan = plan_joining(simulation.parameters, FleetVehicle(**entry), {0})
    with pytest.raises(UserError, match=message):
        simulation.join(plan)
    simulation.advance()
    assert len(simulation.vehicles) == 1 and simulation.outcome is None


def test_who_cannot_leave_stays(make):
    simulation, _ = make(A)
    for name, message in (("a", "it is the last one"), ("x", "no vehicle 'x'; there are: a")):
        with pytest.raises(UserError, match=message):
            simulation.leave(name)
    plan = plan_joining(simulation.parameters, FleetVehicle(name="c", start_east_m=4.0), {0, 1})
    assert plan.parameters.fleet.instance == 2
    simulation.join(plan)
    simulation.leave("a")
    assert [vehicle.name for vehicle in simulation.vehicles] == ["c"]


def test_times_that_contradict_are_refused(make, tmp_path):
    with pytest.raises(ParameterError, match="leaves_at_s: expected more than joins_at_s 2"):
        FleetVehicle(name="b", joins_at_s=2.0, leaves_at_s=1.0)
    (tmp_path / "late.yaml").write_text(yaml.safe_dump({"vehicles": [A | {"joins_at_s": 1.0}]}))
    late = replaced(SimulatorParameters(), {"fleet.file": str(tmp_path / "late.yaml")})
    with pytest.raises(ParameterError, match="expected one vehicle from the start"):
        plan_vehicles(late)


def fly_until(simulation, seconds):
    while simulation.stamp_ns < seconds * SECOND:
        simulation.advance()


def test_a_join_that_fails_is_how_the_run_ends(make):
    simulation, _ = make(A, B | {"start_east_m": 99.0}, duration_s=0.504)
    fly(simulation)  # the time is over in the step in which it cannot join
    assert not simulation.is_success
    assert "fleet.yaml:" in simulation.outcome
    assert ": b: its start (99.0, 0.0) m in map lies beside" in simulation.outcome


def test_one_that_is_taken_out_by_hand_is_not_missed_at_its_time(make):
    simulation, _ = make(A, B)
    while len(simulation.vehicles) < 2:
        simulation.advance()
    simulation.leave("b")
    fly(simulation)
    assert simulation.outcome == "2 s are over"


def test_numbers_of_those_who_come_later_are_taken(make):
    simulation, _ = make(A, B)
    assert simulation.instances == {0, 1}
    guest = FleetVehicle(name="c", start_east_m=6.0)
    simulation.join(plan_joining(simulation.parameters, guest, simulation.instances))
    fly(simulation)
    assert simulation.outcome == "2 s are over"


def test_one_may_come_when_the_only_other_one_goes(make):
    simulation, _ = make(A | {"leaves_at_s": 1.0}, B | {"joins_at_s": 1.0, "leaves_at_s": None})
    fly(simulation)
    assert [vehicle.name for vehicle in simulation.vehicles] == ["b"]
    assert simulation.outcome == "2 s are over"


def test_a_failed_guest_is_seen_by_nobody(make):
    simulation, _ = make(A, **{"lidar.preset": "ideal"})
    plan = plan_joining(simulation.parameters, FleetVehicle(name="c", start_east_m=0.1), {0})
    with pytest.raises(UserError, match=r"touches vehicle|touches a"):
        simulation.join(plan)
    simulation.advance()
    assert not simulation.vehicles[0]._surroundings.sight.objects


def test_one_of_the_same_name_looks_like_itself(make):
    simulation, _ = make(A, B)
    fly_until(simulation, 1.6)
    guest = FleetVehicle(name="b", start_east_m=3.0, airframe="x500")
    simulation.join(plan_joining(simulation.parameters, guest, simulation.instances))
    simulation.advance()
    (seen,) = simulation.vehicles[0]._surroundings.sight.objects
    expected = np.linalg.norm(simulation.vehicles[1].shape.mesh.vertices_map, axis=1).max()
    (gone,) = simulation.left
    before = np.linalg.norm(gone.shape.mesh.vertices_map, axis=1).max()
    assert abs(seen.object.radius_m - expected) < abs(seen.object.radius_m - before)
    assert gone.has_left and not simulation.vehicles[1].has_left
