# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External poses for the autopilot: simulated, from another node's topic, or none."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from aerotwin_core.messages import odometry_message, serialize, stamp_ns
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_faults import ActiveFault
from aerotwin_faults.together import changed_pose
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_sensor_models import ExternalVision, ExternalVisionSample, load_preset, seed_sequence
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.topics import SinkGroup
from aerotwin_simulator.truth import TruthStep

_UNIT_TOLERANCE = 0.01


class Vision(Protocol):
    """Source of poses."""

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return the poses delivered in a step."""


class NoVision:
    """No poses."""

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return nothing."""
        return []


class VisionTopic:
    """Passes on nav_msgs/Odometry as received, its pose in `map`, its twist in body axes.

    `n_refused` counts messages whose pose was not finite, no rotation, or in another frame than
    `map`; an empty frame is read as `map`.
    """

    def __init__(self, faults: Sequence[ActiveFault] = ()) -> None:
        self._faults = faults
        self._waiting: list[VisionPose] = []
        self.n_refused = 0

    def on_odometry_message(self, message: Any) -> None:
        """Convert and store one message."""
        pose = _from_odometry(message)
        if pose is None:
            self.n_refused += 1
        else:
            self.on_pose(pose)

    def on_pose(self, pose: VisionPose) -> None:
        """Store one pose from this process."""
        self._waiting.append(pose)

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return the poses received since the last step."""
        came, self._waiting = self._waiting, []
        return list(self._faulty(came)) if self._faults else came

    def _faulty(self, poses: list[VisionPose]) -> Iterator[VisionPose]:
        for pose in poses:
            found = changed_pose(self._faults, (pose.p_map, pose.q_map_body), 1000 * pose.time_us)
            if found is not None:
                yield replace(pose, p_map=found[0], q_map_body=found[1])


class SimulatedVision:
    """A motion capture or visual odometry: truth at its due times with noise, drift and delay.

    It publishes the topic `external_odom`.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        sinks: SinkGroup,
        vehicle: str,
        start_ns: int,
        faults: Sequence[ActiveFault] = (),
    ) -> None:
        self._faults = faults
        preset = load_preset("external_vision", parameters.vision.preset)
        rng = seed_sequence(parameters.seed, parameters.fleet.instance, "external_vision")
        self._sensor = ExternalVision(preset, rng)
        self._due = Schedule(preset.rate_hz, start_ns)
        self._last_ns = start_ns
        self._delay_ns = from_seconds(preset.delay_s)
        self._in_flight: deque[tuple[int, ExternalVisionSample]] = deque()
        self._sinks = sinks
        self._topic = topics.below(vehicle)(topics.EXTERNAL_ODOM)
        self._frame = topics.frame(vehicle, "base_link")
        sinks.add([self._topic])

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Measure at the due time; deliver after the delay."""
        for stamp in self._due.until(step.end_ns):
            truth = step.at(stamp)
            elapsed_s, self._last_ns = to_seconds(stamp - self._last_ns), stamp
            sample = self._sensor.sample(
                elapsed_s, truth[layout.POSITION], truth[layout.QUATERNION]
            )
            if self._faults:
                pose = (sample.p_map_body, sample.q_map_body)
                found = changed_pose(self._faults, pose, stamp)
                if found is None:
                    continue
                sample = replace(sample, p_map_body=found[0], q_map_body=found[1])
            self._in_flight.append((stamp, sample))
        delivered = []
        while self._in_flight and self._in_flight[0][0] + self._delay_ns <= step.end_ns:
            stamp, sample = self._in_flight.popleft()
            delivered.append(self._pose(stamp, sample))
            self._publish(stamp, step.end_ns, sample)
        return delivered

    def _pose(self, stamp: int, sample: ExternalVisionSample) -> VisionPose:
        variances = np.concatenate([sample.position_std_m, sample.attitude_std_rad]) ** 2
        return VisionPose(
            time_us=stamp // 1000,
            p_map=sample.p_map_body,
            q_map_body=sample.q_map_body,
            pose_covariance_map=np.diag(variances) if variances.any() else None,
        )

    def _publish(self, stamp: int, end_ns: int, sample: ExternalVisionSample) -> None:
        if self._sinks.is_empty:
            return
        variances = np.concatenate([sample.position_std_m, sample.attitude_std_rad]) ** 2
        still = (0.0, 0.0, 0.0)
        message = odometry_message(
            stamp,
            "map",
            self._frame,
            sample.p_map_body,
            sample.q_map_body,
            still,
            still,
            pose_variances=variances,
        )
        self._sinks.publish_cdr(self._topic, end_ns, serialize(message))


def make_vision(
    parameters: SimulatorParameters,
    sinks: SinkGroup,
    vehicle: str = "",
    start_ns: int = 0,
    faults: Sequence[ActiveFault] = (),
) -> Vision:
    """Return the source of poses that the parameters select; `faults` at place `pose` change it."""
    if parameters.vision.source == "simulated":
        return SimulatedVision(parameters, sinks, vehicle, start_ns, faults)
    return VisionTopic(faults) if parameters.vision.source == "topic" else NoVision()


def _from_odometry(message: Any) -> VisionPose | None:
    """Return the pose of a nav_msgs/Odometry; None if it is invalid or not in map."""
    if message.header.frame_id not in ("", "map"):
        return None
    p, q = message.pose.pose.position, message.pose.pose.orientation
    v, omega = message.twist.twist.linear, message.twist.twist.angular
    p_map, q_map_body = np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w])
    is_unit = abs(np.linalg.norm(q_map_body) - 1.0) < _UNIT_TOLERANCE  # False for NaN
    if not is_unit or not np.isfinite(p_map).all():
        return None
    twist = np.array([v.x, v.y, v.z, omega.x, omega.y, omega.z])
    has_twist = bool(np.isfinite(twist).all()) and bool(np.any(message.twist.covariance))
    return VisionPose(
        time_us=stamp_ns(message) // 1000,
        p_map=p_map,
        q_map_body=q_map_body,
        pose_covariance_map=_covariance(message.pose.covariance),
        v_body=twist[:3] if has_twist else None,
        omega_body=twist[3:] if has_twist else None,
        twist_covariance_body=_covariance(message.twist.covariance) if has_twist else None,
    )


def _covariance(values: Any) -> np.ndarray | None:
    """Return the (6, 6) covariance; all zero means not known."""
    covariance = np.asarray(values, dtype=np.float64).reshape(6, 6)
    return covariance if covariance.any() and np.isfinite(covariance).all() else None
