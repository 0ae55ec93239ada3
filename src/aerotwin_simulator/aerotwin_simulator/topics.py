# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The topics of a vehicle: names relative to its namespace, types, and recording."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.message_rows import Values


@dataclass(frozen=True)
class Topic:
    """A topic that the simulator publishes and records.

    The name is relative to the vehicle's namespace, absolute if it starts with a slash; in a fleet
    it begins with the vehicle's name. Above the nominal `rate_hz` publishing is thinned when the
    run is faster than real time. Latched is transient local; images and clouds are left out of
    inertial recordings. For the reference: `frame_id` of the header, with the child frame as
    `map -> base_link`, and the parameter that a topic is `only_with`. Of a topic that several
    vehicles share, each `source` is thinned by itself.
    """

    name: str
    msgtype: str
    rate_hz: float = 0.0
    is_latched: bool = False
    is_image: bool = False
    is_cloud: bool = False
    frame_id: str = ""
    only_with: str = ""
    source: str = ""


Publish = Callable[[int, int, Values], None]
"""Publishes a message of fixed layout: when it is sent, its stamp [ns], and its numbers."""
PublishBlock = Callable[[int, int, np.ndarray], None]
"""Publishes one on each of several topics, as `Publish`: a row of the numbers (n, k) each."""


class MessageSink(Protocol):
    """Receiver of messages: the bag, ROS, a test."""

    def add(self, topic: Topic) -> None:
        """Prepare for a topic; called once for each before its first message."""

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Publish one serialised message of simulated time stamp_ns."""

    def outlet(self, topic: Topic, layout: FixedLayout) -> Publish | None:
        """Return what publishes messages of fixed layout by their numbers; None to have none.

        The topic was added before. The numbers are copied.
        """
        return lambda sent_ns, stamp_ns, values: self.publish_cdr(
            topic, sent_ns, layout.pack(stamp_ns, values)
        )

    def block_outlet(
        self, topics: Sequence[Topic], layouts: Sequence[FixedLayout]
    ) -> PublishBlock | None:
        """Return what publishes a message on each of several topics, all of which have an outlet.

        The numbers are copied. None if none has one.
        """
        each = [self.outlet(*pair) for pair in zip(topics, layouts, strict=True)]
        found = [publish for publish in each if publish is not None]

        def publish_all(sent_ns: int, stamp_ns: int, values: np.ndarray) -> None:
            for publish, row in zip(found, values, strict=True):
                publish(sent_ns, stamp_ns, row)

        return publish_all if found else None


class Outlet:
    """Publishes messages of one topic and fixed layout by their numbers.

    They are serialised only if they are received, and in a bag later. The topic must have been
    added before the first one.
    """

    def __init__(self, sinks: Sequence[MessageSink], topic: Topic, layout: FixedLayout) -> None:
        self._sinks, self.topic, self.layout = sinks, topic, layout
        self._found: list[Publish] | None = None

    def publish(self, stamp_ns: int, values: Values, sent_ns: int | None = None) -> None:
        """Publish a message of a stamp [ns], sent at that time or later; its numbers are copied."""
        when_ns = stamp_ns if sent_ns is None else sent_ns
        found = self._found
        if found is None:
            offered = [sink.outlet(self.topic, self.layout) for sink in self._sinks]
            found = self._found = [each for each in offered if each is not None]
        for publish in found:
            publish(when_ns, stamp_ns, values)


class OutletBlock:
    """Publishes a message on each of several topics, which are those of alike vehicles."""

    def __init__(self, sinks: Sequence[MessageSink], outlets: Sequence[Outlet]) -> None:
        self._sinks, self._outlets = sinks, outlets
        self._found: list[PublishBlock] | None = None

    def publish(self, stamp_ns: int, values: np.ndarray) -> None:
        """Publish messages of a stamp [ns]; a row of the numbers (n, k) is for each topic."""
        if self._found is None:
            places = [each.topic for each in self._outlets], [each.layout for each in self._outlets]
            offered = [sink.block_outlet(*places) for sink in self._sinks]
            self._found = [each for each in offered if each is not None]
        for publish in self._found:
            publish(stamp_ns, stamp_ns, values)


class SinkGroup:
    """Publishes every message to every sink; if it `is_empty`, messages need not be made."""

    def __init__(self, sinks: Sequence[MessageSink]) -> None:
        self._sinks = tuple(sinks)
        self.is_empty = not self._sinks

    def add(self, topics: Sequence[Topic]) -> None:
        """Prepare for topics."""
        for sink in self._sinks:
            for topic in topics:
                sink.add(topic)

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Publish one message."""
        for sink in self._sinks:
            sink.publish_cdr(topic, stamp_ns, cdr)

    def outlet(self, topic: Topic, layout: FixedLayout) -> Outlet:
        """Return what publishes messages of a topic by their numbers."""
        return Outlet(self._sinks, topic, layout)

    def block(self, outlets: Sequence[Outlet]) -> OutletBlock:
        """Return what publishes on the topics of several outlets at once."""
        return OutletBlock(self._sinks, outlets)


