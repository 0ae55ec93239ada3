# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the view hears of rotors, formations, cameras and settings, also from hostile nodes."""

import math

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import camera_info_message, image_message
from aerotwin_core.messages import (
    diagnostics_message,
    joint_state_message,
    odometry_message,
    serialize,
    string_message,
)
from aerotwin_formation.messages import VehicleReport
from aerotwin_formation.report_text import report_to_text
from aerotwin_view.scene.rotor_hubs import RotorHub

pytestmark = pytest.mark.ros

_PATIENCE_S = 20.0
HUBS = [RotorHub(name=f"rotor_{k}", T_base_hub=np.eye(4), radius_m=0.1) for k in range(2)]
UNIT = (0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)
SECOND_NS = 1_000_000_000


def test_rotors_turn_as_their_topic_says(others):
    from aerotwin_view.ros.heard_rotors import HeardRotors

    heard = HeardRotors(others.listener)

    def is_heard() -> bool:
        message = joint_state_message(1, "base_link", ["rotor_0", "rotor_1"], (500.0, math.nan))
        others.publish("/uav0/rotors", message)
        heard.look(others.graph(), ["uav0", "uav1"])
        heard.read()
        return heard.speeds("uav0", HUBS)[0] == 500.0

    others.until(is_heard)
    np.testing.assert_array_equal(heard.speeds("uav0", HUBS), (500.0, 0.0))
    np.testing.assert_array_equal(heard.speeds("uav1", HUBS), (0.0, 0.0))
    heard.rest()
    assert others.node.count_subscribers("/uav0/rotors") == 0
    np.testing.assert_array_equal(heard.speeds("uav0", HUBS), (0.0, 0.0))


@pytest.mark.parametrize("armed", ["true", "false"])
def test_without_their_topic_rotors_turn_while_armed(others, armed):
    from aerotwin_view.ros.heard_rotors import ARMED_RAD_S, HeardRotors

    heard = HeardRotors(others.listener)
    expected = ARMED_RAD_S if armed == "true" else 0.0

    def is_heard() -> bool:
        values = {"armed": armed, "mode": "HOLD"}
        others.publish("/autopilot/status", diagnostics_message(1, [("a", 0, "", values)]))
        heard.look(others.graph(), [""])
        heard.read()
        return "" in heard._speeds

    others.until(is_heard)
    np.testing.assert_array_equal(heard.speeds("", HUBS), (expected, expected))


def _report(sender: int, stamp_ns: int, leader_ns: int) -> str:
    still = np.zeros((3, 3))
    report = VehicleReport(
        sender=sender, stamp_ns=stamp_ns, motion=still, leader_stamp_ns=leader_ns,
        leader_motion=still, plan_number=-1,
    )  # fmt: skip
    return report_to_text(report)


def test_links_lead_from_the_leader_to_who_knows_its_motion(others):
    from aerotwin_view.ros.heard_formation import HeardFormation

    heard = HeardFormation(others.listener)
    texts = {
        "uav0": _report(0, 10 * SECOND_NS, 10 * SECOND_NS),
        "uav1": _report(1, 10 * SECOND_NS, 9 * SECOND_NS),
        "uav2": _report(2, 10 * SECOND_NS, -1),
        "uav3": '{"sender": 3, "stamp_ns": 1e999}',
        "uav4": "[" * 100_000,
    }

    def is_heard() -> bool:
        for name, text in texts.items():
            others.publish(f"/{name}/formation/report", string_message(text))
        heard.look(others.graph())
        heard.read()
        return bool(heard.links()) and len(heard._reports) == 3

    others.until(is_heard)
    (link,) = heard.links()
    assert (link.leader, link.follower) == ("uav0", "uav1")
    assert link.age_s == pytest.approx(1.0)


CAMERA = PinholeCamera(width=64, height=48, fx=50.0, fy=50.0, cx=31.5, cy=23.5)


def _images():
    """Yield images as a hostile node sends them."""
    good = image_message(1, "cam", np.zeros((48, 64), np.uint8))
    for change in (
        {"width": 0, "height": 0},
        {"height": 4_000_000_000},
        {"encoding": "yuv422", "width": 31, "height": 1, "step": 62},
        {"encoding": "bayer_rggb8", "width": 1, "height": 1, "step": 1},
        {"encoding": "\x1b[2J"},
        {"encoding": "32FC1"},
        {"step": 1},
    ):
        yield type(good)(**{**vars(good), **change})


@pytest.mark.parametrize("number", range(len([*_images()])))
def test_an_image_that_is_none_is_said_and_no_more(others, page, number):
    from aerotwin_view.ros.sensor_poses import SensorPoses
    from aerotwin_view.ros.shown_camera import ShownCamera

    camera = ShownCamera(page, others.listener, SensorPoses(others.listener))
    image = list(_images())[number]
    n_shown = 0

    def is_chosen() -> bool:
        nonlocal n_shown
        others.publish("/bad/image_raw", image)
        camera.look(others.graph())
        if "/bad/image_raw" in camera._chosen._choice.options:
            camera._chosen._choice.value = "/bad/image_raw"
            n_shown += 1
        camera.show()
        camera.move({})
        return n_shown > 10

    others.until(is_chosen)
    assert "/camera" not in page.scene._handle_from_node_name


