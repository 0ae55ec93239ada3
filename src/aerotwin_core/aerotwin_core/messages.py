# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Standard messages without ROS: build, serialise to CDR and read back (through rosbags).

The bytes are those of ROS 2 Jazzy on the wire, so that one serialisation serves both bag and
topic. Builders take stamps in nanoseconds and arrays in the frames of REP-103.
"""

from collections.abc import Sequence
from math import isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rosbags.typesys import Stores, get_typestore

from aerotwin_core.time import NANOSECONDS_PER_SECOND

TYPESTORE = get_typestore(Stores.ROS2_JAZZY)
_T = TYPESTORE.types
_FLOAT32 = 7  # of sensor_msgs/PointField


def serialize(message: Any) -> bytes:
    """Return the CDR bytes (little endian, with encapsulation header) of a message."""
    return bytes(TYPESTORE.serialize_cdr(message, message.__msgtype__))


def deserialize(cdr: bytes, msgtype: str) -> Any:
    """Return the message of CDR bytes."""
    return TYPESTORE.deserialize_cdr(cdr, msgtype)


def stamp(stamp_ns: int) -> Any:
    """Return builtin_interfaces/Time."""
    sec, nanosec = divmod(int(stamp_ns), NANOSECONDS_PER_SECOND)
    return _T["builtin_interfaces/msg/Time"](sec=sec, nanosec=nanosec)


def stamp_ns(message: Any) -> int:
    """Return the header stamp of a message [ns]."""
    time = message.header.stamp
    return int(time.sec) * NANOSECONDS_PER_SECOND + int(time.nanosec)


def header(stamp_ns: int, frame_id: str) -> Any:
    """Return std_msgs/Header."""
    return _T["std_msgs/msg/Header"](stamp=stamp(stamp_ns), frame_id=frame_id)


def string_message(text: str) -> Any:
    """Return std_msgs/String."""
    return _T["std_msgs/msg/String"](data=text)


def _vector(values: ArrayLike) -> Any:
    x, y, z = (float(v) for v in np.asarray(values))
    return _T["geometry_msgs/msg/Vector3"](x=x, y=y, z=z)


def _point(values: ArrayLike) -> Any:
    x, y, z = (float(v) for v in np.asarray(values))
    return _T["geometry_msgs/msg/Point"](x=x, y=y, z=z)


def _quaternion(q_xyzw: ArrayLike) -> Any:
    x, y, z, w = (float(v) for v in np.asarray(q_xyzw))
    return _T["geometry_msgs/msg/Quaternion"](x=x, y=y, z=z, w=w)


def _pose(p: ArrayLike, q_xyzw: ArrayLike) -> Any:
    return _T["geometry_msgs/msg/Pose"](position=_point(p), orientation=_quaternion(q_xyzw))


def _diagonal(values: ArrayLike) -> np.ndarray:
    return np.diag(np.asarray(values, dtype=np.float64)).ravel()


def clock_message(stamp_ns: int) -> Any:
    """Return rosgraph_msgs/Clock."""
    return _T["rosgraph_msgs/msg/Clock"](clock=stamp(stamp_ns))


def imu_message(
    stamp_ns: int,
    frame_id: str,
    specific_force: ArrayLike,
    angular_velocity: ArrayLike,
    *,
    specific_force_std: float,
    angular_velocity_std: float,
) -> Any:
    """Return sensor_msgs/Imu without orientation (first covariance element -1, REP-145).

    specific_force [m/s^2] and angular_velocity [rad/s] are in frame_id's axes.
    """
    return _T["sensor_msgs/msg/Imu"](
        header=header(stamp_ns, frame_id),
        orientation=_quaternion([0.0, 0.0, 0.0, 1.0]),
        orientation_covariance=np.array([-1.0, *[0.0] * 8]),
        angular_velocity=_vector(angular_velocity),
        angular_velocity_covariance=_diagonal([angular_velocity_std**2] * 3),
        linear_acceleration=_vector(specific_force),
        linear_acceleration_covariance=_diagonal([specific_force_std**2] * 3),
    )


def magnetic_field_message(
    stamp_ns: int, frame_id: str, field_tesla: ArrayLike, std_tesla: float
) -> Any:
    """Return sensor_msgs/MagneticField [T]."""
    return _T["sensor_msgs/msg/MagneticField"](
        header=header(stamp_ns, frame_id),
        magnetic_field=_vector(field_tesla),
        magnetic_field_covariance=_diagonal([std_tesla**2] * 3),
    )


def fluid_pressure_message(stamp_ns: int, frame_id: str, pressure_pa: float, std_pa: float) -> Any:
    """Return sensor_msgs/FluidPressure [Pa]."""
    return _T["sensor_msgs/msg/FluidPressure"](
        header=header(stamp_ns, frame_id),
        fluid_pressure=float(pressure_pa),
        variance=float(std_pa**2),
    )


def nav_sat_fix_message(
    stamp_ns: int,
    frame_id: str,
    latitude_deg: float,
    longitude_deg: float,
    altitude_m: float,
    std_enu_m: ArrayLike,
) -> Any:
    """Return sensor_msgs/NavSatFix; altitude above WGS84, covariance in ENU [m^2].

    A position that is not a number is a receiver without a fix (STATUS_NO_FIX, covariance unknown).
    """
    has_fix = isfinite(latitude_deg + longitude_deg + altitude_m)
    variance = np.square(np.asarray(std_enu_m, dtype=np.float64)) if has_fix else np.zeros(3)
    status = _T["sensor_msgs/msg/NavSatStatus"](status=0 if has_fix else -1, service=1)
    return _T["sensor_msgs/msg/NavSatFix"](
        header=header(stamp_ns, frame_id),
        status=status,
        latitude=float(latitude_deg),
        longitude=float(longitude_deg),
        altitude=float(altitude_m),
        position_covariance=_diagonal(variance),
        position_covariance_type=2 if has_fix else 0,
    )


def twist_stamped_message(
    stamp_ns: int, frame_id: str, linear: ArrayLike, angular: ArrayLike = (0.0, 0.0, 0.0)
) -> Any:
    """Return geometry_msgs/TwistStamped."""
    twist = _T["geometry_msgs/msg/Twist"](linear=_vector(linear), angular=_vector(angular))
    return _T["geometry_msgs/msg/TwistStamped"](header=header(stamp_ns, frame_id), twist=twist)


def accel_stamped_message(
    stamp_ns: int, frame_id: str, linear: ArrayLike, angular: ArrayLike
) -> Any:
    """Return geometry_msgs/AccelStamped."""
    accel = _T["geometry_msgs/msg/Accel"](linear=_vector(linear), angular=_vector(angular))
    return _T["geometry_msgs/msg/AccelStamped"](header=header(stamp_ns, frame_id), accel=accel)


def odometry_message(
    stamp_ns: int,
    frame_id: str,
    child_frame_id: str,
    p_frame_child: ArrayLike,
    q_frame_child: ArrayLike,
    v_in_child: ArrayLike,
    omega_in_child: ArrayLike,
    *,
    pose_variances: ArrayLike = (0.0,) * 6,
    twist_variances: ArrayLike = (0.0,) * 6,
) -> Any:
    """Return nav_msgs/Odometry; the twist is in the child's axes as the message requires.

    The variances are the diagonals of the covariances: x y z roll pitch yaw.
    """
    twist = _T["geometry_msgs/msg/Twist"](
        linear=_vector(v_in_child), angular=_vector(omega_in_child)
    )
    return _T["nav_msgs/msg/Odometry"](
        header=header(stamp_ns, frame_id),
        child_frame_id=child_frame_id,
        pose=_T["geometry_msgs/msg/PoseWithCovariance"](
            pose=_pose(p_frame_child, q_frame_child), covariance=_diagonal(pose_variances)
        ),
        twist=_T["geometry_msgs/msg/TwistWithCovariance"](
            twist=twist, covariance=_diagonal(twist_variances)
        ),
    )


def pose_stamped_message(stamp_ns: int, frame_id: str, p: ArrayLike, q_xyzw: ArrayLike) -> Any:
    """Return geometry_msgs/PoseStamped."""
    return _T["geometry_msgs/msg/PoseStamped"](
        header=header(stamp_ns, frame_id), pose=_pose(p, q_xyzw)
    )


def joint_state_message(
    stamp_ns: int, frame_id: str, names: Sequence[str], velocity: ArrayLike
) -> Any:
    """Return sensor_msgs/JointState with velocities [rad/s] only."""
    return _T["sensor_msgs/msg/JointState"](
        header=header(stamp_ns, frame_id),
        name=list(names),
        position=np.zeros(0),
        velocity=np.asarray(velocity, dtype=np.float64),
        effort=np.zeros(0),
    )


def battery_state_message(
    stamp_ns: int,
    frame_id: str,
    *,
    charge: float,
    voltage_v: float,
    current_a: float,
    capacity_ah: float,
) -> Any:
    """Return sensor_msgs/BatteryState of a discharging LiPo; current out of it [A] is negative."""
    return _T["sensor_msgs/msg/BatteryState"](
        header=header(stamp_ns, frame_id),
        voltage=float(voltage_v),
        temperature=float("nan"),
        current=-float(current_a),
        charge=float(charge * capacity_ah),
        capacity=float(capacity_ah),
        design_capacity=float(capacity_ah),
        percentage=float(charge),
        power_supply_status=2,
        power_supply_health=1,
        power_supply_technology=3,
        present=True,
        cell_voltage=np.zeros(0, dtype=np.float32),
        cell_temperature=np.zeros(0, dtype=np.float32),
        location="",
        serial_number="",
    )


def laser_scan_message(
    stamp_ns: int,
    frame_id: str,
    ranges_m: np.ndarray,
    *,
    limits_m: tuple[float, float],
    scan_time_s: float,
) -> Any:
    """Return sensor_msgs/LaserScan of a full turn, counter-clockwise from straight behind.

    `ranges_m` (n,) are +inf where nothing was met within `limits_m` (REP 117). All beams are of the
    stamp: 2-D SLAMs expect rising angles, and costmaps each beam at its own time, which of a lidar
    that turns clockwise does not rise with them.
    """
    step = 2.0 * pi / len(ranges_m)
    return _T["sensor_msgs/msg/LaserScan"](
        header=header(stamp_ns, frame_id),
        angle_min=-pi,
        angle_max=pi - step,
        angle_increment=step,
        time_increment=0.0,
        scan_time=scan_time_s,
        range_min=limits_m[0],
        range_max=limits_m[1],
        ranges=np.asarray(ranges_m, dtype=np.float32),
        intensities=np.zeros(0, dtype=np.float32),
    )


def point_cloud_message(
    stamp_ns: int, frame_id: str, points: np.ndarray, intensity: np.ndarray | None = None
) -> Any:
    """Return sensor_msgs/PointCloud2 with float32 x y z [m] (and intensity)."""
    names = ["x", "y", "z"] + ([] if intensity is None else ["intensity"])
    columns = [np.asarray(points, dtype=np.float32)]
    if intensity is not None:
        columns.append(np.asarray(intensity, dtype=np.float32)[:, None])
    data = np.ascontiguousarray(np.hstack(columns))
    make_field = _T["sensor_msgs/msg/PointField"]
    fields = [
        make_field(name=name, offset=4 * i, datatype=_FLOAT32, count=1)
        for i, name in enumerate(names)
    ]
    step = 4 * len(names)
    return _T["sensor_msgs/msg/PointCloud2"](
        header=header(stamp_ns, frame_id),
        height=1,
        width=len(data),
        fields=fields,
        is_bigendian=False,
        point_step=step,
        row_step=step * len(data),
        data=data.reshape(-1).view(np.uint8),
        is_dense=True,
    )


def transform_stamped(
    stamp_ns: int, frame_id: str, child_frame_id: str, p: ArrayLike, q_xyzw: ArrayLike
) -> Any:
    """Return geometry_msgs/TransformStamped of the child's pose in frame_id."""
    transform = _T["geometry_msgs/msg/Transform"](
        translation=_vector(p), rotation=_quaternion(q_xyzw)
    )
    return _T["geometry_msgs/msg/TransformStamped"](
        header=header(stamp_ns, frame_id), child_frame_id=child_frame_id, transform=transform
    )


def transform_message(transforms: Sequence[Any]) -> Any:
    """Return tf2_msgs/TFMessage."""
    return _T["tf2_msgs/msg/TFMessage"](transforms=list(transforms))


def diagnostics_message(
    stamp_ns: int, statuses: Sequence[tuple[str, int, str, dict[str, str]]]
) -> Any:
    """Return diagnostic_msgs/DiagnosticArray from (name, level, message, values) tuples."""
    make_status = _T["diagnostic_msgs/msg/DiagnosticStatus"]
    make_value = _T["diagnostic_msgs/msg/KeyValue"]
    entries = [
        make_status(
            level=level,
            name=name,
            message=text,
            hardware_id="",
            values=[make_value(key=key, value=value) for key, value in values.items()],
        )
        for name, level, text, values in statuses
    ]
    return _T["diagnostic_msgs/msg/DiagnosticArray"](header=header(stamp_ns, ""), status=entries)
