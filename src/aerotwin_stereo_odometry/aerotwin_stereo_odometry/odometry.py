# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo odometry: features, stereo depth, pose, windowed bundle adjustment."""

from dataclasses import dataclass

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import StereoRig
from aerotwin_stereo_odometry.covariance import compose_covariance, increment_to_odom
from aerotwin_stereo_odometry.frame import PreparedImage, prepare_image
from aerotwin_stereo_odometry.landmarks import Landmarks
from aerotwin_stereo_odometry.map_builder import PointMapBuilder
from aerotwin_stereo_odometry.matching import LandmarkMatch, LandmarkMatcher, in_camera, project
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.surveyor import Surveyor
from aerotwin_stereo_odometry.window import KeyframeWindow, OdometryKeyframe

LOST_STD_M_S = 3.0  # growth of the position's standard deviation while nothing is seen
LOST_STD_RAD_S = 0.5
LOST_DECAY = 0.9  # of the velocity per lost frame: no vehicle flies blind for long
MIN_VARIANCE = 1e-10  # keeps covariances invertible at the first frame
UNKNOWN_STD = 1e3  # of a twist that nothing is known about [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class StereoOdometryFrame:
    """Estimate after a stereo frame.

    Attributes
    ----------
    stamp_ns : int
    T_odom_optical : (4, 4) array
        Pose of the left camera (x right, y down, z forward) in odom.
    covariance : (6, 6) array
        Of that pose: position, rotation vector; odom axes [m, rad].
    frame_covariance : (6, 6) array
        The same with the local map assumed exact: the uncertainty of this frame's measurements.
    is_tracked : bool
        False: the pose is an extrapolation, and the covariance is inflated accordingly.
    is_keyframe : bool
        The frame entered the local map.
    n_features, n_inliers : int
        Landmarks that should be visible, and those found and consistent.
    """

    stamp_ns: int
    T_odom_optical: np.ndarray
    covariance: np.ndarray
    frame_covariance: np.ndarray
    is_tracked: bool
    is_keyframe: bool
    n_features: int
    n_inliers: int


@dataclass(frozen=True, kw_only=True)
class _Seen:
    stamp_ns: int
    image: PreparedImage
    T_cam_odom: np.ndarray


