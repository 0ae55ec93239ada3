# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot as a node, started as a user starts it; and what holds it to the wall clock."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.frames import quaternion_from_yaw, transform_from_pose
from aerotwin_core.messages import deserialize, serialize, stamp_ns, twist_stamped_message
from aerotwin_core.point_clouds import scan_points
from aerotwin_ground_dynamics import VelocityCommand
from aerotwin_ground_simulator import NO_FAULTS
from aerotwin_ground_simulator.driven_path import STEP_M, DrivenPath
from aerotwin_ground_simulator.driving import PacedRobot, robot_in_world
from aerotwin_ground_simulator.robot import GroundRobotParameters, start_pose
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import polar_scan
from aerotwin_worlds import load_world
from aerotwin_worlds.moved_start import StartSettings
from support.launch_listening import LIMIT_S, listen_to_launch
from support.services import ONCE, answer_of

ROOT = Path(__file__).resolve().parents[1]
NODE = [sys.executable, "-m", "aerotwin_ground_simulator.ros.ground_simulator_node", "--ros-args"]
SKID_STEERED = ROOT / "config" / "ground_vehicle" / "skid_steered.yaml"
FLOAT32_M, FLOAT32_S = 1e-5, 1e-7  # of 69 m and of a turn
CONTACT_M, TILT = 0.2, 0.05  # of wheels that stand on uneven ground
TURN_LEFT = serialize(twist_stamped_message(0, "base_link", (0.5, 0, 0), (0, 0, 0.2)))


class WallClock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_paced_robot_keeps_up_skips_what_is_too_late_and_stands_without_commands(
    coarse_world,
):
    clock = WallClock()
    simulation = robot_in_world(GroundRobotParameters(), str(coarse_world), StartSettings())
    robot = PacedRobot(simulation, speed=2.0, command_timeout_s=0.3, clock=clock)
    assert robot.n_steps_due() == 0
    clock.now += 0.0251
    assert robot.n_steps_due() == 5
    assert robot.n_steps_due() == 0
    clock.now += 1.0
    assert robot.n_steps_due() == 10
    assert robot.counters["n_steps_skipped"] == 190
    robot.set_command(VelocityCommand(1.0, 0.0))
    speeds = []
    for _ in range(120):
        robot.step()
        speeds.append(robot.vehicle.twist.v_m_s)
    assert max(speeds) > 0.1
    assert speeds[-1] < 0.01
    assert robot.counters["n_timeouts"] == 1
    assert robot.counters["n_scans"] == 12


def test_a_robot_starts_beside_the_start_of_its_world_on_the_ground_there(coarse_world):
    beside = StartSettings(east_m=3.0, north_m=-2.0, turn_deg=90.0)
    simulation = robot_in_world(GroundRobotParameters(), str(coarse_world), beside)
    T_map_base, world = simulation.vehicle.T_map_base, load_world(str(coarse_world))
    expected = np.add(world.start_p_map[:2], (3.0, -2.0))
    assert T_map_base[:2, 3] == pytest.approx(expected)
    height = float(WorldQueries(world).height(*expected))
    assert T_map_base[2, 3] == pytest.approx(height, abs=CONTACT_M)
    ahead = [math.cos(world.start_yaw + math.pi / 2), math.sin(world.start_yaw + math.pi / 2)]
    assert T_map_base[:2, 0] == pytest.approx(ahead, abs=TILT)
    with pytest.raises(UserError, match=r"lies beside the world .*start_east_m"):
        robot_in_world(GroundRobotParameters(), str(coarse_world), StartSettings(east_m=1e5))


def test_a_paced_robot_is_paused_and_goes_back_to_its_start(coarse_world):
    clock = WallClock()
    simulation = robot_in_world(GroundRobotParameters(), str(coarse_world), StartSettings())
    robot = PacedRobot(simulation, speed=1.0, command_timeout_s=10.0, clock=clock)
    T_start = robot.vehicle.T_map_base
    robot.set_command(VelocityCommand(1.0, 0.3))
    for _ in range(200):
        robot.step()
    before = robot.vehicle.T_map_base
    assert np.linalg.norm((before - T_start)[:3, 3]) > 1.0
    robot.pause(True)
    clock.now += 5.0
    assert robot.n_steps_due() == 0
    robot.return_to_start()
    assert robot.vehicle.T_map_base == pytest.approx(T_start)
    robot.pause(False)
    assert robot.n_steps_due() == 0  # time stood still
    clock.now += 0.0201
    assert robot.n_steps_due() == 2
    for _ in range(50):
        robot.step()
    assert robot.vehicle.T_map_base == pytest.approx(T_start)  # the old command is gone
    assert robot.stamp_ns == 250 * 10_000_000


