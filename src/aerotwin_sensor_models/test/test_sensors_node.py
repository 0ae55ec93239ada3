# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The sensors as a node: truth from messages, due times, repeats."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core import messages
from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_sensor_models import load_preset
from aerotwin_sensor_models.ros.parameters import SensorsParameters
from aerotwin_sensor_models.ros.sensor_suite import SensorSuite
from aerotwin_sensor_models.ros.truth import Truth, interpolate, truth_from_messages

STEP_NS = 4_000_000
ROUNDING = 1e-12
VARIANCE_ERROR = 0.14  # 5 sigma of half the variance of 4000 differences: 5 sqrt(3 / 4000)
IDEAL = SensorsParameters(imu="ideal", magnetometer="ideal", barometer="ideal", gnss="ideal")
TYPES = {
    "imu/data_raw": "sensor_msgs/msg/Imu",
    "imu/mag": "sensor_msgs/msg/MagneticField",
    "air_pressure": "sensor_msgs/msg/FluidPressure",
    "gnss/fix": "sensor_msgs/msg/NavSatFix",
    "gnss/velocity": "geometry_msgs/msg/TwistStamped",
}


def truth_at(stamp_ns: int, **changes) -> Truth:
    values = {
        "p_map_body": np.zeros(3),
        "v_map_body": np.zeros(3),
        "q_map_body": np.array([0.0, 0.0, 0.0, 1.0]),
        "a_body": np.zeros(3),
        "omega_body": np.zeros(3),
        "alpha_body": np.zeros(3),
    }
    return Truth(stamp_ns=stamp_ns, **(values | changes))


def read(suite: SensorSuite, truth: Truth) -> dict[str, list]:
    found: dict[str, list] = {}
    for topic, cdr in suite.sample(truth):
        found.setdefault(topic, []).append(messages.deserialize(cdr, TYPES[topic]))
    return found


def test_truth_comes_back_from_its_messages():
    q = Rotation.from_euler("xyz", [0.1, -0.2, 0.7]).as_quat()
    v_body = np.array([1.0, 2.0, 3.0])
    odometry = messages.odometry_message(9, "map", "b", [4.0, 5.0, 6.0], q, v_body, [0.1, 0.2, 0.3])
    accel = messages.accel_stamped_message(9, "b", [7.0, 8.0, 9.0], [0.4, 0.5, 0.6])
    truth = truth_from_messages(odometry, accel)
    assert truth.stamp_ns == 9
    assert np.allclose(truth.p_map_body, (4.0, 5.0, 6.0), atol=ROUNDING)
    assert np.allclose(truth.v_map_body, Rotation.from_quat(q).apply(v_body), atol=ROUNDING)
    assert np.allclose(truth.omega_body, (0.1, 0.2, 0.3), atol=ROUNDING)
    assert np.allclose(truth.a_body, (7.0, 8.0, 9.0), atol=ROUNDING)
    assert np.allclose(truth.alpha_body, (0.4, 0.5, 0.6), atol=ROUNDING)


def test_the_imu_feels_what_the_rotors_add():
    odometry = messages.odometry_message(
        STEP_NS, "map", "b", [0.0] * 3, [0.0, 0.0, 0.0, 1.0], [0.0] * 3, [0.0] * 3
    )
    still = messages.accel_stamped_message(STEP_NS, "b", [0.0] * 3, [0.0] * 3)
    accel = messages.accel_stamped_message(STEP_NS, "b", [1.0, 2.0, 3.0], [7.0, 8.0, 9.0])
    twist = messages.twist_stamped_message(STEP_NS, "b", [0.0] * 3, [0.4, 0.5, 0.6])
    truth = truth_from_messages(odometry, still, (accel, twist))
    assert truth.vibration.tolist() == [1.0, 2.0, 3.0, 0.4, 0.5, 0.6, 7.0, 8.0, 9.0]
    (imu,) = read(SensorSuite(IDEAL), truth)["imu/data_raw"]
    force, rate = imu.linear_acceleration, imu.angular_velocity
    assert (force.x, force.y, force.z) == pytest.approx((1.0, 2.0, 12.81), abs=ROUNDING)
    assert (rate.x, rate.y, rate.z) == pytest.approx((0.4, 0.5, 0.6), abs=ROUNDING)