class StereoOdometry:
    """Tracks a rectified stereo pair through a static world.

    Parameters
    ----------
    rig : StereoRig
        Cameras and baseline.
    T_odom_optical_first : (4, 4) array, optional
        Pose of the left camera at the first frame; identity by default.
    """

    def __init__(
        self,
        rig: StereoRig,
        parameters: StereoOdometryParameters | None = None,
        *,
        T_odom_optical_first=None,
    ):
        self.parameters = parameters or StereoOdometryParameters()
        self._rig = rig
        camera = rig.camera
        self._camera_row = np.array([camera.fx, camera.fy, camera.cx, camera.cy, rig.baseline_m])
        first = np.eye(4) if T_odom_optical_first is None else T_odom_optical_first
        self._T_cam_odom = np.linalg.inv(first)
        self._covariance = np.zeros((6, 6))
        self._frame_covariance = np.zeros((6, 6))
        self._velocity = np.zeros(6)  # left increment per second (translation, rotation vector)
        self._matcher = LandmarkMatcher(camera, self._camera_row, self.parameters)
        self._window = KeyframeWindow(self._camera_row, self.parameters)
        self._surveyor = Surveyor(rig, self.parameters)
        self._map = PointMapBuilder(self._camera_row, self.parameters)
        self._previous: _Seen | None = None
        self._stamp_ns = 0
        self._n_lost = 0
        self._next_ident = 0
        cv2.setNumThreads(self.parameters.threads)

    def track(self, stamp_ns: int, left, right) -> StereoOdometryFrame:
        """Return the pose after a rectified stereo pair (h, w) uint8; stamps increase."""
        self._check(stamp_ns, left, right)
        image = self._prepare(left)
        before = self._previous
        if before is None or self._n_lost > self.parameters.max_lost_frames:
            return self._start(stamp_ns, image, right)
        T_guess = self._extrapolate(stamp_ns)
        match = self._matcher.match(
            self._window.landmarks, before.image, image, before.T_cam_odom, T_guess
        )
        if match is None:
            return self._lose(stamp_ns, T_guess)
        self._accept(stamp_ns, match, before)
        is_keyframe = self._needs_keyframe(match)
        if is_keyframe:
            self._add_keyframe(stamp_ns, image, self._prepare(right), match)
        self._remember(stamp_ns, image)
        return self._result(True, is_keyframe, match.n_sought, len(match.rows))

    def map_points(self):
        """Return the map: points in odom (n, 3) [m] and their brightness (n,) [DN]."""
        cloud = self._map.points(self._window.landmarks)
        return cloud.points, cloud.intensity

    def _check(self, stamp_ns, left, right):
        expected = (self._rig.camera.height, self._rig.camera.width)
        for name, image in (("left", left), ("right", right)):
            if image.shape != expected or image.dtype != np.uint8:
                raise ValueError(
                    f"{name} must be {expected} uint8, got {image.shape} {image.dtype}; "
                    "give rectified grey images of the rig's size."
                )
        if self._previous is not None and stamp_ns <= self._stamp_ns:
            raise ValueError(f"stamp_ns must grow, got {stamp_ns} after {self._stamp_ns}.")

    def _prepare(self, image):
        return prepare_image(image, smoothing_px=self.parameters.smoothing_px)

    def _extrapolate(self, stamp_ns):
        dt = 1e-9 * (stamp_ns - self._stamp_ns)
        step = np.eye(4)
        step[:3, :3] = Rotation.from_rotvec(self._velocity[3:] * dt).as_matrix()
        step[:3, 3] = self._velocity[:3] * dt
        return step @ self._T_cam_odom

    def _start(self, stamp_ns, image, right):
        """Start a local map at the extrapolated pose."""
        if self._previous is not None:
            self._T_cam_odom = self._extrapolate(stamp_ns)
            self._grow_covariance(stamp_ns)
        was_lost = self._n_lost > 0
        self._map.settle()
        self._map.add_landmarks(self._window.landmarks)
        self._window = KeyframeWindow(self._camera_row, self.parameters)
        self._add_keyframe(stamp_ns, image, self._prepare(right), None)
        n = len(self._window.landmarks)
        is_good = n >= self.parameters.min_inliers
        # a failed start is retried with the next frame
        self._n_lost = 0 if is_good else self.parameters.max_lost_frames + 1
        self._remember(stamp_ns, image)
        return self._result(is_good and not was_lost, is_good, n, n if is_good else 0)

    def _lose(self, stamp_ns, T_guess):
        """Extrapolate at constant velocity, and report it."""
        self._grow_covariance(stamp_ns)
        self._n_lost += 1
        self._velocity = LOST_DECAY * self._velocity
        self._T_cam_odom = T_guess
        self._stamp_ns = stamp_ns
        return self._result(False, False, int(self._window.landmarks.is_tracked.sum()), 0)

    def _grow_covariance(self, stamp_ns):
        dt = 1e-9 * (stamp_ns - self._stamp_ns)
        std = np.repeat([LOST_STD_M_S * dt, LOST_STD_RAD_S * dt], 3)
        before = np.sqrt(np.diag(self._covariance))
        self._frame_covariance = np.diag((before + std) ** 2 - before**2)
        self._covariance = self._covariance + self._frame_covariance

    def _accept(self, stamp_ns, match: LandmarkMatch, before: "_Seen"):
        """Store the pose, the velocity and the pixels of the landmarks."""
        dt = 1e-9 * (stamp_ns - before.stamp_ns)
        T = match.pose.T_cam_odom
        step = T @ np.linalg.inv(before.T_cam_odom)
        turn = Rotation.from_matrix(step[:3, :3]).as_rotvec()
        self._velocity = np.concatenate([step[:3, 3], turn]) / dt
        self._T_cam_odom = T
        self._covariance = self._chain_covariance(match.pose)
        self._n_lost = 0
        landmarks = self._window.landmarks
        landmarks.n_missed += 1
        landmarks.n_missed[match.rows] = 0
        landmarks.uv[match.rows] = match.uv
        landmarks.is_tracked &= landmarks.n_missed <= self.parameters.max_missed_frames

    def _chain_covariance(self, pose):
        base = self._window.keyframes[-1]
        T = pose.T_cam_odom
        displacement = -T[:3, :3].T @ T[:3, 3] - base.p_odom_cam
        self._frame_covariance = increment_to_odom(pose.covariance, T)
        return compose_covariance(base.covariance, displacement, self._frame_covariance)

    def _needs_keyframe(self, match: LandmarkMatch):
        p = self.parameters
        key = self._window.keyframes[-1]
        landmarks = self._window.landmarks
        common = np.isin(landmarks.ident[match.rows], key.ident)
        if common.sum() < p.keyframe_share * len(key.ident):
            return True
        rows = match.rows[common]
        # parallax: image motion with the rotation removed
        rays = in_camera(key.T_cam_odom, landmarks.points[rows])
        R = self._T_cam_odom[:3, :3] @ key.T_cam_odom[:3, :3].T
        motion = match.uv[common] - project(rays @ R.T, self._rig.camera)
        parallax = np.nanmedian(np.linalg.norm(motion, axis=1)) / self._rig.camera.fx
        return bool(parallax > p.keyframe_parallax)

    def _add_keyframe(self, stamp_ns, left, right, match: LandmarkMatch | None):
        """Measure disparities, add new landmarks, adjust the window."""
        seen = self._surveyor.seen_again(
            self._window.landmarks, match, self._T_cam_odom, left, right
        )
        born, measured = self._surveyor.new_landmarks(
            self._next_ident, self._T_cam_odom, left, right, occupied_uv=seen.measured[:, :2]
        )
        self._next_ident += len(born)
        self._window.landmarks = Landmarks.joined([self._window.landmarks, born])
        self._window.add(
            OdometryKeyframe(
                stamp_ns=stamp_ns,
                T_cam_odom=self._T_cam_odom,
                covariance=self._covariance,
                ident=np.concatenate([seen.ident, measured.ident]),
                measured=np.concatenate([seen.measured, measured.measured]),
                weights=np.concatenate([seen.weights, measured.weights]),
                left=left.smooth,
                right=right.smooth,
            )
        )
        self._window.adjust()
        self._map.add_landmarks(self._window.retire())
        self._map.add_keyframe(self._window.keyframes, self._window.landmarks)
        self._T_cam_odom = self._window.keyframes[-1].T_cam_odom

    def _remember(self, stamp_ns, image):
        self._previous = _Seen(stamp_ns=stamp_ns, image=image, T_cam_odom=self._T_cam_odom)
        self._stamp_ns = stamp_ns

    def _result(self, is_tracked, is_keyframe, n_features, n_inliers):
        return StereoOdometryFrame(
            stamp_ns=self._stamp_ns,
            T_odom_optical=np.linalg.inv(self._T_cam_odom),
            covariance=_symmetric(self._covariance),
            frame_covariance=_symmetric(self._frame_covariance),
            is_tracked=is_tracked,
            is_keyframe=is_keyframe,
            n_features=n_features,
            n_inliers=n_inliers,
        )