CLOCK = Topic("/clock", "rosgraph_msgs/msg/Clock", 100.0)
TF = Topic("/tf", "tf2_msgs/msg/TFMessage", 20.0)
TF_STATIC = Topic("/tf_static", "tf2_msgs/msg/TFMessage", is_latched=True)
DIAGNOSTICS = Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", 1.0)
IMU = Topic("imu/data_raw", "sensor_msgs/msg/Imu", 250.0, frame_id="imu_link")
MAGNETIC_FIELD = Topic("imu/mag", "sensor_msgs/msg/MagneticField", 100.0, frame_id="base_link")
AIR_PRESSURE = Topic("air_pressure", "sensor_msgs/msg/FluidPressure", 50.0, frame_id="base_link")
GNSS_FIX = Topic(
    "gnss/fix", "sensor_msgs/msg/NavSatFix", 10.0, frame_id="base_link", only_with="sensors.gnss"
)
GNSS_VELOCITY = Topic(
    "gnss/velocity",
    "geometry_msgs/msg/TwistStamped",
    10.0,
    frame_id="map",
    only_with="sensors.gnss",
)
TRUTH_ODOM = Topic("truth/odom", "nav_msgs/msg/Odometry", 100.0, frame_id="map -> base_link_truth")
TRUTH_ACCEL = Topic(
    "truth/accel", "geometry_msgs/msg/AccelStamped", 100.0, frame_id="base_link_truth"
)
TRUTH_IMU_BIAS = Topic("truth/imu_bias", "sensor_msgs/msg/Imu", 10.0, frame_id="imu_link")
ROBOT_DESCRIPTION = Topic("robot_description", "std_msgs/msg/String", is_latched=True)
ROTORS = Topic("rotors", "sensor_msgs/msg/JointState", 100.0, frame_id="base_link")
BATTERY = Topic(
    "battery",
    "sensor_msgs/msg/BatteryState",
    1.0,
    frame_id="base_link",
    only_with="an airframe with a battery",
)
AUTOPILOT_ODOM = Topic(
    "autopilot/odom", "nav_msgs/msg/Odometry", 20.0, frame_id="map -> base_link_autopilot"
)
AUTOPILOT_STATUS = Topic("autopilot/status", "diagnostic_msgs/msg/DiagnosticArray", 1.0)
SETPOINT = Topic("command/pose", "geometry_msgs/msg/PoseStamped", 20.0, frame_id="map")


def _of_stereo(name: str, msgtype: str, side: str) -> Topic:
    return Topic(
        f"stereo/{side}/{name}", msgtype, 20.0, is_image=True,
        frame_id=f"stereo_{side}_optical", only_with="camera.is_rendered",
    )  # fmt: skip


LEFT_IMAGE = _of_stereo("image_raw", "sensor_msgs/msg/Image", "left")
RIGHT_IMAGE = _of_stereo("image_raw", "sensor_msgs/msg/Image", "right")
LEFT_INFO = _of_stereo("camera_info", "sensor_msgs/msg/CameraInfo", "left")
RIGHT_INFO = _of_stereo("camera_info", "sensor_msgs/msg/CameraInfo", "right")
LIDAR_POINTS = Topic(
    "lidar/points",
    "sensor_msgs/msg/PointCloud2",
    10.0,
    is_cloud=True,
    frame_id="lidar",
    only_with="lidar.preset",
)
RADAR_POLAR = Topic(
    "radar/polar",
    "sensor_msgs/msg/Image",
    4.0,
    is_image=True,
    frame_id="radar",
    only_with="radar.preset",
)
RADAR_POINTS = Topic(
    "radar/points",
    "sensor_msgs/msg/PointCloud2",
    4.0,
    is_cloud=True,
    frame_id="radar",
    only_with="radar.preset",
)