@pytest.mark.parametrize(
    ("q", "p"), [((0.0, 0.0, 0.0, 0.0), 0.0), ((0.0, 0.0, 0.0, 1.0), float("nan"))]
)
def test_truth_that_is_none_is_refused(q, p):
    odometry = messages.odometry_message(0, "map", "b", [p, 0.0, 0.0], q, [0.0] * 3, [0.0] * 3)
    accel = messages.accel_stamped_message(0, "b", [0.0] * 3, [0.0] * 3)
    with pytest.raises(ValueError, match="must"):
        truth_from_messages(odometry, accel)


def test_truth_between_two_instants_is_exact_for_constant_acceleration_and_turning():
    """Oracles: the parabola p = v t + a t^2 / 2, and SciPy's slerp."""
    a, v, turn = np.array([1.0, -2.0, 0.5]), np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.4, 0.9])
    dt_s, u = 0.1, 0.3

    def at(t_s: float) -> Truth:
        return truth_at(
            round(t_s * 1e9),
            p_map_body=v * t_s + 0.5 * a * t_s**2,
            v_map_body=v + a * t_s,
            q_map_body=-Rotation.from_rotvec(turn * t_s).as_quat(),  # either sign is the attitude
        )

    start = truth_at(0, v_map_body=v)
    between = interpolate(start, at(dt_s), round(u * dt_s * 1e9))
    ends = Rotation.from_quat([start.q_map_body, at(dt_s).q_map_body])
    assert np.allclose(between.p_map_body, at(u * dt_s).p_map_body, atol=ROUNDING)
    assert np.allclose(between.v_map_body, at(u * dt_s).v_map_body, atol=ROUNDING)
    expected = Slerp([0.0, 1.0], ends)(u).as_matrix()
    assert np.allclose(rotation_from_quaternion(between.q_map_body), expected, atol=ROUNDING)


def test_a_vehicle_at_rest_reads_gravity_and_the_pressure_of_its_place():
    readings = read(SensorSuite(IDEAL), truth_at(STEP_NS))
    (imu,), (pressure,) = readings["imu/data_raw"], readings["air_pressure"]
    assert imu.linear_acceleration.z == pytest.approx(9.81)
    assert imu.linear_acceleration.x == imu.angular_velocity.z == 0.0
    assert pressure.fluid_pressure == pytest.approx(95597.0, abs=10.0)  # ISO 2533 at 488 m


def test_acceleration_in_body_axes_adds_to_gravity():
    """Nose up by 90 degrees: gravity's reaction is along x; the motion adds 2 m/s^2 along y."""
    q = Rotation.from_euler("y", -90, degrees=True).as_quat()
    truth = truth_at(STEP_NS, q_map_body=q, a_body=np.array([0.0, 2.0, 0.0]))
    (imu,) = read(SensorSuite(IDEAL), truth)["imu/data_raw"]
    force = imu.linear_acceleration
    assert (force.x, force.y, force.z) == pytest.approx((9.81, 2.0, 0.0), abs=1e-9)


def test_every_sensor_comes_at_its_exact_due_time_and_the_imu_last():
    suite = SensorSuite(SensorsParameters())
    fixes = []
    for k in range(1, 76):  # 0.3 s
        readings = suite.sample(truth_at(k * STEP_NS))
        assert readings[-1][0] == "imu/data_raw"
        fixes += [messages.deserialize(c, TYPES[t]) for t, c in readings if t == "gnss/fix"]
    # 10 Hz, each 0.11 s old when it comes, stamped when it was measured
    assert [messages.stamp_ns(fix) for fix in fixes] == [100_000_000]


def test_the_same_truth_again_gets_the_same_bytes_again():
    suite = SensorSuite(SensorsParameters())
    first = suite.sample(truth_at(STEP_NS))
    assert suite.sample(truth_at(STEP_NS)) == first
    assert suite.sample(truth_at(2 * STEP_NS)) != first
    assert (suite.counters.n_samples, suite.counters.n_repeated) == (2, 1)


def test_a_clock_that_jumps_begins_anew_instead_of_catching_up():
    suite = SensorSuite(SensorsParameters())
    suite.sample(truth_at(STEP_NS))
    assert len(suite.sample(truth_at(1_700_000_000_000_000_000))) < 10
    assert len(suite.sample(truth_at(STEP_NS))) < 10
    assert suite.counters.n_restarts == 2