def _symmetric(covariance):
    return 0.5 * (covariance + covariance.T) + MIN_VARIANCE * np.eye(6)


@dataclass(frozen=True, kw_only=True)
class BodyOdometry:
    """Odometry of the body."""

    stamp_ns: int
    # T_odom_body and pose_covariance: pose, and its covariance: position, rotation vector; odom
    # axes [m, rad]
    T_odom_body: np.ndarray  # (4, 4)
    pose_covariance: np.ndarray  # (6, 6)
    # twist_in_body and twist_covariance: mean velocity and angular velocity since the previous
    # frame, body axes [m/s, rad/s]
    twist_in_body: np.ndarray  # (6,)
    twist_covariance: np.ndarray  # (6, 6)


def body_odometry(
    frame: StereoOdometryFrame, T_body_optical, before: BodyOdometry | None
) -> BodyOdometry:
    """Return the odometry of a body with a camera at `T_body_optical`, its twist since `before`."""
    T_odom_body = frame.T_odom_optical @ np.linalg.inv(T_body_optical)
    lever = T_odom_body[:3, 3] - frame.T_odom_optical[:3, 3]
    pose_covariance = compose_covariance(frame.covariance, lever, np.zeros((6, 6)))
    twist, twist_covariance = np.zeros(6), np.eye(6) * UNKNOWN_STD**2
    if before is not None:
        dt = 1e-9 * (frame.stamp_ns - before.stamp_ns)
        T_before_now = np.linalg.inv(before.T_odom_body) @ T_odom_body
        turn = Rotation.from_matrix(T_before_now[:3, :3]).as_rotvec()
        # mean attitude of the interval: axes halfway between the two frames
        half = Rotation.from_rotvec(-0.5 * turn).as_matrix()
        twist = np.concatenate([half @ T_before_now[:3, 3], turn]) / dt
        axes = np.kron(np.eye(2), T_odom_body[:3, :3].T)
        local = compose_covariance(frame.frame_covariance, lever, np.zeros((6, 6)))
        twist_covariance = axes @ (2.0 * local / dt**2) @ axes.T
    return BodyOdometry(
        stamp_ns=frame.stamp_ns,
        T_odom_body=T_odom_body,
        pose_covariance=pose_covariance,
        twist_in_body=twist,
        twist_covariance=0.5 * (twist_covariance + twist_covariance.T),
    )
