# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles that a Python class or a topic flies."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_simulator import (
    ControllerSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.controllers.backend import OFF, SPEEDS
from aerotwin_simulator.preflight import check_before_flight

HEIGHT_M = 0.15  # when the climber calls itself finished, and a step more
IRIS_HOVER_RAD_S = 806.8


def test_a_class_flies_the_vehicle_until_it_says_that_it_is_done(controllers, fly):
    simulation, bag = fly(controller=ControllerSettings(kind=f"python:{controllers}:Climber"))
    vehicle = simulation.vehicles[0]
    assert simulation.outcome == "the mission is flown"
    assert vehicle.body.state.p_map_body[2] == pytest.approx(2.0, abs=HEIGHT_M)
    stamps, dts, _ = zip(*vehicle.backend.controller.samples, strict=True)
    assert stamps[:3] == (4_000_000, 8_000_000, 12_000_000)
    assert set(dts) == {0.004}
    assert bag.counts["/rotors"] > 100


def test_options_and_shorter_steps_reach_the_class(controllers, fly, tmp_path):
    (tmp_path / "options.yaml").write_text("height_m: 1.0\n")
    simulation, bag = fly(
        controller=ControllerSettings(
            kind=f"python:{controllers}:Climber", options=str(tmp_path / "options.yaml")
        ),
        step_s=0.002,
    )
    vehicle = simulation.vehicles[0]
    assert vehicle.body.state.p_map_body[2] == pytest.approx(1.0, abs=HEIGHT_M)
    samples = vehicle.backend.controller.samples
    assert [stamp for stamp, _, _ in samples[:2]] == [2_000_000, 4_000_000]
    assert [is_none for _, _, is_none in samples[:4]] == [True, False, True, False]
    assert bag.counts["/imu/data_raw"] == pytest.approx(250.0 * simulation.stamp_ns * 1e-9, abs=1.0)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "Raises",
            r"Raises at t = 0.004 s: step failed: RuntimeError: no idea \(.*own_controllers.py",
        ),
        ("NotFinite", "expected 4 finite rotor speeds .* found .nan"),
        ("TooFew", "expected 4 finite rotor speeds"),
        ("GivesUp", "GivesUp gave up: the wind is too strong"),
        ("Faller", "the vehicle crashed: it hit the ground"),
    ],
)
def test_what_goes_wrong_in_a_class_ends_the_flight_with_a_reason(controllers, fly, name, reason):
    simulation, _ = fly(controller=ControllerSettings(kind=f"python:{controllers}:{name}"))
    assert not simulation.is_success
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(simulation.outcome)


@pytest.mark.parametrize(
    ("controller", "reason"),
    [
        ("python:no_such_module:C", "no module 'no_such_module' found"),
        ("python:own_controllers:Climbr", "expected a class Climbr with a method step .* Climber"),
        ("python:own_controllers:NOT_A_CONTROLLER", "expected a class NOT_A_CONTROLLER"),
    ],
)
def test_a_class_that_is_not_there_is_reported_before_anything_begins(
    controllers, controller, reason
):
    with pytest.raises(UserError, match=reason):
        check_before_flight(SimulatorParameters(controller=ControllerSettings(kind=controller)))


def test_a_class_that_cannot_be_made_is_reported(controllers, fly):
    with pytest.raises(UserError, match="Broken cannot be made: KeyError: 'gain'"):
        fly(controller=ControllerSettings(kind=f"python:{controllers}:Broken"))


def test_options_that_are_no_mapping_are_reported(controllers, tmp_path):
    (tmp_path / "options.yaml").write_text("[1, 2]")
    parameters = SimulatorParameters(
        controller=ControllerSettings(
            kind=f"python:{controllers}:Climber", options=str(tmp_path / "options.yaml")
        )
    )
    with pytest.raises(ParameterError, match="expected names with values, found list"):
        check_before_flight(parameters)


@pytest.mark.parametrize("controller", ["autopilot", "python:", "python:module", "python:a:"])
def test_a_controller_that_is_none_of_the_four_is_reported(controller):
    with pytest.raises(ParameterError, match=r"expected embedded, px4, ardupilot, serial"):
        SimulatorParameters(controller=ControllerSettings(kind=controller))


