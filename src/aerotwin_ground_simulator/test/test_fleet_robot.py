# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ground robots in a simulation with other vehicles."""

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import deserialize
from aerotwin_core.parameters import replaced
from aerotwin_ground_dynamics import UnicycleParameters, VelocityCommand
from aerotwin_ground_simulator import stand_vehicle, start_pose
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.setpoint_stream import PoseTarget, VelocityTarget
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.recording import MemorySink

STEP_S = 0.01
HALF_LENGTH_M = 0.9  # at most, from base_link to its bumper
ROUNDING = 1e-12


@pytest.fixture
def make(tmp_path, slope):
    """A simulation of the vehicles of rows of a fleet file, and the sink of its messages."""
    made = []

    def run(*rows, **changes):
        (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": list(rows)}))
        values = {
            "camera.is_rendered": False,
            "step_s": STEP_S,
            "fleet.file": str(tmp_path / "fleet.yaml"),
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values | changes)
        simulation = Simulation(parameters, slope, tmp_path, [sink])
        made.append(simulation)
        simulation.start()
        return simulation, sink

    yield run
    for simulation in made:
        simulation.close()


def rover(name="rover", **changes):
    return {"name": name, "dynamics": "ground_robot"} | changes


def drive(simulation, seconds, *, v=0.0, omega=0.0, who=0):
    target = VelocityTarget(velocity=[v, 0.0, 0.0], yaw_rate=omega)
    for _ in range(round(seconds / simulation.parameters.step_s)):
        simulation.vehicles[who].backend.set_target(target)
        simulation.advance()


def test_it_drives_as_the_same_vehicle_alone(make, slope):
    simulation, _ = make(rover(), **{"ground_robot.latency_s": 0.0})
    robot = simulation.vehicles[0]
    drive(simulation, 2.0, v=1.0, omega=0.3)
    alone = stand_vehicle(
        WorldQueries(slope), UnicycleParameters(), seed=0, T_map_base=start_pose(slope)
    )
    for _ in range(200):
        alone.step(STEP_S, VelocityCommand(1.0, 0.3))
    assert robot.p_map_body == pytest.approx(alone.T_map_base[:3, 3], abs=ROUNDING)
    assert robot.truth[layout.ROTATION] == pytest.approx(
        alone.T_map_base[:3, :3].ravel(), abs=ROUNDING
    )
    assert 0.8 < np.linalg.norm(robot.truth[layout.VELOCITY]) < 1.2


def test_it_stops_when_commands_cease(make):
    simulation, _ = make(rover())
    robot = simulation.vehicles[0]
    drive(simulation, 2.0, v=1.0)
    assert robot.backend.phase == "driving"
    for _ in range(300):
        simulation.advance()
    assert robot.backend.phase == "standing"
    assert np.linalg.norm(robot.truth[layout.VELOCITY]) < 1e-3


def test_what_a_ground_robot_cannot_do_is_refused_in_words(make):
    simulation, _ = make(rover())
    driver = simulation.vehicles[0].backend
    for order in (lambda: driver.arm(True), lambda: driver.take_off(2.0), driver.land):
        with pytest.raises(UserError, match="it is a ground robot; drive it by cmd_vel"):
            order()
    with pytest.raises(ValueError, match="a velocity in its own axes"):
        driver.set_target(PoseTarget(p_map=[0.0, 0.0, 0.0]))
    with pytest.raises(ParameterError, match=r"put cameras into a file"):
        make(rover(camera=True))
    with pytest.raises(ParameterError, match="controller of its own"):
        make(rover(controller="px4"))


def test_two_that_meet_end_the_run_with_both_names(make):
    simulation, _ = make(rover("a"), rover("b", start_east_m=5.0))
    a, b = simulation.vehicles
    while simulation.outcome is None:
        drive(simulation, STEP_S, v=1.0)
    assert a.outcome.startswith("the vehicle crashed: it hit b at ")
    assert b.outcome.startswith("the vehicle crashed: it hit a at ")
    assert b.p_map_body[0] - a.p_map_body[0] < 2.0 * HALF_LENGTH_M


def test_it_publishes_odometry_in_its_namespace_and_others_see_it(make):
    simulation, sink = make(
        rover(),
        {"name": "drone", "controller": "ros2", "start_east_m": 4.0},
        **{"step_s": 0.004, "lidar.preset": "ideal"},
    )
    drive(simulation, 1.2, v=0.5)
    odom = [cdr for name, _, cdr in sink.messages if name == "rover/odom"]
    message = deserialize(odom[-1], "nav_msgs/msg/Odometry")
    assert (message.header.frame_id, message.child_frame_id) == ("rover/odom", "rover/base_link")
    assert 0.2 < message.pose.pose.position.x < 0.7
    names = {name for name, _, _ in sink.messages}
    expected = {"truth/odom", "robot_description", "autopilot/status", "lidar/points"}
    assert {f"rover/{name}" for name in expected} <= names
    seen = simulation._traffic.seen_by("drone", lambda _: ())(simulation.stamp_ns)
    assert [placed.object.name for placed in seen] == ["rover"]


def test_a_reset_takes_it_back_and_the_same_drive_gives_the_same_bytes(make):
    runs = []
    for _ in range(2):
        simulation, sink = make(rover(), rover("b", start_north_m=4.0, ground_vehicle="bicycle"))
        drive(simulation, 1.0, v=1.0, omega=0.2)
        drive(simulation, 1.0, v=1.0, omega=-0.2, who=1)
        runs.append(sink.messages)
    assert runs[0] == runs[1] and len(runs[0]) > 400
    starts = [vehicle.truth.copy() for vehicle in make(rover())[0].vehicles]
    simulation.reset()
    assert simulation.vehicles[0].p_map_body == pytest.approx(starts[0][layout.POSITION])
