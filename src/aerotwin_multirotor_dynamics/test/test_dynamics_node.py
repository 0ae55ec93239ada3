# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics as a node: conversions, its place in the lockstep, its topics."""

from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import quaternion_from_yaw
from aerotwin_core.seeds import seed_sequence
from aerotwin_multirotor_dynamics import Multirotor, RotorVibration, layout, load_airframe
from aerotwin_multirotor_dynamics.ros.conversions import (
    DynamicsTruthMessages,
    rotor_names,
    speeds_from_joint_state,
)
from aerotwin_multirotor_dynamics.ros.paced_vehicle import FELT_PLACES, PacedVehicle
from aerotwin_multirotor_dynamics.ros.parameters import DynamicsParameters

STEP_NS = 4_000_000
ROUNDING = 1e-12
TABLE = 5e-4  # four digits of the table, and the few metres of the climb
HOVER_RAD_S = 806.8  # iris


def flying() -> Multirotor:
    """Return an iris that moves east while its nose points north."""
    return Multirotor(
        load_airframe("iris"),
        p_map_body=(1.0, 2.0, 30.0),
        q_map_body=quaternion_from_yaw(np.pi / 2.0),
        v_map_body=(3.0, 0.0, 0.5),
        omega_map_body_in_body=(0.1, -0.2, 0.3),
        rotor_speed_rad_s=(700.0, 710.0, 720.0, 730.0),
    )


def test_truth_comes_back_from_its_messages():
    vehicle = flying()
    truth, state = DynamicsTruthMessages(4), vehicle.state_vector
    odometry = messages.deserialize(truth.motion(7, state)[0], "nav_msgs/msg/Odometry")
    assert messages.stamp_ns(odometry) == 7
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("map", "base_link_truth")
    p, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    omega = odometry.twist.twist.angular
    assert np.allclose((p.x, p.y, p.z), (1.0, 2.0, 30.0), atol=ROUNDING)
    assert np.allclose((q.x, q.y, q.z, q.w), quaternion_from_yaw(np.pi / 2.0), atol=ROUNDING)
    assert np.allclose((omega.x, omega.y, omega.z), (0.1, -0.2, 0.3), atol=ROUNDING)


def test_the_twist_is_in_body_axes():
    """East is to the right of a nose that points north: y of FLU is -3."""
    cdr = DynamicsTruthMessages(4).motion(0, flying().state_vector)[0]
    twist = messages.deserialize(cdr, "nav_msgs/msg/Odometry").twist.twist.linear
    assert (twist.x, twist.y, twist.z) == pytest.approx((0.0, -3.0, 0.5), abs=ROUNDING)


def test_acceleration_is_that_of_the_motion_in_body_axes():
    vehicle = flying()
    cdr = DynamicsTruthMessages(4).motion(0, vehicle.state_vector)[1]
    accel = messages.deserialize(cdr, "geometry_msgs/msg/AccelStamped").accel
    expected = vehicle.R_map_body.T @ vehicle.state.a_map_body
    found = (accel.linear.x, accel.linear.y, accel.linear.z)
    assert found == pytest.approx(tuple(expected), abs=ROUNDING)


def test_rotor_speeds_come_back_from_their_message_in_any_order():
    cdr = DynamicsTruthMessages(4).motion(0, flying().state_vector)[2]
    message = messages.deserialize(cdr, "sensor_msgs/msg/JointState")
    assert message.name == rotor_names(4)
    assert speeds_from_joint_state(message, 4) == [700.0, 710.0, 720.0, 730.0]
    turned = SimpleNamespace(name=message.name[::-1], velocity=list(message.velocity)[::-1])
    assert speeds_from_joint_state(turned, 4) == [700.0, 710.0, 720.0, 730.0]
    unnamed = SimpleNamespace(name=[], velocity=[1.0, 2.0, 3.0, 4.0])
    assert speeds_from_joint_state(unnamed, 4) == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("names", "velocity"),
    [
        ([], [1.0, 2.0, 3.0]),
        ([], [1.0, 2.0, 3.0, float("nan")]),
        (["rotor_0", "rotor_1", "rotor_2", "propeller"], [1.0, 2.0, 3.0, 4.0]),
        (rotor_names(4), [1.0]),
    ],
)
def test_a_command_that_lacks_a_rotor_is_refused(names, velocity):
    with pytest.raises(ValueError, match="must"):
        speeds_from_joint_state(SimpleNamespace(name=names, velocity=velocity), 4)


def test_only_the_answer_to_the_last_truth_is_a_step():
    vehicle = PacedVehicle(DynamicsParameters())
    speeds = [HOVER_RAD_S] * 4
    assert vehicle.answer(0, speeds) and vehicle.stamp_ns == STEP_NS
    before = vehicle.state_vector.copy()
    assert vehicle.answer(0, speeds), "a command that came twice lets the truth be told again"
    assert not vehicle.answer(9 * STEP_NS, speeds), "a command of the future is ignored"
    assert vehicle.stamp_ns == STEP_NS and np.array_equal(vehicle.state_vector, before)
    assert vehicle.answer(STEP_NS, speeds) and vehicle.stamp_ns == 2 * STEP_NS
    assert (vehicle.counters.n_steps, vehicle.counters.n_lost) == (2, 2)


