# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The estimator: aligns at rest, sets its local frame, then filters sample by sample."""

import math

import numpy as np

from aerotwin_autopilot.arena import Arena
from aerotwin_autopilot.estimator import layout
from aerotwin_autopilot.estimator.alignment import (
    GnssErrors,
    StandStill,
    declination_deg,
    filter_noise,
    first_covariance,
    first_covariance_in_vision,
    gnss_errors,
    level,
)
from aerotwin_autopilot.estimator.kernel import covariance_at_present, estimate
from aerotwin_autopilot.estimator.pose import LevelVisionPose
from aerotwin_autopilot.estimator.vision import anchor
from aerotwin_autopilot.parameters import EstimatorParameters
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

Triple = tuple[float, float, float]

MAXIMUM_STEP_S = 0.05
"""Longer gaps between samples are limited to this: the motion in them is unknown anyway."""
SETTLING_S = 2.0
LOST_AFTER_S = 5.0
"""Without a fix or a pose for this long there is no position (as PX4's EKF2_NOAID_TOUT)."""
VISION_START_S = 3.0  # without any fix for this long vision alone may set the local frame
VISION_POSES = 5
VISION_GAP_S = 1.0  # vision that returns after a longer gap has a new frame
VISION_STREAK = 20  # poses rejected in a row before the vision frame counts as moved
READY_STD = {"position": 1.5, "velocity": 0.5, "tilt": 0.05, "heading": 0.15}
"""Largest standard deviations [m, m/s, rad, rad] with which the vehicle may arm."""


