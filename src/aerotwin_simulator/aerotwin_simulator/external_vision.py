# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside for the autopilot: somebody else's topic, or none."""

from typing import Any, Protocol

import numpy as np

from aerotwin_core.messages import stamp_ns
from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.truth import TruthStep

_UNIT_TOLERANCE = 0.01


class Vision(Protocol):
    """Where poses come from."""

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return what was delivered in a step."""


class NoVision:
    """Nobody tells a pose."""

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return nothing."""
        return []


class VisionTopic:
    """Passes on nav_msgs/Odometry as it comes, its pose in `map`, its twist in body axes.

    Attributes
    ----------
    n_refused : int
        Messages whose pose was not finite or no rotation.
    """

    def __init__(self) -> None:
        self._waiting: list[VisionPose] = []
        self.n_refused = 0

    def receive(self, message: Any) -> None:
        """Take one message."""
        pose = _from_odometry(message)
        if pose is None:
            self.n_refused += 1
        else:
            self._waiting.append(pose)

    def collect(self, step: TruthStep) -> list[VisionPose]:
        """Return what has come since the last step."""
        came, self._waiting = self._waiting, []
        return came


def make_vision(parameters: SimulatorParameters) -> Vision:
    """Return what the parameters ask for."""
    return VisionTopic() if parameters.external_vision == "topic" else NoVision()


def _from_odometry(message: Any) -> VisionPose | None:
    """Return the pose of a nav_msgs/Odometry; None if it is not sound."""
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