def test_it_stands_on_the_plane_that_the_parameters_name():
    """30 degrees up towards east through (0, 0, 5): at x = 2 the ground is 2 tan 30 higher."""
    slope = np.tan(np.pi / 6.0)
    vehicle = PacedVehicle(
        DynamicsParameters(
            ground_point_m=(0.0, 0.0, 5.0), ground_normal=(-slope, 0.0, 1.0), start_m=(2.0, 1.0)
        )
    )
    foot = vehicle.state_vector[:3]
    normal = np.array([-slope, 0.0, 1.0]) / np.hypot(slope, 1.0)
    above = float(normal @ (foot - np.array([2.0, 1.0, 5.0 + 2.0 * slope])))
    assert 0.0 < above < 0.1  # the feet of the iris are 55 mm below its centre of mass
    for _ in range(250):
        vehicle.advance()
    assert np.linalg.norm(vehicle.state_vector[:3] - foot) < 0.01


def test_ground_that_hangs_over_is_refused():
    with pytest.raises(ParameterError, match="points upwards"):
        PacedVehicle(DynamicsParameters(ground_normal=(0.0, 0.0, -1.0)))


def test_the_rotors_shake_it_as_they_do_in_the_composed_loop():
    """The same seed and vehicle give the same vibration beside the same motion."""
    parameters = DynamicsParameters(seed=3, vehicle=2, vibration=2.0)
    vehicle, iris = PacedVehicle(parameters), load_airframe("iris")
    alone = RotorVibration(iris, seed_sequence(3, 2, "vibration"), level=2.0)
    vehicle.speeds = [HOVER_RAD_S] * 4
    for _ in range(250):
        vehicle.advance()
        felt = alone.felt(STEP_NS * 1e-9, vehicle.state_vector)
        motion = [vehicle.state_vector[place] for place in FELT_PLACES]
        assert np.allclose(vehicle.vibration, felt - np.concatenate(motion), atol=ROUNDING)
    assert np.linalg.norm(vehicle.vibration[:3]) > 0.1


def test_vibration_can_be_left_out_and_leaves_the_path_alone():
    shaken, still = (
        PacedVehicle(DynamicsParameters(vibration=level, seed=1)) for level in (1.0, 0.0)
    )
    for vehicle in (shaken, still):
        vehicle.speeds = [HOVER_RAD_S] * 4
        for _ in range(100):
            vehicle.advance()
    assert shaken.vibration.any() and not still.vibration.any()
    assert np.array_equal(shaken.state_vector, still.state_vector)


def test_thin_air_carries_less():
    """ISO 2533: 0.8217 of the density at sea level is left at 2000 m."""
    heights = []
    for altitude_m, density in ((0.0, 1.0), (2000.0, 0.8217)):
        vehicle = PacedVehicle(DynamicsParameters(origin_altitude_m=altitude_m))
        vehicle.speeds = [1000.0] * 4
        for _ in range(250):
            vehicle.advance()
        assert vehicle.state_vector[layout.AIR_DENSITY] == pytest.approx(density, abs=TABLE)
        heights.append(vehicle.state_vector[layout.POSITION][2])
    assert heights[0] > 1.3 * heights[1] > 0.0  # 1.53 and 1.26 times the weight, but for the climb


def test_vibration_comes_back_from_its_messages():
    added = np.arange(1.0, 10.0)
    accel_cdr, twist_cdr = DynamicsTruthMessages(4).vibration(9, added)
    accel = messages.deserialize(accel_cdr, "geometry_msgs/msg/AccelStamped")
    twist = messages.deserialize(twist_cdr, "geometry_msgs/msg/TwistStamped")
    assert messages.stamp_ns(accel) == messages.stamp_ns(twist) == 9
    force, turning, rate = accel.accel.linear, accel.accel.angular, twist.twist.angular
    assert (force.x, force.y, force.z) == (1.0, 2.0, 3.0)
    assert (rate.x, rate.y, rate.z) == (4.0, 5.0, 6.0)
    assert (turning.x, turning.y, turning.z) == (7.0, 8.0, 9.0)


@pytest.mark.ros
def test_the_node_answers_each_command_with_the_truth_one_step_later():
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState

    from aerotwin_core.ros.qos import reliable
    from aerotwin_multirotor_dynamics.ros.dynamics_node import DynamicsNode

    rclpy.init()
    try:
        node, peer = DynamicsNode(), rclpy.create_node("peer")
        received = []
        peer.create_subscription(Odometry, "truth/odom", received.append, reliable(10))
        command = peer.create_publisher(JointState, "command/rotors", reliable(10))
        executor = SingleThreadedExecutor()
        for each in (node, peer):
            executor.add_node(each)
        while not (command.get_subscription_count() and node.count_subscribers("truth/odom")):
            executor.spin_once(timeout_sec=0.1)
        for k in range(3):
            message = JointState(velocity=[HOVER_RAD_S] * 4)
            message.header.stamp.nanosec = k * STEP_NS
            command.publish(message)
            while len(received) <= k:
                executor.spin_once(timeout_sec=0.1)
        assert [m.header.stamp.nanosec for m in received] == [STEP_NS, 2 * STEP_NS, 3 * STEP_NS]
        executor.shutdown()
        for each in (node, peer):
            each.destroy_node()
    finally:
        rclpy.try_shutdown()