@pytest.mark.ros
def test_a_robot_is_paused_stepped_and_reset_by_services(coarse_world, tmp_path):
    import rclpy
    from std_srvs.srv import SetBool, Trigger

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("client", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def ask(kind, name, request):
        client = node.create_client(kind, f"ground_simulator/{name}")
        return answer_of(client, request, lambda: executor.spin_once(0.05), ask_again_s=ONCE)

    tokens = [*NODE, "-p", f"world:={coarse_world}", "-p", "lidar.preset:=none"]
    tokens += ["-p", f"path_file:={tmp_path / 'drive.tum'}"]
    with subprocess.Popen(tokens) as process:
        try:
            refused = ask(Trigger, "step", Trigger.Request())
            assert (refused.success, refused.message) == (
                False,
                "expected a paused run, found it running; pause it",
            )
            assert ask(SetBool, "pause", SetBool.Request(data=True)).message == "paused"
            assert ask(Trigger, "step", Trigger.Request()).message == "one step of 10 ms"
            refused = ask(Trigger, "reset", Trigger.Request())
            assert not refused.success and "in which the path would jump" in refused.message
        finally:
            process.terminate()
    node.destroy_node()
    rclpy.shutdown(context=context)


def driven(launch, tokens, types, command_type, command):
    """Launch a robot and command it until it ends; return what was heard of the topics."""
    heard = listen_to_launch(
        launch, tokens, types, latched=["/tf_static", "robot_description"],
        command=("cmd_vel", command_type, command),
    )  # fmt: skip
    assert heard.returncode == 0, heard.output
    return heard.messages


@pytest.mark.ros
def test_the_launched_robot_drives_as_cmd_vel_says_and_shows_its_topics(coarse_world):
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import LaserScan, PointCloud2
    from std_msgs.msg import String
    from tf2_msgs.msg import TFMessage

    types = {
        "truth/odom": Odometry, "odom": Odometry, "lidar/points": PointCloud2, "/clock": Clock,
        "/tf": TFMessage, "/tf_static": TFMessage, "scan": LaserScan, "robot_description": String,
    }  # fmt: skip
    tokens = [f"world:={coarse_world}", "seed:=3", "duration_s:=2.5"]
    heard = driven("ground_vehicle.launch.yaml", tokens, types, TwistStamped, TURN_LEFT)
    assert all(heard.values()), {name: len(found) for name, found in heard.items()}
    first, last = (deserialize(heard["truth/odom"][k], "nav_msgs/msg/Odometry") for k in (0, -1))
    moved = last.pose.pose.position.y - first.pose.pose.position.y
    assert 0.1 < moved < 5.0  # it headed north
    assert (last.header.frame_id, last.child_frame_id) == ("map", "base_link_truth")
    wheels = deserialize(heard["odom"][-1], "nav_msgs/msg/Odometry")
    assert wheels.pose.pose.position.x > 0.1
    assert wheels.twist.twist.angular.z == pytest.approx(0.2, abs=0.02)
    cloud = deserialize(heard["lidar/points"][-1], "sensor_msgs/msg/PointCloud2")
    assert (cloud.header.frame_id, cloud.height, cloud.point_step) == ("lidar", 1, 24)
    assert cloud.width > 1000
    scan = deserialize(heard["scan"][-1], "sensor_msgs/msg/LaserScan")
    assert (scan.header.frame_id, len(scan.ranges)) == ("base_link", 720)
    assert scan.range_min == pytest.approx(0.4)
    (edge,) = deserialize(heard["/tf_static"][0], "tf2_msgs/msg/TFMessage").transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("base_link", "lidar")
    assert edge.transform.translation.z == 1.0
    (edge,) = deserialize(heard["/tf"][-1], "tf2_msgs/msg/TFMessage").transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("odom", "base_link")


@pytest.mark.ros
def test_the_radar_of_a_launched_robot_is_that_of_the_closed_loop(coarse_world):
    """Of a robot at rest, whose poses are the same on any machine."""
    from sensor_msgs.msg import Image, LaserScan, PointCloud2
    from tf2_msgs.msg import TFMessage

    from aerotwin_scenarios.teach_repeat import RepeatStudy
    from aerotwin_scenarios.teach_repeat.closed_loop import RadarSensor

    heard = listen_to_launch(
        "ground_vehicle.launch.yaml",
        [f"world:={coarse_world}", "seed:=3", "lidar:=none", "radar:=navtech_cir304"],
        {
            "radar/polar": Image, "radar/points": PointCloud2, "scan": LaserScan,
            "/tf_static": TFMessage,
        },
        latched=["/tf_static"],
        is_enough=lambda said: min(len(said["radar/polar"]), len(said["radar/points"])) >= 3
        and bool(said["/tf_static"]),
    )  # fmt: skip
    assert not heard.messages["scan"], "without a lidar there is no scan"
    (edge,) = deserialize(heard.messages["/tf_static"][0], "tf2_msgs/msg/TFMessage").transforms
    assert (edge.child_frame_id, edge.transform.translation.z) == ("radar", 1.0)
    images = [deserialize(m, "sensor_msgs/msg/Image") for m in heard.messages["radar/polar"]]
    clouds = [deserialize(m, "sensor_msgs/msg/PointCloud2") for m in heard.messages["radar/points"]]
    assert np.diff([stamp_ns(image) for image in images]).tolist() == [250_000_000] * (
        len(images) - 1
    )

    world = load_world(str(coarse_world))
    robot = GroundRobotParameters(vehicle=str(SKID_STEERED), seed=3)
    sensor = RadarSensor(RepeatStudy(robot=robot, radar="navtech_cir304"))
    simulation = sensor.simulate(robot, WorldQueries(world), start_pose(world), NO_FAULTS)
    turns = simulation.advance_to(stamp_ns(images[-1]) + sensor.period_ns)
    expected = {turn.stamp_ns: turn for turn in turns}
    for image in images:
        assert (image.header.frame_id, image.height, image.width) == ("radar", 400, 11 + 1600)
        assert polar_scan(image).levels.tobytes() == expected[stamp_ns(image)].levels.tobytes()
    for cloud in clouds:
        points, times_s = sensor.measured(expected[stamp_ns(cloud)])
        found = scan_points(cloud)
        np.testing.assert_allclose(found.points + np.array([0.0, 0.0, 1.0]), points, atol=FLOAT32_M)
        np.testing.assert_allclose(found.times_s, times_s, atol=FLOAT32_S)


@pytest.mark.ros
def test_a_robot_that_expects_stamped_commands_obeys_plain_ones_without_an_argument(coarse_world):
    """Nav2's velocity smoother sends Twist or TwistStamped, by its release."""
    from geometry_msgs.msg import Twist, Vector3
    from nav_msgs.msg import Odometry

    def has_moved(messages):
        odom = messages["odom"]
        return odom and deserialize(odom[-1], "nav_msgs/msg/Odometry").pose.pose.position.x > 0.2

    heard = listen_to_launch(
        "ground_vehicle.launch.yaml", [f"world:={coarse_world}"], {"odom": Odometry},
        is_enough=has_moved, command=("cmd_vel", Twist, Twist(linear=Vector3(x=1.0))),
    )  # fmt: skip
    assert has_moved(heard.messages), heard.output


@pytest.mark.ros
def test_a_virtual_drive_by_plain_twists_is_written_and_a_route_is_taught_from_it(
    coarse_world, tmp_path
):
    from geometry_msgs.msg import Twist, Vector3
    from nav_msgs.msg import Odometry

    from aerotwin_scenarios.teach_work import read_points
    from aerotwin_teach_repeat.teaching import read_driven, teach_route

    tokens = [f"world:={coarse_world}", f"route:={tmp_path / 'drive.tum'}", "stamped:=false"]
    ahead = Twist(linear=Vector3(x=1.0))
    heard = driven(
        "teach_drive.launch.yaml", [*tokens, "duration_s:=3.5"], {"truth/odom": Odometry}, Twist,
        ahead,
    )  # fmt: skip
    drive = read_driven(tmp_path / "drive.tum")
    last = deserialize(heard["truth/odom"][-1], "nav_msgs/msg/Odometry").pose.pose.position
    assert np.linalg.norm(drive.p_ref_body[-1] - [last.x, last.y, last.z]) < 2 * STEP_M
    ways = np.linalg.norm(np.diff(drive.p_ref_body, axis=0), axis=1)
    assert ways.sum() > 1.0 and ways.max() < 2 * STEP_M
    graph = teach_route(read_points(str(coarse_world), 0.25, "m", False), drive.transforms())
    assert graph.length_m() == pytest.approx(ways.sum(), abs=0.3)


def test_a_drive_is_written_as_it_goes_and_not_over_another_file(tmp_path):
    path = DrivenPath(tmp_path / "drive.tum")
    for k in range(200):
        T_map_base = transform_from_pose([0.01 * k, 5.0, 1.0], quaternion_from_yaw(math.pi / 2.0))
        path.add(k * 10_000_000, T_map_base)
    lines = (tmp_path / "drive.tum").read_text().splitlines()  # not closed yet, as after a crash
    assert 30 <= len(lines) <= 40
    half = math.sqrt(0.5)
    assert [float(cell) for cell in lines[0].split()] == pytest.approx(
        [0.0, 0.0, 5.0, 1.0, 0.0, 0.0, half, half], abs=1e-8
    )
    path.close()
    with pytest.raises(UserError, match=r"cannot be written \(File exists\); name a new file"):
        DrivenPath(tmp_path / "drive.tum")


@pytest.mark.ros
def test_a_vehicle_that_does_not_exist_ends_the_node_with_78():
    tokens = [*NODE, "-p", "vehicle:=nowhere.yaml"]
    done = subprocess.run(tokens, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 78
    assert "nowhere.yaml: expected unicycle, bicycle or the path" in done.stderr
    assert "Traceback" not in done.stderr
