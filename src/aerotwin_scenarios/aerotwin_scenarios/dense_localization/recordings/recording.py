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