@pytest.mark.parametrize("shape", [(48, 64), (70_000, 10), (10, 70_000)])
def test_a_picture_is_shown_beside_a_camera_info_that_is_none(others, page, shape):
    """Longer than a JPEG may be, too."""
    from sensor_msgs.msg import CameraInfo

    from aerotwin_view.ros.sensor_poses import SensorPoses
    from aerotwin_view.ros.shown_camera import ShownCamera

    camera = ShownCamera(page, others.listener, SensorPoses(others.listener))
    infos = others.node.create_publisher(CameraInfo, "/odd/camera_info", 10)

    def is_shown() -> bool:
        infos.publish(CameraInfo(width=64, height=48))
        others.publish("/odd/image_raw", image_message(1, "cam", np.zeros(shape, np.uint8)))
        camera.look(others.graph())
        if "/odd/image_raw" in camera._chosen._choice.options:
            camera._chosen._choice.value = "/odd/image_raw"
        camera.show()
        camera.move({})
        return camera._picture is not None

    others.until(is_shown)
    assert "/camera" not in page.scene._handle_from_node_name


def test_a_camera_stands_where_its_robot_carries_it(others, page):
    from geometry_msgs.msg import TransformStamped
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.qos import LATCHED
    from aerotwin_view.ros.heard_pose import HeardPose
    from aerotwin_view.ros.sensor_poses import SensorPoses
    from aerotwin_view.ros.shown_camera import ShownCamera

    def edge(parent: str, child: str, x: float, w: float) -> TransformStamped:
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.transform.translation.x, message.transform.rotation.w = x, w
        return message

    static = others.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    bad, good = edge("base_link", "worse", 1.0, 0.0), edge("base_link", "cam", 0.5, 1.0)
    static.publish(TFMessage(transforms=[bad, good]))
    poses = SensorPoses(others.listener)
    camera = ShownCamera(page, others.listener, poses)
    robot = HeardPose()
    robot.set(serialize(odometry_message(1, "map", "base_link", (1.0, 2.0, 3.0), UNIT, ZERO, ZERO)))

    def is_shown() -> bool:
        others.publish("/cam/camera_info", camera_info_message(1, "cam", CAMERA))
        others.publish("/cam/image_raw", image_message(1, "cam", np.zeros((48, 64), np.uint8)))
        poses.read()
        camera.look(others.graph())
        if "/cam/image_raw" in camera._chosen._choice.options:
            camera._chosen._choice.value = "/cam/image_raw"
        camera.show()
        camera.move({"": robot})
        shown = page.scene._handle_from_node_name.get("/camera")
        return shown is not None and shown.visible

    others.until(is_shown)
    shown = page.scene._handle_from_node_name["/camera"]
    np.testing.assert_allclose(shown.position, (1.5, 2.0, 3.0))
    assert shown.fov == pytest.approx(2.0 * math.atan(24.0 / 50.0))
    camera.rest()
    assert "/camera" not in page.scene._handle_from_node_name
    assert others.node.count_subscribers("/cam/camera_info") == 0


@pytest.mark.parametrize("variances", [(math.nan,) * 6, (-1.0, *(0.0,) * 5), (1e300,) * 6])
def test_a_covariance_is_read_as_it_is_whatever_it_is(variances):
    from aerotwin_view.ros.heard_pose import HeardPose

    message = odometry_message(
        1, "map", "uav/base", ZERO, UNIT, ZERO, ZERO, pose_variances=variances
    )
    pose = HeardPose()
    assert pose.set(serialize(message))
    np.testing.assert_array_equal(np.diag(pose.position_covariance()), variances[:3])


@pytest.mark.parametrize("n_bytes", [0, 3, 20, 60, 90])
def test_bytes_that_end_early_are_no_pose(n_bytes):
    from aerotwin_view.ros.heard_pose import HeardPose

    message = serialize(odometry_message(1, "map", "base_link", ZERO, UNIT, ZERO, ZERO))
    pose = HeardPose()
    assert not pose.set(message[:n_bytes]) and pose.position_covariance() is None


def test_the_position_block_is_that_of_a_message_with_all_its_numbers():
    from aerotwin_view.ros.heard_pose import HeardPose

    message = odometry_message(1, "odom", "base_link", ZERO, UNIT, ZERO, ZERO)
    message.pose.covariance = np.arange(36.0)
    pose = HeardPose()
    pose.set(serialize(message))
    np.testing.assert_array_equal(
        pose.position_covariance(), message.pose.covariance.reshape(6, 6)[:3, :3]
    )


def test_the_simulator_is_asked_for_its_wind_and_number(others):
    from rclpy.executors import SingleThreadedExecutor

    from aerotwin_view.ros.simulator_settings import SimulatorSettings

    settings = SimulatorSettings(others.listener)
    settings.set_simulator("/others")
    assert settings.wind is None and settings.instance == 0 and settings.airframe is None
    node = others.node
    for name, value in (("wind.east_m_s", 4.0), ("wind.north_m_s", -3.0), ("wind.up_m_s", 0.0),
                        ("wind.roughness_length_m", 0.0), ("wind.turbulence_m_s", 7.7),
                        ("fleet.instance", 7), ("fleet.port_shift", 2),
                        ("airframe", "x500")):  # fmt: skip
        node.declare_parameter(name, value)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(others.listener)

    def is_answered() -> bool:
        settings.look()
        executor.spin_once(timeout_sec=0.05)
        return settings.wind is not None

    others.until(is_answered)
    assert settings.wind.v_map == (4.0, -3.0, 0.0) and settings.wind.turbulence_m_s == 7.7
    assert (settings.instance, settings.airframe) == (9, "x500")
    executor.shutdown()


def test_a_simulator_without_such_parameters_has_no_wind(others):
    from rcl_interfaces.msg import ParameterValue
    from rcl_interfaces.srv import GetParameters

    from aerotwin_view.ros.simulator_settings import SimulatorSettings

    settings = SimulatorSettings(others.listener)
    settings.set_simulator("/nobody")
    settings._on_answer(
        settings._client, GetParameters.Response(values=[ParameterValue(type=77)] * 3)
    )
    assert settings.wind is None and settings.instance == 0
