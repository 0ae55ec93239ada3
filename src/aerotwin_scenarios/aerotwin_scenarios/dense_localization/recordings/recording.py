# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a camera or a pair, image by image, how they are read, and external poses."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.frames import (
    R_CAM_OPTICAL,
    FloatArray,
    invert_transform,
    make_transform,
    quaternion_from_rotation,
)
from aerotwin_core.geodesy import GeodeticPoint, is_geodetic
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_registration.geo_reference import GnssAlignment, align_to_gnss
from aerotwin_stereo_odometry import StereoOdometry

MAX_GAP_S = 0.5
"""Between poses that are interpolated: within it a vehicle does not turn about."""
_NO_FIX = -1  # NavSatStatus.STATUS_NO_FIX
TRUTH = "truth"
BASE, OPTICAL = "base", "optical"
"""Frame of the input poses: the vehicle, or the camera's optical frame."""
LEFT, RIGHT = "left", "right"


class StereoPair(NamedTuple):
    """A rectified pair of one instant [ns]; the left image keeps its colours."""

    stamp_ns: int
    left: np.ndarray
    right: np.ndarray


class PosedPair(NamedTuple):
    """A pair and the pose of its left camera's optical frame, None if unknown."""

    pair: StereoPair
    T_map_left: FloatArray | None


@dataclass(frozen=True, kw_only=True, eq=False)
class ExternalPoses:
    """Poses of a body that carries a camera."""

    trajectory: Trajectory
    T_body_cam: FloatArray  # (4, 4): pose of the camera's optical frame on the body
    source: str  # origin of the poses
    is_truth: bool = False  # whether they are the true poses
    frame: str = ""  # their reference frame; empty if unknown

    def at(self, stamp_ns: int) -> FloatArray | None:
        """Return T_map_cam at a stamp [ns], None outside of the poses or in a gap of them."""
        T = self._body_at(stamp_ns)
        return None if T is None else T @ self.T_body_cam

    def of_camera(self, stamps_ns: np.ndarray) -> Trajectory:
        """Return the poses of the camera at those of the stamps (n,) [ns] where they are known."""
        known = [(stamp, T) for stamp in stamps_ns.tolist() if (T := self.at(stamp)) is not None]
        return trajectory_of([s for s, _ in known], [T for _, T in known])

    def _body_at(self, stamp_ns: int) -> FloatArray | None:
        stamps = self.trajectory.stamps_ns
        after = int(np.searchsorted(stamps, stamp_ns))
        if after < len(stamps) and stamps[after] == stamp_ns:
            return self.trajectory.select(np.array([after])).transforms()[0]
        if after in (0, len(stamps)) or stamps[after] - stamps[after - 1] > MAX_GAP_S * 1e9:
            return None
        return self.trajectory.interpolate(np.array([stamp_ns])).transforms()[0]


def posed(pairs: Iterable[StereoPair], poses: ExternalPoses) -> Iterator[PosedPair]:
    """Yield pairs with the input poses."""
    for pair in pairs:
        yield PosedPair(pair, poses.at(pair.stamp_ns))


def trajectory_of(stamps_ns: list[int], transforms: list[FloatArray]) -> Trajectory:
    """Return poses T_ref_body at stamps [ns] as a trajectory."""
    T = np.array(transforms).reshape(-1, 4, 4)
    turns = [quaternion_from_rotation(R) for R in T[:, :3, :3]]
    return Trajectory(
        np.array(stamps_ns, np.int64), T[:, :3, 3], np.array(turns, float).reshape(-1, 4)
    )


