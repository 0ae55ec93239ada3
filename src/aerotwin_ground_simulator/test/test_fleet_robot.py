# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ground robots in a simulation with other vehicles."""

import re
from dataclasses import replace

import numpy as np
import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import deserialize, stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_ground_dynamics import UnicycleParameters, VelocityCommand
from aerotwin_ground_simulator import (
    GroundRobotParameters,
    carried_sensors,
    make_ground_simulation,
    stand_vehicle,
    start_pose,
)
from aerotwin_ground_simulator.flat_scan import FlatScanner
from aerotwin_ground_simulator.robot import unprocessed_lidar
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.setpoint_stream import PoseTarget, VelocityTarget
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import FlatScanParameters
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.recording import BagSink, MemorySink
from aerotwin_simulator.surroundings import AwaitedReadings
from aerotwin_worlds import Obstacle

STEP_S = 0.01
HALF_LENGTH_M = 0.9  # at most, from base_link to its bumper
HALF_BASE_M, HALF_TRACK_M = 0.45 + 0.15, 0.55 + 0.25 * 0.15
"""From base_link to the outside of its wheels, ahead and at its side."""
HALF_BODY_M = 0.45, 0.44
"""From base_link to the faces of the body between them."""
ROUNDING = 1e-12
CENTIMETRE = 0.01  # of a step, of the slip of the wheels
OF_A_BEAM_M = 0.03  # half a beam of 0.5 degrees, slanted on a wall 11.5 m away
NO_SLIP_YET = 0.02  # m/s: of 2 % at 1 m/s
LIDAR = {"lidar": "spinning_16"}
WHOLE_HEIGHT = {"ground_robot.scan.min_height_m": 0.1}


