# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a camera or a pair, image by image, and how they are read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from aerotwin_core.bag import BagReader
from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.frames import FloatArray
from aerotwin_scenarios.dense_localization.recordings.external_poses import ExternalPoses

TRUTH = "truth"
BASE, OPTICAL = "base", "optical"
"""Frame of the input poses: the vehicle, or the camera's optical frame."""
LEFT, RIGHT = "left", "right"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a recording is read.

    Attributes
    ----------
    topics : mapping
        Topic of the bag by its name in this workspace.
    part : slice
        Range of the images, counted from 0.
    poses_of : str
        `BASE` or `OPTICAL`: frame whose poses are in files, topics and on the command line.
    T_base_cam : (4, 4) array or None
        Pose of the camera's optical frame on the vehicle; None: from /tf_static.
    is_rectified : bool
        Images are undistorted, whatever their calibration says.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    part: slice = field(default_factory=lambda: slice(None))
    poses_of: str = BASE
    T_base_cam: FloatArray | None = None
    is_rectified: bool = False

    def n_of(self, n: int) -> int:
        """Return how many of n images are in the range."""
        return len(range(*self.part.indices(n)))

    def taken(self, pictures: Iterator[Any]) -> Iterator[Any]:
        """Return the images in the range."""
        return islice(pictures, self.part.start, self.part.stop, self.part.step)


@dataclass(frozen=True, kw_only=True, eq=False)
class CameraRecording:
    """The images of a camera or a pair, and poses of its carrier.

    Attributes
    ----------
    camera : PinholeCamera
        Of the delivered, undistorted images.
    baseline_m : float
        To the right camera; 0 for a single camera.
    T_base_cam : (4, 4) array or None
        Pose of the (left) camera's optical frame on the vehicle; None if unknown.
    T_body_cam : (4, 4) array or None
        The same on the body of the input poses, the vehicle or the camera itself.
    n_pictures : int
        Expected number.
    pictures : callable
        Returns a new iterator over (stamp_ns, image), or over `StereoPair`.
    poses : callable
        Returns the `ExternalPoses` of a token: `truth`, a topic or a file; None: the default.
    """

    name: str
    camera: PinholeCamera
    baseline_m: float = 0.0
    T_base_cam: FloatArray | None
    T_body_cam: FloatArray | None
    n_pictures: int
    pictures: Callable[[], Iterator[Any]]
    poses: Callable[[str | None], ExternalPoses]
    bag: BagReader | None = None

    @property
    def rig(self) -> StereoRig:
        """The stereo rig."""
        return StereoRig(camera=self.camera, baseline_m=self.baseline_m)