class Estimator:
    """Position, velocity, attitude, rates and biases from the sensors alone.

    The local origin is chosen as the mean of the first GNSS fixes, so its coordinates are exact.
    The initial position of the vehicle in this frame is as uncertain as those fixes, and that error
    equals the correlated GNSS error at the start: the covariance includes this, so the path since
    the start is known far better than the absolute position. With vision and without GNSS, local
    axes are those of the vision; else they are east, north, up. Body axes are forward, left, up.

    `arena` is the memory of the compiled step, a new one by default; `now_s` the time of the last
    sample, set by the caller of the compiled step.
    """

    def __init__(self, parameters: EstimatorParameters, arena: Arena | None = None) -> None:
        self.parameters = parameters
        self.plane: LocalTangentPlane | None = None
        self.is_initialised = False
        self.uses_gnss = False
        self.n_vision_resets = 0
        self.arena = arena if arena is not None else Arena()
        record = self.arena.record
        self.output = record["output"]
        self.output[layout.O_ATTITUDE + 3] = 1.0
        self.state = record["state"]
        self.monitor = record["monitor"]
        self.reading = record["reading"]
        self.context = record["context"]
        self._position_variances = record["covariance"].diagonal()[: layout.E_VELOCITY]
        self._still = StandStill()
        self._first_fixes: list[Triple] = []
        self._reported: tuple[float, float] = (0.0, 0.0)
        self._first_poses: list[LevelVisionPose] = []
        self._pose_reset: int | None = None
        self._initialised_at = math.inf
        self._last_fix_at = self._last_pose_at = -math.inf
        self.now_s = 0.0

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the delayed state, (n, n) for the n active errors."""
        n = int(self.arena.cursor[layout.C_ALIVE])
        return self.arena.record["covariance"][:n, :n]

    def present_covariance(self) -> np.ndarray:
        """Return the covariance of `output`: position, velocity, attitude first."""
        n = int(self.arena.cursor[layout.C_ALIVE])
        out = np.empty((n, layout.N_ERROR))
        covariance_at_present(out, self.arena.memory)
        return out[:, :n]

    def step(self, time_s: float, dt: float, provided: int) -> None:
        """Process the inertial sample in `reading` and advance `output` to its time.

        `time_s`, `dt`: time of the sample and since the last one [s]. `provided`: bit 0: new
        magnetic field; bit 1: new pressure altitude.
        """
        self.now_s = time_s
        if self.is_initialised:
            dt = min(dt, MAXIMUM_STEP_S)
            estimate(self.arena.memory, time_s, dt, provided)
        else:
            self._still.add(dt, self.reading, provided)
            self._try_to_initialise(time_s)

    # --- GNSS ------------------------------------------------------------------------------

    def add_fix(
        self, time_s: float, position: Triple, v_enu: Triple, reported_m: tuple[float, float]
    ) -> None:
        """Add a GNSS fix that arrived at time_s.

        `position` is latitude, longitude [deg], altitude [m]; `v_enu` the velocity [m/s];
        `reported_m` the horizontal and vertical accuracy reported by the receiver, 1 sigma [m].
        """
        self._last_fix_at = time_s
        if not self.is_initialised:
            self._first_fixes.append(position)
            del self._first_fixes[: -self.parameters.origin_fixes]
            self._reported = reported_m
            return
        cursor = self.arena.cursor
        count = int(cursor[layout.C_FIX_COUNT])
        if self.plane is None or not self.uses_gnss or count >= layout.FIX_LENGTH:
            return
        fixes = self.arena.record["fixes"]
        row = fixes[(int(cursor[layout.C_FIX_HEAD]) + count) % layout.FIX_LENGTH]
        row[layout.F_TIME] = time_s - self.parameters.gnss_delay_s
        row[layout.F_POSITION : layout.F_POSITION + 3] = self.plane.from_geodetic(*position)
        row[layout.F_VELOCITY : layout.F_VELOCITY + 3] = v_enu
        row[layout.F_SCALE :] = [
            max(1.0, now / first) if first > 0.0 else 1.0
            for now, first in zip(reported_m, self._reported, strict=True)
        ]
        cursor[layout.C_FIX_COUNT] += 1

    # --- external vision -------------------------------------------------------------------

    def add_pose(self, pose: LevelVisionPose) -> str:
        """Add a pose of external vision; return a message for the pilot, or an empty text.

        The first pose of a frame anchors it (see `vision`), unless vision alone sets the local
        frame. A frame is new when the sender's reset counter changes, after a gap, and when the
        filter has rejected it for long.
        """
        gap = pose.arrival_s - self._last_pose_at
        self._last_pose_at = pose.arrival_s
        if not self.is_initialised:
            self._first_poses = [*self._first_poses[1 - VISION_POSES :], pose]
            return ""
        is_first = self._pose_reset is None
        has_moved = not is_first and (
            pose.reset_counter != self._pose_reset
            or gap > VISION_GAP_S
            or self.monitor[layout.M_VISION_STREAK] >= VISION_STREAK
        )
        row = pose.row(self.parameters)
        if pose.has_position and (is_first or has_moved):
            self._anchor(pose, row)
            self._pose_reset = pose.reset_counter
            self.n_vision_resets += has_moved
            return "Vision frame reset" if has_moved else "Vision: in use"
        self._queue(row)
        return ""

    def _anchor(self, pose: LevelVisionPose, row: np.ndarray) -> None:
        seen = self.state.copy()
        seen[: layout.X_GYRO] = self.output[: layout.O_RATE]
        seen[:3] -= (self.now_s - row[layout.V_TIME]) * seen[3:6]
        covariance = self.arena.record["covariance"]
        anchor(seen, covariance, row, is_aligned=pose.is_aligned and self.uses_gnss)
        self.state[layout.X_DATUM :] = seen[layout.X_DATUM :]
        self.monitor[layout.M_VISION_STREAK] = 0.0
        cursor = self.arena.cursor
        cursor[layout.C_ALIVE] = layout.N_ERROR
        cursor[layout.C_VISION_COUNT] = 0

    def _queue(self, row: np.ndarray) -> None:
        cursor = self.arena.cursor
        count = int(cursor[layout.C_VISION_COUNT])
        if count < layout.VISION_LENGTH:
            poses = self.arena.record["poses"]
            head = int(cursor[layout.C_VISION_HEAD])
            poses[(head + count) % layout.VISION_LENGTH] = row
            cursor[layout.C_VISION_COUNT] += 1

    def set_origin(self, origin: GeodeticPoint) -> bool:
        """Set the local origin on Earth; False where GNSS provides it or before initialisation."""
        if self.uses_gnss or not self.is_initialised:
            return False
        self.plane = LocalTangentPlane(origin)
        return True

    # --- the start -------------------------------------------------------------------------

    def _try_to_initialise(self, time_s: float) -> None:
        p = self.parameters
        if self._still.duration < p.alignment_s or self._still.n_height == 0:
            return
        if len(self._first_fixes) >= p.origin_fixes and self._still.n_field:
            self._start_on_gnss()
        elif self._may_start_on_vision(time_s):
            self._start_on_vision()
        else:
            return
        still = self._still
        self.state[layout.X_GYRO : layout.X_GYRO + 3] = still.gyro / still.n_inertial
        previous = self.arena.record["previous"]
        previous[:3], previous[3:] = still.accel / still.n_inertial, still.gyro / still.n_inertial
        self.output[: layout.O_RATE] = self.state[: layout.O_RATE]
        self._initialised_at = time_s
        self.is_initialised = True

    def _start_on_gnss(self) -> None:
        p, still = self.parameters, self._still
        latitude, longitude, altitude = np.mean(np.array(self._first_fixes), axis=0)
        origin = GeodeticPoint(
            latitude_deg=float(latitude), longitude_deg=float(longitude), altitude_m=float(altitude)
        )
        self.plane = LocalTangentPlane(origin)
        field_angle = math.pi / 2 - math.radians(declination_deg(p, origin))
        attitude = level(still.accel, still.field_body, field_angle)
        east, north, up = attitude.apply(still.field_body)
        errors = gnss_errors(p, self._reported)
        self._set_noise(errors, field_angle, float(up / math.hypot(east, north)))
        self.state[layout.X_ATTITUDE : layout.X_ATTITUDE + 4] = attitude.as_quat(canonical=True)
        self.state[layout.X_BARO] = still.height / still.n_height - origin.altitude_m
        self.covariance[:] = first_covariance(attitude.as_matrix(), still.field_body, p, errors)
        self.context["height_datum_m"] = origin.altitude_m
        self.context["uses_field"] = 1.0
        self.uses_gnss = True

    def _may_start_on_vision(self, time_s: float) -> bool:
        return (
            len(self._first_poses) == VISION_POSES
            and self._first_poses[-1].has_position
            and self._first_poses[-1].has_yaw
            and time_s - self._last_pose_at < VISION_GAP_S
            and time_s - self._last_fix_at > VISION_START_S
            and self._still.duration > VISION_START_S
        )

    def _start_on_vision(self) -> None:
        """Use the vision's frame as the local one: its position and its yaw, by definition."""
        p, still, pose = self.parameters, self._still, self._first_poses[-1]
        attitude = level(still.accel, np.array([1.0, 0.0, 0.0]), pose.yaw)
        self._set_noise(gnss_errors(p, (0.0, 0.0)), 0.0, 0.0)
        self.state[:3] = pose.position
        self.state[layout.X_ATTITUDE : layout.X_ATTITUDE + 4] = attitude.as_quat(canonical=True)
        self.context["height_datum_m"] = still.height / still.n_height
        self.state[layout.X_BARO] = -self.state[2]
        self.covariance[:] = first_covariance_in_vision(attitude.as_matrix(), p, pose.row(p))
        self.context["uses_field"] = 0.0
        self._pose_reset = pose.reset_counter

    def _set_noise(self, errors: GnssErrors, field_angle: float, field_slope: float) -> None:
        numbers = filter_noise(self.parameters, errors, field_angle, field_slope)
        self.arena.record["noise"] = numbers
        self.gnss_errors = errors

    # --- queries ---------------------------------------------------------------------------

    @property
    def has_vision(self) -> bool:
        """True while external vision is in use."""
        return self._pose_reset is not None and self.now_s - self._last_pose_at < LOST_AFTER_S

    @property
    def has_gnss(self) -> bool:
        """True while GNSS is in use."""
        return self.uses_gnss and self.now_s - self._last_fix_at < LOST_AFTER_S

    @property
    def is_position_valid(self) -> bool:
        """True while fixes or poses arrive and the position is accurate enough to fly."""
        return (
            self.is_initialised
            and (self.has_gnss or self.has_vision)
            and all(
                variance < READY_STD["position"] ** 2
                for variance in self._position_variances.tolist()
            )
        )

    def standard_deviations(self) -> dict[str, float]:
        """Return the largest standard deviation of each block [m, m/s, rad, rad]."""
        v = np.diagonal(self.covariance).tolist()
        e = layout
        return {
            "position": math.sqrt(max(v[e.E_POSITION : e.E_POSITION + 3])),
            "velocity": math.sqrt(max(v[e.E_VELOCITY : e.E_VELOCITY + 3])),
            "tilt": math.sqrt(max(v[e.E_ATTITUDE : e.E_ATTITUDE + 2])),
            "heading": math.sqrt(v[e.E_ATTITUDE + 2]),
        }

    def innovations(self) -> dict[str, float]:
        """Return the normalised innovation squared of each group, low-passed; 1 is consistent."""
        m, groups = self.monitor, layout
        return {
            "vel": float(m[groups.M_VELOCITY]),
            "pos": float(m[groups.M_HORIZONTAL]),
            "hgt": float(m[groups.M_VERTICAL]),
            "baro": float(m[groups.M_BARO]),
            "mag": float(m[groups.M_HEADING]),
            "ev": float(m[groups.M_VISION]),
            "evyaw": float(m[groups.M_VISION_YAW]),
        }

    def refusals(self) -> list[str]:
        """Return why the estimate is not good enough to arm, as text; empty when it is."""
        if not self.is_initialised:
            return [self._missing_for_alignment()]
        reasons = [
            f"estimator: {name} uncertain ({value:.2f}, limit {READY_STD[name]:.2f})"
            for name, value in self.standard_deviations().items()
            if value > READY_STD[name]
        ]
        if not self.has_gnss and not self.has_vision:
            source = "GNSS fix" if self.uses_gnss else "vision"
            reasons.append(f"no {source} for {LOST_AFTER_S:g} s")
        if self.now_s - self._initialised_at < SETTLING_S:
            reasons.append("estimator settling")
        return reasons

    def _missing_for_alignment(self) -> str:
        if self._still.duration < self.parameters.alignment_s:
            return "aligning: keep the vehicle still"
        if self._still.missing:
            return self._still.missing
        return f"waiting for GNSS ({len(self._first_fixes)} of {self.parameters.origin_fixes})"
