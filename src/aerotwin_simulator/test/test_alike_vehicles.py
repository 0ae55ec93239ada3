# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles that are computed together against the same ones by themselves: the same bytes."""

import numpy as np
import pytest
import yaml

from aerotwin_core.parameters import replaced
from aerotwin_faults import FaultTiming, activated, load_fault
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import Simulation, SimulatorParameters, present_vehicles
from aerotwin_simulator.alike_vehicles import AlikeVehicles
from aerotwin_simulator.recording import MemorySink

SECOND = 1_000_000_000
NAMES = ("a", "b", "another_one")
TROUBLES = {  # of one vehicle each, from 0.5 s on
    "a": [("imu_bias", {}), ("gnss_loss", {})],
    "b": [("imu_stuck", {}), ("barometer_loss", {}), ("magnetometer_loss", {})],
}


@pytest.fixture
def make(tmp_path, flat_world, controllers):
    made = []

    def run(rows, **changes):
        (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": rows}))
        values = {
            "camera.is_rendered": False,
            "controller.kind": f"python:{controllers}:Hoverer",
            "airframe": "x500",
            "fleet.file": str(tmp_path / "fleet.yaml"),
            "wind.turbulence_m_s": 4.0,
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


def rows(*names):
    return [{"name": name, "start_east_m": 5.0 * k} for k, name in enumerate(names)]


def by_vehicle(sink):
    found = {}
    for message in sink.messages:
        found.setdefault(message[0].partition("/")[0], []).append(message)
    return found


@pytest.fixture
def alone(monkeypatch):
    """Let every vehicle be stepped by itself when called."""

    def switch():
        monkeypatch.setattr(present_vehicles, "computed_together", lambda stepped, *_: stepped)

    return switch


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"truth_rate_hz": 30.0, "sensors.imu": "ideal", "sensors.gnss": "none"},
        {"airframe": "iris", "sensors.barometer": "px4_gazebo_classic", "wind.turbulence_m_s": 0.0},
    ],
)
def test_together_and_alone_give_the_same_bytes(make, alone, changes):
    found = []
    for is_alone in (False, True):
        if is_alone:
            alone()
        simulation, sink = make(rows(*NAMES), **changes)
        is_together = isinstance(simulation._present.stepped[0], AlikeVehicles)
        assert is_together is not is_alone
        for vehicle in simulation.vehicles:
            for k, (kind, values) in enumerate(TROUBLES.get(vehicle.name, ())):
                if changes.get("sensors.gnss") == "none" and kind == "gnss_loss":
                    continue
                timing = FaultTiming(begin_ns=SECOND // 2, duration_s=0.3)
                fault = load_fault(kind, values, where="a test")
                vehicle.faults.add(activated(f"{k}", fault, timing, np.random.default_rng(k)))
        for _ in range(300):
            simulation.advance()
        assert simulation.outcome is None
        found.append(by_vehicle(sink))
    assert found[0].keys() == found[1].keys()
    for name in NAMES:
        assert len(found[0][name]) > 500
        assert found[0][name] == found[1][name]


def test_those_of_other_airframes_are_other_groups(make):
    several = [*rows("a", "b", "c"), {"name": "d", "start_east_m": 20.0, "airframe": "firefly"}]
    simulation, _ = make(several)
    groups = [[robot.name for robot in each.robots] for each in simulation._present.stepped]
    assert groups == [["a", "b", "c"], ["d"]]


def test_one_that_leaves_what_can_be_simulated_ends_the_flight_by_its_name(make):
    simulation, sink = make(rows(*NAMES))
    simulation.advance()
    simulation.vehicles[1].mover.state[layout.VELOCITY] = np.nan
    simulation.advance()
    assert simulation.outcome.startswith("b: it left what can be simulated")
    stamps = {name: sink.of(f"{name}/imu/data_raw")[-1][0] for name in NAMES}
    assert stamps["a"] == 8_000_000