EVENTS = Topic("/events", "diagnostic_msgs/msg/DiagnosticArray", only_with="events")
"""Each event of a scenario at its instant: its name, what it does, and the parameters of that."""
OBSTACLE_ODOM = Topic(
    "/obstacles/NAME/odom",
    "nav_msgs/msg/Odometry",
    20.0,
    frame_id="map -> obstacles/NAME",
    only_with="an obstacle NAME",
)
"""The true pose and velocity of each obstacle, from when it comes into the world."""

OF_THE_WORLD = (CLOCK, TF_STATIC, DIAGNOSTICS)
"""Topics that exist once for any number of vehicles."""
OF_A_VEHICLE = (
    IMU,
    MAGNETIC_FIELD,
    AIR_PRESSURE,
    TRUTH_ODOM,
    TRUTH_ACCEL,
    TRUTH_IMU_BIAS,
    ROBOT_DESCRIPTION,
    ROTORS,
    AUTOPILOT_ODOM,
    AUTOPILOT_STATUS,
    SETPOINT,
)
"""Topics of every vehicle."""
OF_A_GNSS = (GNSS_FIX, GNSS_VELOCITY)
OF_A_STEREO_PAIR = (LEFT_IMAGE, RIGHT_IMAGE, LEFT_INFO, RIGHT_INFO)
OF_A_RADAR = (RADAR_POLAR, RADAR_POINTS)
ALL = (
    *OF_THE_WORLD,
    *OF_A_VEHICLE,
    *OF_A_GNSS,
    BATTERY,
    *OF_A_STEREO_PAIR,
    LIDAR_POINTS,
    *OF_A_RADAR,
    EVENTS,
    OBSTACLE_ODOM,
)
SLAM_ODOM = Topic("slam/odom", "nav_msgs/msg/Odometry")
STEP_ACK = Topic("step/ack", "std_msgs/msg/Header")
ANSWERS = {topic.name: topic for topic in (SLAM_ODOM, STEP_ACK)}
"""Topics of nodes that keep pace: a message with the stamp of a frame or turn answers it."""
AWAITED = CAMERA, LIDAR, RADAR = "camera", "lidar", "radar"
"""Sensors whose frames or turns such nodes answer."""
EXTERNAL_ODOM = Topic("external_odom", "nav_msgs/msg/Odometry")
JOY = Topic("joy", "sensor_msgs/msg/Joy")
ROTOR_COMMAND = Topic("command/rotors", "sensor_msgs/msg/JointState")
VELOCITY_COMMAND = Topic("command/velocity", "geometry_msgs/msg/TwistStamped")
SETPOINT_COMMANDS = (VELOCITY_COMMAND, SETPOINT)
"""Set-points from other nodes, of a vehicle without a mission."""
FORMATION_PLAN = Topic("/formation/plan", "std_msgs/msg/String", is_latched=True)
"""Of a formation's leader, recorded as received: who flies where, from when to when."""
CMD_VEL = "cmd_vel"
"""A Twist or TwistStamped, as Nav2 and teleoperation publish it, of the same vehicles."""
FROM_SLAM = (SLAM_ODOM, Topic("slam/map", "sensor_msgs/msg/PointCloud2", is_latched=True), TF)
"""Topics of a SLAM that are recorded as received."""
Place = Callable[[Topic], Topic]
"""Prefixes a topic with its vehicle's name."""


def below(vehicle: str) -> Place:
    """Return a function that prefixes a topic with the name of a vehicle of a fleet, if any."""

    def place(topic: Topic) -> Topic:
        if not vehicle or topic.name.startswith("/"):
            return topic
        return replace(topic, name=f"{vehicle}/{topic.name}")

    return place


def frame(vehicle: str, name: str) -> str:
    """Return a frame of a vehicle: in a fleet it is prefixed by the vehicle's name."""
    return f"{vehicle}/{name}" if vehicle else name


def resolve(name: str, namespace: str = "") -> str:
    """Return the absolute topic name below a vehicle's namespace."""
    if name.startswith("/"):
        return name
    prefix = namespace.strip("/")
    return f"/{prefix}/{name}" if prefix else f"/{name}"
