# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of a run of aerotwin: its bag, configuration and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import read_yaml
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.slam_poses import (
    frames_of_estimate,
    place_estimate,
    read_frame_stamps,
    read_poses,
)

TRUTH = "/truth/odom"
SLAM_ODOM = "/slam/odom"
SLAM_MAP = "/slam/map"
LEFT_INFO = "/stereo/left/camera_info"
LIDAR = "/lidar/points"
# metrics.json of a run is some 100 kB.
_LARGEST_METRICS_BYTES = 64 << 20
_FAILED = "The flight failed:"
_FLIGHT = ("world", "mission.file", "seed")
_OLD_NAMES = {
    "mission": "mission.file",
    **{f"camera_{name}": f"camera.{name}" for name in ("preset", "noise", "baseline_m")},
    **{f"wind_{name}": f"wind.{name}" for name in ("east_m_s", "north_m_s", "turbulence_m_s")},
}
"""Of runs that were recorded before parameters had groups."""


@dataclass(frozen=True)
class RunFolder:
    """A run folder opened for reading.

    `path` holds `bag/` and `config.yaml`; `configuration` is the content of the latter.
    """

    path: Path
    configuration: Mapping[str, Any]

    @cached_property
    def bag(self) -> BagReader:
        """Its bag.

        Raises
        ------
        UserError
            If there is none, or it cannot be read.
        """
        return BagReader(self.path / "bag")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the run, of groups with dots; empty where the configuration has none."""
        found = self.configuration.get("parameters")
        flat: dict[str, Any] = {}
        for name, value in found.items() if isinstance(found, Mapping) else ():
            if isinstance(value, Mapping):
                flat |= {f"{name}.{key}": inner for key, inner in value.items()}
            else:
                flat[str(_OLD_NAMES.get(name, name))] = value
        return flat

    @property
    def is_flight(self) -> bool:
        """Whether aerotwin's simulator flew it; False for a bag that was only evaluated."""
        return all(name in self.parameters for name in _FLIGHT)

    @property
    def keyframe_gap_s(self) -> float | None:
        """As in `TrajectoryProtocol`, for a SLAM that is known to write key-frames only."""
        slam = self.configuration.get("slam")
        trajectory = slam.get("trajectory") if isinstance(slam, Mapping) else None
        found = trajectory.get("keyframe_gap_s") if isinstance(trajectory, Mapping) else None
        return found if isinstance(found, float) and 0.0 < found < inf else None

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The sections of `metrics.json`; empty when the run has no report."""
        sections = self._report.get("sections")
        return sections if isinstance(sections, dict) else {}

    @property
    def failure(self) -> str:
        """Why the flight failed, by its report; empty when it did not, or has no report."""
        warnings = self._report.get("warnings")
        texts = [str(text) for text in warnings] if isinstance(warnings, list) else []
        return next((text for text in texts if text.startswith(_FAILED)), "")

    @cached_property
    def _report(self) -> Mapping[str, Any]:
        path = self.path / "metrics.json"
        if not path.is_file():
            return {}
        try:
            document = read_json(path, max_bytes=_LARGEST_METRICS_BYTES)
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: cannot be read as JSON ({error})") from None
        return document if isinstance(document, dict) else {}

    def truth(self) -> Trajectory | None:
        """Return T_map_base of the whole run, None when the bag has no truth."""
        if self.bag.counts.get(TRUTH, 0) < 2:
            return None
        return self.bag.trajectory(TRUTH)

    def estimate(self) -> Trajectory:
        """Return the SLAM's poses T_odom_base without those that it reported as lost.

        Raises
        ------
        UserError
            If the SLAM published none.
        """
        found = read_poses(self.bag, SLAM_ODOM).trajectory
        if len(found) == 0:
            raise UserError(f"{self.path}: no pose on {SLAM_ODOM} was tracked")
        return found

    def start_pose(self) -> np.ndarray | None:
        """Return T_map_odom (4, 4) from the truth at the first pose of the SLAM, None without.

        It is the identity for a SLAM whose poses are in the frame of the truth.
        """
        if self.bag.counts.get(TRUTH, 0) < 2:
            return None
        try:
            found = read_poses(self.bag, SLAM_ODOM)
            return place_estimate(self.bag.poses(TRUTH), found).T_reference_estimate
        except UserError:
            return None

    def map_points(self) -> np.ndarray:
        """Return the points (n, 3) of the SLAM's last map, in odom [m].

        Raises
        ------
        UserError
            If it published none, or an empty one.
        """
        last = None
        if self.bag.counts.get(SLAM_MAP, 0):
            for _, _, message in self.bag.messages([SLAM_MAP]):
                last = message
        if last is None:
            raise UserError(f"{self.path}: no map was recorded on {SLAM_MAP}; record:=all does")
        arrays = point_cloud_arrays(last)
        points = np.column_stack([arrays[axis] for axis in "xyz"]).astype(np.float64)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) == 0:
            raise UserError(f"{self.path}: the last map on {SLAM_MAP} has no points")
        return points

    def frame_stamps_ns(self, estimate: Trajectory) -> np.ndarray | None:
        """Return the stamps (n,) of all input frames of the SLAM [ns], None when unknown.

        Frames are of the left camera or of the lidar, whichever the stamps of the poses match.
        """
        candidates = [
            read_frame_stamps(self.bag, topic)
            for topic in (LEFT_INFO, LIDAR)
            if self.bag.counts.get(topic, 0)
        ]
        return frames_of_estimate(candidates, estimate.stamps_ns)

    def camera_infos(self) -> tuple[Any, np.ndarray]:
        """Return the last CameraInfo of the left camera (or None) and all stamps (n,) [ns]."""
        from aerotwin_core.messages import stamp_ns

        last, stamps = None, []
        if self.bag.counts.get(LEFT_INFO, 0):
            for _, _, last in self.bag.messages([LEFT_INFO]):
                stamps.append(stamp_ns(last))
        return last, np.array(stamps, dtype=np.int64)


def is_run_folder(path: str | Path) -> bool:
    """Return whether a path is a run folder, or a folder that holds some."""
    path = Path(path)
    return path.is_dir() and bool(_run_folders(path))


def open_run_folder(path: str | Path) -> RunFolder:
    """Return a run folder, or the only one that a folder holds.

    Raises
    ------
    UserError
        If there is none, or several.
    """
    path = Path(path)
    found = _run_folders(path) if path.is_dir() else []
    if not found:
        raise UserError(
            f"{path}: no run folder (config.yaml beside bag/ is expected); name a folder of runs/"
        )
    if len(found) > 1:
        names = ", ".join(folder.name for folder in found[:5])
        raise UserError(f"{path}: holds {len(found)} runs ({names}); name one of them")
    configuration = read_yaml(found[0] / "config.yaml")
    if not isinstance(configuration, Mapping):
        raise UserError(f"{found[0] / 'config.yaml'}: expected names with values")
    return RunFolder(found[0], configuration)


def _run_folders(path: Path) -> list[Path]:
    """Return the folder itself, or those one level below it, that are runs."""
    candidates = [path, *sorted(child for child in path.iterdir() if child.is_dir())]
    runs = [c for c in candidates if (c / "config.yaml").is_file() and (c / "bag").is_dir()]
    return runs[:1] if runs[:1] == [path] else runs
