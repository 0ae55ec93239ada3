# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the view says of the vehicle that is steered: its SLAM, its way to a place, its doctor."""

import math
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core.messages import odometry_message, point_cloud_message, pose_stamped_message
from aerotwin_core.plots import colour_table

pytestmark = pytest.mark.ros

UNIT = (0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)
SECOND_NS = 1_000_000_000


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
    assert slam.find("/odom", "uav0") is slam.placement("uav0")
    assert slam.find("odom", "uav1") is None and slam.find("elsewhere", "uav0") is None
    slam.rest()
    assert others.node.count_subscribers("/uav0/slam/odom") == 0 and slam.text() == ""


def test_the_map_of_a_slam_is_shown_where_its_frame_was_laid(others, page):
    from aerotwin_view.ros.heard_pose import HeardPose
    from aerotwin_view.ros.sensor_poses import SensorPoses
    from aerotwin_view.ros.shown_points import ShownPoints
    from aerotwin_view.ros.slam_under_test import SlamUnderTest

    slam = SlamUnderTest(others.listener)
    points = ShownPoints(page, others.listener, SensorPoses(others.listener), slam)
    cloud = point_cloud_message(1, "odom", np.array([[1.0, 2.0, 3.0]], np.float32))
    robots = {"uav0": HeardPose()}
    k = 0

    def is_shown() -> bool:
        nonlocal k
        k += 1
        others.publish("/uav0/truth/odom", _odometry("map", k, 10.0))
        others.publish("/uav0/slam/odom", _odometry("odom", k, 0.0))
        others.publish("/uav0/slam/map", cloud, is_latched=True)
        points.look(others.graph())
        if "/uav0/slam/map" in points._chosen._choice.options:
            points._chosen._choice.value = "/uav0/slam/map"
        if "no pose is known" in points._notice._text:
            slam.look("uav0", has_slam=True)
        slam.read()
        points.show(robots)
        return points._points is not None

    others.until(is_shown)
    np.testing.assert_allclose(points._points.points, [[11.0, 2.0, 3.0]])
    points.measure_by(lambda points_map: points_map[:, 2] - 2.75)
    points._points = None
    others.until(is_shown)
    assert points._notice._text == "1 points: median 0.25 m, 95 % within 0.25 m"
    middle = colour_table()[[127, 128]].tolist()  # of half a metre
    assert points._points.colors[0].tolist() in middle


def test_where_the_chosen_vehicle_is_told_to_be_is_heard(others):
    from aerotwin_view.ros.heard_setpoint import HeardSetpoint

    setpoint = HeardSetpoint(others.listener)
    said = [
        ("/uav1/command/pose", "map", (9.0, 9.0, 9.0)),
        ("/uav0/command/pose", "odom", (8.0, 8.0, 8.0)),
        ("/uav0/command/pose", "map", (math.nan, 0.0, 0.0)),
        ("/uav0/command/pose", "map", (1.0, 2.0, 3.0)),
    ]
    heard = set()

    def is_heard(p_map: tuple[float, float, float]) -> bool:
        for topic, frame, p in said:
            others.publish(topic, pose_stamped_message(1, frame, p, UNIT))
            time.sleep(0.01)
            setpoint.read()
            if setpoint.p_map is not None:
                heard.add(tuple(setpoint.p_map.tolist()))
        setpoint.look(others.graph(), "uav0")
        return p_map in heard

    others.until(lambda: is_heard((1.0, 2.0, 3.0)))
    assert heard == {(1.0, 2.0, 3.0)}
    setpoint.look(others.graph(), "uav1")
    assert setpoint.p_map is None
    setpoint.rest()
    assert others.node.count_subscribers("/uav0/command/pose") == 0


def test_a_vehicle_that_does_not_come_is_said_so(others):
    """It may fly a mission, which does not listen to set-points; a paused one comes later."""
    from aerotwin_view.ros.place_flight import PATIENCE_NS, PlaceFlight

    late_ns = SECOND_NS + PATIENCE_NS + 1
    places = [np.array([10.0, 0.0, 5.0]), np.array([20.0, 0.0, 5.0])]
    flight = PlaceFlight(others.listener, "", places)
    far = "flying to a place 11.2 m away, 1 more"
    assert flight.step(np.zeros(3), SECOND_NS) == far
    assert flight.step(np.zeros(3), SECOND_NS) == far
    assert "it comes no nearer" in flight.step(np.zeros(3), late_ns)
    disarmed = flight.step(np.zeros(3), late_ns, is_disarmed=True)
    assert disarmed.endswith("; it is disarmed; take off first")
    nearer = flight.step(np.array([5.0, 0.0, 5.0]), late_ns)
    assert nearer == "flying to a place 5.0 m away, 1 more"
    assert flight.step(places[0], late_ns) == "flying to a place 10.0 m away, 0 more"
    assert flight.step(places[1], late_ns).endswith("it is there")
    flight.close()


def test_who_drives_is_said_once_and_hides_no_answer(others, page):
    from aerotwin_teleop.motion import AT_REST, SteeredMotion
    from aerotwin_view.panels.steering_panel import SteeringPanel
    from aerotwin_view.ros.commands import Commands

    panel = SteeringPanel(page)
    commands = Commands(others.listener, panel, lambda: None)
    panel.set_vehicles(["uav0"])

    def said_after(motion: SteeredMotion) -> str:
        panel._pressed, panel._until_s = motion, math.inf
        commands.step(np.zeros(3), SECOND_NS)
        return panel.notice._text

    forward = SteeredMotion(forward=1.0)
    assert said_after(forward).startswith("driven by hand")
    assert said_after(AT_REST).startswith("stopped")
    said_after(forward)
    commands._notify("uav0 ignores velocities: it is disarmed")
    assert said_after(forward) == said_after(AT_REST) == "uav0 ignores velocities: it is disarmed"
    commands.rest()


def test_the_doctor_finds_nothing_but_the_pause_of_a_paused_run():
    from aerotwin_view.ros.asked_doctor import asked_doctor

    (found,) = asked_doctor(None, None, SimpleNamespace(is_paused=True))
    assert found.status == "warn" and "paused" in found.message and "go on" in found.way_out