class OwnOdometry:
    """Poses by the workspace's stereo odometry, pair by pair; `odom` is the body at the first.

    `T_base_left` is the pose of the left camera on the body; without it, it is assumed to look
    ahead and level at first. `n_lost` counts the pairs at which tracking was lost.
    """

    def __init__(self, rig: StereoRig, T_base_left: FloatArray | None) -> None:
        ahead = make_transform(R_CAM_OPTICAL, [0.0, 0.0, 0.0])
        self._T_base_left = ahead if T_base_left is None else T_base_left
        self._odometry = StereoOdometry(rig, T_odom_optical_first=self._T_base_left)
        self._stamps: list[int] = []
        self._bodies: list[FloatArray] = []
        self.n_lost = 0

    def follow(self, pairs: Iterable[StereoPair]) -> Iterator[PosedPair]:
        """Yield pairs with their poses; None where tracking was lost."""
        T_left_base = invert_transform(self._T_base_left)
        for pair in pairs:
            frame = self._odometry.track(pair.stamp_ns, grey_of(pair.left), pair.right)
            self.n_lost += not frame.is_tracked
            self._stamps.append(pair.stamp_ns)
            self._bodies.append(frame.T_odom_optical @ T_left_base)
            yield PosedPair(pair, frame.T_odom_optical if frame.is_tracked else None)

    def align_to(
        self, stamps_ns: np.ndarray, fixes: FloatArray, origin: GeodeticPoint
    ) -> GnssAlignment:
        """Return the alignment of the path so far to GNSS fixes: heading and translation.

        `fixes` (n, 3) are latitude [deg], longitude [deg], height above the ellipsoid [m]; `origin`
        is that of the map.
        """
        path = trajectory_of(self._stamps, self._bodies)
        is_in = np.zeros(len(stamps_ns), bool)
        if len(path) >= 2:
            is_in = (stamps_ns >= path.stamps_ns[0]) & (stamps_ns <= path.stamps_ns[-1])
        places = path.interpolate(stamps_ns[is_in]).p_ref_body if is_in.any() else np.empty((0, 3))
        return align_to_gnss(places, fixes[is_in], origin)


def place_of(fix: FloatArray) -> GeodeticPoint:
    """Return the position of a fix (3,): latitude [deg], longitude [deg], height [m]."""
    latitude_deg, longitude_deg, altitude_m = fix.tolist()
    return GeodeticPoint(
        latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude_m=altitude_m
    )


def fixes_of(messages: Iterable[Any]) -> tuple[np.ndarray, FloatArray]:
    """Return stamps (n,) [ns] and latitude, longitude, height (n, 3) of NavSatFix with a fix."""
    rows = [
        (stamp_ns(m), (m.latitude, m.longitude, m.altitude))
        for m in messages
        if m.status.status > _NO_FIX and is_geodetic(m.latitude, m.longitude, m.altitude)
    ]
    return np.array([s for s, _ in rows], np.int64), np.array([p for _, p in rows]).reshape(-1, 3)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a recording is read."""

    # topic of the bag by its name in this workspace
    topics: Mapping[str, str] = field(default_factory=dict)
    part: slice = field(default_factory=lambda: slice(None))  # range of the images, counted from 0
    # `BASE` or `OPTICAL`: frame whose poses are in files, topics and on the command line
    poses_of: str = BASE
    # (4, 4): pose of the camera's optical frame on the vehicle; None: from /tf_static
    T_base_cam: FloatArray | None = None
    is_rectified: bool = False  # images are undistorted, whatever their calibration says

    def n_of(self, n: int) -> int:
        """Return how many of n images are in the range."""
        return len(range(*self.part.indices(n)))

    def taken(self, pictures: Iterator[Any]) -> Iterator[Any]:
        """Return the images in the range."""
        return islice(pictures, self.part.start, self.part.stop, self.part.step)


@dataclass(frozen=True, kw_only=True, eq=False)
class CameraRecording:
    """The images of a camera or a pair, and poses of its carrier."""

    name: str
    camera: PinholeCamera  # of the delivered, undistorted images
    baseline_m: float = 0.0  # to the right camera; 0 for a single camera
    # (4, 4): pose of the (left) camera's optical frame on the vehicle; None if unknown
    T_base_cam: FloatArray | None
    # (4, 4): the same on the body of the input poses, the vehicle or the camera itself
    T_body_cam: FloatArray | None
    n_pictures: int  # expected number
    # returns a new iterator over (stamp_ns, image), or over `StereoPair`
    pictures: Callable[[], Iterator[Any]]
    # returns the `ExternalPoses` of a token: `truth`, a topic or a file; None: the default
    poses: Callable[[str | None], ExternalPoses]
    bag: BagReader | None = None

    @property
    def rig(self) -> StereoRig:
        """The stereo rig."""
        return StereoRig(camera=self.camera, baseline_m=self.baseline_m)