@pytest.fixture
def make(tmp_path, slope):
    """A simulation of the vehicles of rows of a fleet file, and the sink of its messages."""
    made = []

    def run(*rows, world=slope, **changes):
        (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": list(rows)}))
        values = {
            "camera.is_rendered": False,
            "step_s": STEP_S,
            "fleet.file": str(tmp_path / "fleet.yaml"),
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values | changes)
        simulation = Simulation(parameters, world, tmp_path, [sink])
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


def drive_to_end(simulation, most_s, **motion):
    """Drive until the run is over, at most so long."""
    for _ in range(round(most_s / simulation.parameters.step_s)):
        if simulation.outcome is None:
            drive(simulation, simulation.parameters.step_s, **motion)


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
    with pytest.raises(ParameterError, match=r"rover\.controller: expected none"):
        make(rover(controller="px4"))


def test_two_that_meet_end_the_run_with_both_names(make):
    simulation, _ = make(rover("a"), rover("b", start_east_m=5.0))
    a, b = simulation.vehicles
    drive_to_end(simulation, 5.0, v=1.0)
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


def scans(sink, name="rover"):
    """Return the messages of the scan of a robot, with the instant of each [ns]."""
    return [
        (stamp_ns, deserialize(cdr, "sensor_msgs/msg/LaserScan"))
        for stamp_ns, cdr in sink.of(f"{name}/scan")
    ]


def ahead(message, angle_deg=0.0):
    """Return the range of the beam in a direction from ahead [m]."""
    beams = message.angle_min + message.angle_increment * np.arange(len(message.ranges))
    return message.ranges[np.argmin(np.abs(beams - np.radians(angle_deg)))]


def test_its_scan_is_that_of_the_same_robot_alone(make, yard):
    """Driven in an arc, so that the motion within a turn is taken out of both."""
    parameters = GroundRobotParameters(latency_s=0.0)
    simulation, sink = make(rover(**LIDAR), world=yard, **{"ground_robot.latency_s": 0.0})
    drive(simulation, 1.0, v=1.0, omega=0.5)
    alone = make_ground_simulation(
        carried_sensors(parameters), parameters, WorldQueries(yard), start_pose(yard)
    )
    alone.set_command(VelocityCommand(1.0, 0.5))
    scanner = FlatScanner(
        unprocessed_lidar(parameters.lidar.preset), parameters.T_base_lidar, FlatScanParameters()
    )
    found = scans(sink)
    assert [stamp_ns for stamp_ns, _ in found] == [(k + 1) * 100_000_000 for k in range(10)]
    for end_ns, message in found:
        (turn,) = alone.advance_to(end_ns)
        cdr = scanner.scan(turn, alone.vehicle.wheel_odometry.twist)
        expected = deserialize(cdr, "sensor_msgs/msg/LaserScan")
        assert message.header.frame_id == "rover/base_link"
        assert stamp_ns(message) == stamp_ns(expected) == end_ns - 100_000_000
        is_met = np.isfinite(expected.ranges)
        assert is_met.sum() > 100
        assert np.array_equal(is_met, np.isfinite(message.ranges))
        np.testing.assert_allclose(message.ranges[is_met], expected.ranges[is_met], atol=1e-3)
        for field in ("angle_min", "angle_max", "scan_time", "range_min", "range_max"):
            assert getattr(message, field) == getattr(expected, field)


def test_its_scan_shows_walls_and_the_other_robots_where_they_are(make, yard):
    simulation, sink = make(
        rover(lidar="ideal"),
        rover("east", start_east_m=5.0),
        rover("north", start_north_m=4.0),
        world=yard,
        **WHOLE_HEIGHT,
    )
    drive(simulation, 0.3)
    _, message = scans(sink)[-1]
    assert ahead(message) == pytest.approx(5.0 - HALF_BODY_M[0], abs=CENTIMETRE)
    assert ahead(message, 90.0) == pytest.approx(4.0 - HALF_BODY_M[1], abs=CENTIMETRE)
    assert ahead(message, 30.0) == pytest.approx(10.0 / np.cos(np.pi / 6), abs=OF_A_BEAM_M)
    assert np.isinf(ahead(message, 180.0))
    assert {name for name, _, _ in sink.messages if name.endswith("scan")} == {"rover/scan"}


def test_a_deskewed_organised_lidar_has_the_same_scan(make, yard, tmp_path):
    preset = {"base": "ideal", "source": "made in a test"}
    seen = []
    for is_deskewed in (True, False):
        file = tmp_path / f"{is_deskewed}.yaml"
        own = {"is_deskewed": is_deskewed, "is_organised": is_deskewed}
        file.write_text(yaml.safe_dump(preset | {"parameters": own}))
        simulation, sink = make(rover(lidar=str(file)), world=yard)
        drive(simulation, 1.0, v=1.0, omega=0.5)
        seen.append(scans(sink)[-1][1].ranges)
    first, second = np.array(seen)[:, np.isfinite(seen).all(axis=0)]
    assert len(first) > 100
    assert np.median(np.abs(first - second)) < CENTIMETRE


def test_a_scan_is_recorded_with_the_inertial_topics_and_awaited_with_the_lidar(
    make, yard, tmp_path
):
    (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": [rover(**LIDAR)]}))
    parameters = replaced(
        SimulatorParameters(), {"step_s": STEP_S, "fleet.file": str(tmp_path / "fleet.yaml")}
    )
    bag = BagSink(tmp_path / "bag", record="inertial")
    waited = []
    awaited = {"rover": AwaitedReadings(waited.append, sensor="lidar")}
    simulation = Simulation(parameters, yard, tmp_path, [bag], awaited=awaited)
    try:
        simulation.start()
        topics = [topic.name for topic in simulation.vehicles[0].awaited_topics]
        drive(simulation, 0.5)
    finally:
        simulation.close()
        bag.close()
    assert topics == ["rover/lidar/points", "rover/scan"]
    assert waited == [k * 100_000_000 for k in range(5)]
    counts = BagReader(tmp_path / "bag").counts
    assert counts["/rover/scan"] == 5
    assert "/rover/lidar/points" not in counts


@pytest.mark.parametrize("v", [0.3, 1.0])
def test_a_wall_ends_its_run_as_a_crash_when_its_bumper_is_there(make, yard, v):
    simulation, _ = make(rover(start_east_m=8.0), world=yard)
    (robot,) = simulation.vehicles
    drive_to_end(simulation, 8.0, v=v)
    found = re.fullmatch(
        r"rover: the vehicle crashed: it hit wall at (\d\.\d) m/s, at \(10\.0, (\S+), 0\.[123]\) m",
        simulation.outcome,
    )
    assert found, simulation.outcome
    assert float(found[1]) == pytest.approx(v, abs=0.05 + NO_SLIP_YET)
    assert abs(float(found[2])) < HALF_TRACK_M + 0.05
    late = robot.p_map_body[0] + HALF_BASE_M - 10.0
    assert 0.0 <= late < 2.0 * CENTIMETRE
    assert robot.truth[layout.VELOCITY][0] == pytest.approx(v, abs=0.1)


def test_it_hits_with_its_side_too(make, yard):
    """Along the wall at a distance it passes; turned towards it, its corner is there first."""
    simulation, _ = make(rover(start_east_m=9.3, start_yaw_deg=90.0), world=yard)
    drive(simulation, 3.0, v=1.0)
    assert simulation.outcome is None
    drive_to_end(simulation, 4.0, omega=-0.5)
    assert "it hit wall at" in simulation.outcome
    x = simulation.vehicles[0].p_map_body[0]
    corner = np.hypot(HALF_BASE_M, HALF_TRACK_M)
    assert x < 10.0 < x + corner


@pytest.mark.parametrize(
    ("yaw_deg", "what"), [(90.0, None), (-90.0, "block")], ids=["kerb", "block"]
)
def test_what_is_lower_than_an_axle_is_driven_over(make, yard, yaw_deg, what):
    simulation, _ = make(
        rover(start_north_m=8.0 if what is None else -8.0, start_yaw_deg=yaw_deg), world=yard
    )
    drive_to_end(simulation, 5.0, v=1.0)
    (robot,) = simulation.vehicles
    if what is None:
        assert simulation.outcome is None
        assert robot.p_map_body[2] == pytest.approx(0.12, abs=1e-6)
    else:
        assert f"it hit {what} at" in simulation.outcome


@pytest.mark.parametrize(("slope_deg", "end_east_m"), [(15.0, 2.3), (30.0, -0.8)])
def test_neither_foot_nor_slope_nor_ridge_is_a_wall(make, slope, slope_deg, end_east_m):
    """Slanted over a roof that does not reach its belly, and half-way up a steeper one."""
    x = np.array([-40.0, -1.5, 0.0, 1.5, 40.0])
    z = np.array([0.0, 0.0, 1.5 * np.tan(np.radians(slope_deg)), 0.0, 0.0])
    sides = [np.column_stack([x, np.full(5, y), z]) for y in (-40.0, 40.0)]
    k = np.arange(4)
    triangles = [np.column_stack([k, k + 1, k + 6]), np.column_stack([k, k + 6, k + 5])]
    roof = replace(
        slope.meshes[0],
        vertices_map=np.vstack(sides),
        triangles=np.vstack(triangles).astype(np.int32),
        uv=np.zeros((10, 2), np.float32),
    )
    simulation, _ = make(
        rover(start_east_m=-2.3, start_yaw_deg=20.0), world=replace(slope, meshes=(roof,))
    )
    drive_to_end(simulation, 1.2 * (end_east_m + 2.3), v=1.0)
    assert simulation.outcome is None
    assert simulation.vehicles[0].p_map_body[0] > end_east_m - 0.8


def test_a_start_or_a_place_in_a_wall_is_refused(make, yard):
    with pytest.raises(
        ParameterError, match=r"rover: its start \(9.6, 0.0\) m in map touches wall"
    ):
        make(rover(start_east_m=9.6), world=yard)
    simulation, _ = make(rover(), world=yard)
    robot = simulation.vehicles[0]
    drive(simulation, 1.0, v=1.0)
    before, level = robot.truth.copy(), np.array([0.0, 0.0, 0.0, 1.0])
    still = np.zeros(3)
    assert robot.place(np.array([9.6, 0.0, 0.0]), level, still, still) == "it would touch wall"
    assert np.array_equal(robot.truth, before)
    assert robot.place(np.array([9.2, 0.0, 0.0]), level, still, still) == ""
    assert robot.p_map_body == pytest.approx([9.2, 0.0, 0.0])
    drive(simulation, 1.0, v=0.5)
    assert "it hit wall" in simulation.outcome


def test_a_person_in_its_way_is_hit(make, yard):
    simulation, _ = make(rover(), world=yard)
    simulation.add_obstacle(Obstacle(name="walker", waypoints_m=((3.0, 0.0),)), 0)
    drive_to_end(simulation, 5.0, v=1.0)
    assert "it hit walker at" in simulation.outcome
    assert 1.5 < simulation.vehicles[0].p_map_body[0] < 3.0 - HALF_BASE_M
