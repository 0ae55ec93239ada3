# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the view hears of rotors, formations, cameras and settings, also from hostile nodes."""

import math
import re
import time
from collections.abc import Callable, Iterator

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


class Others:
    """A node that publishes as others do, and one that listens as the view does."""

    def __init__(self) -> None:
        import rclpy

        self._node = rclpy.create_node("others")
        self.listener = rclpy.create_node("listener")
        self._publishers: dict[str, object] = {}

    def publish(self, topic: str, message: object, *, is_latched: bool = False) -> None:
        from aerotwin_core.ros.message_classes import message_class
        from aerotwin_core.ros.qos import LATCHED, reliable

        if topic not in self._publishers:
            kind = message_class(message.__msgtype__)
            qos = LATCHED if is_latched else reliable(10)
            self._publishers[topic] = self._node.create_publisher(kind, topic, qos)
        self._publishers[topic].publish(serialize(message))

    def graph(self):
        return self.listener.get_topic_names_and_types()

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.05)

    def close(self) -> None:
        self._node.destroy_node()
        self.listener.destroy_node()


@pytest.fixture
def others() -> Iterator[Others]:
    import rclpy

    rclpy.init()
    made = Others()
    yield made
    made.close()
    rclpy.try_shutdown()


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
    assert others._node.count_subscribers("/uav0/rotors") == 0
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
    infos = others._node.create_publisher(CameraInfo, "/odd/camera_info", 10)

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

    static = others._node.create_publisher(TFMessage, "/tf_static", LATCHED)
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
    assert others._node.count_subscribers("/cam/camera_info") == 0


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


def _odometry(frame: str, k: int, x: float) -> object:
    return odometry_message(1 + k * SECOND_NS // 20, frame, "body", (x, 0.0, 0.0), UNIT, ZERO, ZERO)


def test_the_slam_of_the_chosen_vehicle_is_compared_with_its_truth(others):
    from aerotwin_view.ros.slam_under_test import SlamUnderTest

    slam = SlamUnderTest(others.listener)
    slam.look("uav0", has_slam=True)
    k = 0

    def is_compared() -> bool:
        nonlocal k
        k += 1
        others.publish("/uav0/truth/odom", _odometry("map", k, 10.0 + 0.1 * k))
        others.publish("/uav0/slam/odom", _odometry("odom", k, 0.11 * k))
        others.publish("/uav0/slam/odom", _odometry("odom", k, math.nan))
        time.sleep(0.01)
        slam.read()
        return slam.text() != "" and k > 30

    others.until(is_compared)
    first = re.search(r"at (\d+\.\d\d) s, their first common stamp", slam.text())
    error = re.match(r"slam/odom: (\d+\.\d\d) m from the truth at (\d+\.\d\d) s", slam.text())
    steps = 20.0 * (float(error[2]) - float(first[1]))
    assert float(error[1]) == pytest.approx(0.01 * steps, abs=0.011)  # two decimals are said
    assert slam.placement("uav0") is not None and slam.placement("uav1") is None
    slam.rest()
    assert others._node.count_subscribers("/uav0/slam/odom") == 0 and slam.text() == ""


def test_the_simulator_is_asked_for_its_wind_and_number(others):
    from rclpy.executors import SingleThreadedExecutor

    from aerotwin_view.ros.simulator_settings import SimulatorSettings

    settings = SimulatorSettings(others.listener)
    settings.set_simulator("/others")
    assert settings.wind is None and settings.instance == 0 and settings.airframe is None
    node = others._node
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


def test_a_vehicle_that_does_not_come_is_said_so(others, monkeypatch):
    """It may fly a mission, which does not listen to set-points."""
    from aerotwin_view.ros import place_flight

    monkeypatch.setattr(place_flight, "PATIENCE_S", 0.0)
    places = [np.array([10.0, 0.0, 5.0]), np.array([20.0, 0.0, 5.0])]
    flight = place_flight.PlaceFlight(others.listener, "", places)
    assert flight.step(np.zeros(3)) == "flying to a place 11.2 m away, 1 more"
    assert "it comes no nearer" in flight.step(np.zeros(3))
    assert flight.step(np.zeros(3), is_disarmed=True).endswith("; it is disarmed; take off first")
    assert flight.step(np.array([5.0, 0.0, 5.0])) == "flying to a place 5.0 m away, 1 more"
    assert flight.step(places[0]) == "flying to a place 10.0 m away, 0 more"
    assert flight.step(places[1]).endswith("it is there")
    flight.close()