def test_autopilots_keep_to_their_step():
    with pytest.raises(ParameterError, match=r"step_s: expected 0.004 with controller embedded"):
        SimulatorParameters(step_s=0.002)


class Commander:
    """Answers the present step of a simulation, as a node on command/rotors would."""

    def __init__(self, speed_rad_s: float) -> None:
        self.speed_rad_s, self.simulation, self.is_there = speed_rad_s, None, True

    def spin(self, _: float) -> None:
        if self.is_there and self.simulation is not None:
            backend = self.simulation.vehicles[0].backend
            backend.on_rotor_command(self.simulation.stamp_ns, [self.speed_rad_s] * 4)


def _topic_flight(flat_world, commander, folder: Path, **parameters) -> Simulation:
    own = {"camera.is_rendered": False, "controller.kind": "ros2", **parameters}
    values = replaced(SimulatorParameters(), own)
    simulation = Simulation(values, flat_world, folder, [], spin=commander.spin)
    commander.simulation = simulation
    return simulation


def test_a_step_waits_for_the_command_with_its_stamp(flat_world, tmp_path):
    commander = Commander(IRIS_HOVER_RAD_S * 1.1)
    simulation = _topic_flight(
        flat_world, commander, tmp_path, **{"controller.command_wait_s": 5.0}
    )
    simulation.start()
    for _ in range(500):
        simulation.advance()
    backend = simulation.vehicles[0].backend
    assert (backend.n_received, backend.n_missed) == (500, 0)
    assert simulation.vehicles[0].body.state.p_map_body[2] > 1.0
    simulation.close()


def test_three_steps_without_a_command_end_the_flight_and_are_counted(flat_world, tmp_path):
    commander = Commander(0.0)
    simulation = _topic_flight(
        flat_world, commander, tmp_path, **{"controller.command_wait_s": 0.005}
    )
    simulation.start()
    simulation.advance()
    commander.is_there = False
    while simulation.outcome is None:
        simulation.advance()
    assert "3 steps in a row without a command" in simulation.outcome
    assert simulation.n_missed == 3
    assert not simulation.is_repeatable


def test_without_a_limit_the_last_command_holds(flat_world, tmp_path):
    commander = Commander(0.0)
    simulation = _topic_flight(flat_world, commander, tmp_path)
    backend = simulation.vehicles[0].backend
    simulation.advance()
    assert backend.motors.kind == OFF
    backend.on_rotor_command(simulation.stamp_ns, [900.0] * 4)
    for _ in range(200):
        simulation.advance()
    assert backend.motors.kind == SPEEDS
    assert simulation.vehicles[0].body.rotor_speed_rad_s == pytest.approx(900.0, abs=1.0)


@pytest.mark.parametrize("speeds", [[1.0] * 3, [np.nan] * 4, [-1.0] * 4, []])
def test_commands_that_are_no_rotor_speeds_are_counted_and_passed_over(
    flat_world, tmp_path, speeds
):
    simulation = _topic_flight(flat_world, Commander(0.0), tmp_path)
    backend = simulation.vehicles[0].backend
    backend.on_rotor_command(4_000_000, speeds)
    assert (backend.n_received, backend.n_refused) == (0, 1)
    assert backend.motors.kind == OFF


def test_a_topic_without_a_publisher_is_reported(flat_world, tmp_path):
    simulation = _topic_flight(
        flat_world,
        Commander(0.0),
        tmp_path,
        **{"controller.command_wait_s": 0.1, "autopilot.wait_s": 0.1},
    )
    simulation.vehicles[0].ask_for_commander(lambda: False)
    with pytest.raises(AutopilotLost, match=r"no node published on command/rotors within 0\.1 s"):
        simulation.start()


def test_the_iris_hovers_where_the_tests_say():
    from aerotwin_multirotor_dynamics import hover_speed_rad_s

    assert hover_speed_rad_s(load_airframe("iris")) == pytest.approx(IRIS_HOVER_RAD_S, abs=0.1)
