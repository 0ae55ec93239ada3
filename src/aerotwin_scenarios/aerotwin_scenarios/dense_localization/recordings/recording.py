# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What was recorded by a camera or a pair, picture after picture, and how it is to be read."""

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
"""Whose poses are given: those of the vehicle, or of the camera's optical frame."""
LEFT, RIGHT = "left", "right"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a recording is read.

    Attributes
    ----------
    topics : mapping
        Topic of the bag by the name that it has in this workspace.
    part : slice
        Which of the pictures, counted from 0.
    poses_of : str
        `BASE` or `OPTICAL`: whose poses are in files, topics and on the command line.
    T_base_cam : (4, 4) array or None
        Where the camera's optical frame sits on the vehicle; None: as /tf_static says.
    is_rectified : bool
        Pictures are without distortion, whatever their calibration says.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    part: slice = field(default_factory=lambda: slice(None))
    poses_of: str = BASE
    T_base_cam: FloatArray | None = None
    is_rectified: bool = False

    def n_of(self, n: int) -> int:
        """Return how many of n pictures are taken."""
        return len(range(*self.part.indices(n)))

    def taken(self, pictures: Iterator[Any]) -> Iterator[Any]:
        """Return those of the pictures that are taken."""
        return islice(pictures, self.part.start, self.part.stop, self.part.step)


@dataclass(frozen=True, kw_only=True, eq=False)
class CameraRecording:
    """What a camera or a pair recorded, and poses of what carried it.

    Attributes
    ----------
    name : str
    camera : PinholeCamera
        Of the pictures as they are given: without distortion.
    baseline_m : float
        To the right camera [m]; 0 of one camera alone.
    T_base_cam : (4, 4) array or None
        Where the (left) camera's optical frame sits on the vehicle; None if nobody says so.
    T_body_cam : (4, 4) array or None
        The same of the body whose poses are given, the vehicle or the camera itself.
    n_pictures : int
        To expect.
    pictures : callable
        Returns an iterator over (stamp_ns, image), or over `StereoPair`, anew at each call.
    poses : callable
        Returns the `ExternalPoses` that a word names: `truth`, a topic or a file; None: the usual.
    bag : BagReader or None
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
        """The pair."""
        return StereoRig(camera=self.camera, baseline_m=self.baseline_m)