def test_the_magnetometer_names_the_body_whose_axes_it_reads():
    readings = read(SensorSuite(IDEAL), truth_at(STEP_NS))
    assert readings["imu/mag"][0].header.frame_id == "base_link"
    assert readings["imu/data_raw"][0].header.frame_id == "imu_link"


@pytest.mark.parametrize("interval_ns", [1_000_000, 20_000_000])
def test_the_imu_tells_the_variance_it_has_at_the_rate_of_its_truth(interval_ns):
    n, suite = 4000, SensorSuite(SensorsParameters(magnetometer="none", barometer="none"))
    imu = [read(suite, truth_at(k * interval_ns))["imu/data_raw"][0] for k in range(1, n + 1)][1:]
    force = np.array([m.linear_acceleration.x for m in imu])
    rate = np.array([m.angular_velocity.x for m in imu])
    preset = load_preset("imu", "adis16448")
    # Differences of neighbours hold twice the white noise and rounding, and none of the biases.
    for values, published, triad in (
        (force, imu[-1].linear_acceleration_covariance[0], preset.accelerometer),
        (rate, imu[-1].angular_velocity_covariance[0], preset.gyroscope),
    ):
        biases = triad.bias_sigma**2 + triad.turn_on_bias_sigma**2
        white = 0.5 * np.var(np.diff(values))
        assert white == pytest.approx(published - biases, rel=VARIANCE_ERROR)


def test_a_receiver_without_fix_says_so_and_tells_no_velocity(tmp_path):
    path = tmp_path / "tunnel.yaml"
    path.write_text(
        "source: test\nparameters: {rate_hz: 10.0, delay_s: 0.0, outages_s: [[0.15, 0.25]]}\n"
    )
    suite = SensorSuite(SensorsParameters(gnss=str(path)))
    status, n_velocities = [], 0
    for k in range(1, 91):  # 0.36 s: measured at 0.1, 0.2 and 0.3 s
        readings = read(suite, truth_at(k * STEP_NS))
        status += [fix.status.status for fix in readings.get("gnss/fix", [])]
        n_velocities += len(readings.get("gnss/velocity", []))
    assert status[:4].count(-1) == 1
    assert n_velocities == len(status) - 1


def test_a_sensor_that_is_off_says_nothing():
    off = SensorsParameters(imu="none", magnetometer="none", barometer="none", gnss="none")
    assert SensorSuite(off).sample(truth_at(STEP_NS)) == []


@pytest.mark.ros
def test_the_node_waits_for_both_messages_of_an_instant():
    import rclpy
    from geometry_msgs.msg import AccelStamped
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import Imu

    from aerotwin_core.ros.qos import reliable
    from aerotwin_sensor_models.ros.sensors_node import SensorsNode

    rclpy.init()
    try:
        node, peer = SensorsNode(), rclpy.create_node("peer")
        received = []
        peer.create_subscription(Imu, "imu/data_raw", received.append, reliable(10))
        publishers = [
            peer.create_publisher(cls, topic, reliable(10))
            for cls, topic in ((AccelStamped, "truth/accel"), (Odometry, "truth/odom"))
        ]
        executor = SingleThreadedExecutor()
        for each in (node, peer):
            executor.add_node(each)
        while not (
            all(p.get_subscription_count() for p in publishers)
            and node.count_subscribers("imu/data_raw")
        ):
            executor.spin_once(timeout_sec=0.1)
        accel, odometry = AccelStamped(), Odometry()
        odometry.pose.pose.orientation.w = 1.0
        for stamp_ns, sent in ((STEP_NS, accel), (2 * STEP_NS, accel), (2 * STEP_NS, odometry)):
            sent.header.stamp.nanosec = stamp_ns
            publishers[sent is odometry].publish(sent)
            for _ in range(5):
                executor.spin_once(timeout_sec=0.05)
        while not received:
            executor.spin_once(timeout_sec=0.1)
        assert [message.header.stamp.nanosec for message in received] == [2 * STEP_NS]
        executor.shutdown()
        for each in (node, peer):
            each.destroy_node()
    finally:
        rclpy.try_shutdown()
