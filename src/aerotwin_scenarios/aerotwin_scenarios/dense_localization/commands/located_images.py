# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localised images of one camera in a map, and their files."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.frames import FloatArray, invert_transform, pose_from_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import write_tum
from aerotwin_dense_localization.localization import ImageLocalization, Status
from aerotwin_scenarios.dense_localization.recordings.recording import trajectory_of

CAMERA_FILE, BASE_FILE, TABLE = "camera.tum", "base.tum", "localization.csv"
_COLUMNS = (
    "stamp_s", "status", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "sigma_m", "sigma_deg",
    "correlation", "overlap", "reason",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedImages:
    """The images of a sequence and their localisation, one `found` for each."""

    stamps_ns: np.ndarray
    found: tuple[ImageLocalization, ...]

    @classmethod
    def of(
        cls,
        images: Iterable[tuple[int, np.ndarray]],
        localize: Callable[[int, np.ndarray], ImageLocalization],
        on_image: Callable[[ImageLocalization], object] = lambda found: None,
    ) -> "LocatedImages":
        """Localise images as a stream; none is kept in memory. A repeated stamp is skipped.

        `localize` is called with stamp [ns] and image, `on_image` with each result.
        """
        stamps: list[int] = []
        found: list[ImageLocalization] = []
        for stamp_ns, grey in images:
            if not stamps or stamp_ns > stamps[-1]:
                found.append(localize(stamp_ns, grey))
                stamps.append(stamp_ns)
                on_image(found[-1])
        return cls(stamps_ns=np.array(stamps, np.int64), found=tuple(found))

    @property
    def is_placed(self) -> np.ndarray:
        """Which images have a pose (n,)."""
        return np.array([one.T_map_cam is not None for one in self.found], dtype=bool)

    @property
    def sigma_m(self) -> np.ndarray:
        """Worst standard deviation of each position (n,) [m]; NaN without a pose."""
        return np.array([_sigma(one.covariance, slice(0, 3)) for one in self.found])

    @property
    def sigma_deg(self) -> np.ndarray:
        """Worst standard deviation of each attitude (n,) [deg]; NaN without a pose."""
        return np.degrees([_sigma(one.covariance, slice(3, 6)) for one in self.found])

    @property
    def covariances(self) -> np.ndarray:
        """Of the images that have a pose (m, 6, 6): x y z [m], turns about map axes [rad]."""
        rows = [one.covariance for one in self.found if one.covariance is not None]
        return np.array(rows).reshape(-1, 6, 6)

    def count(self, status: Status) -> int:
        """Return how many images were localised in a way."""
        return sum(one.status is status for one in self.found)

    def trajectory(self, T_cam_body: FloatArray | None = None) -> Trajectory:
        """Return the poses of the camera, or of the body that carries it, where known."""
        T_last = np.eye(4) if T_cam_body is None else T_cam_body
        poses = [one.T_map_cam @ T_last for one in self.found if one.T_map_cam is not None]
        return trajectory_of(self.stamps_ns[self.is_placed].tolist(), poses)

    def write(self, folder: Path, T_base_cam: FloatArray | None) -> None:
        """Write the poses as TUM files, those of the base if it is known, and the table."""
        write_tum(folder / CAMERA_FILE, self.trajectory())
        if T_base_cam is not None:
            write_tum(folder / BASE_FILE, self.trajectory(invert_transform(T_base_cam)))
        write_text_atomically(folder / TABLE, self._table())

    def _table(self) -> str:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(_COLUMNS)
        rows = zip(self.stamps_ns.tolist(), self.found, self.sigma_m, self.sigma_deg, strict=True)
        for stamp_ns, one, sigma_m, sigma_deg in rows:
            pose = [""] * 9
            if one.T_map_cam is not None:
                p, q = pose_from_transform(one.T_map_cam)
                pose = [f"{v:.6f}" for v in (*p, *q)] + [f"{sigma_m:.5f}", f"{sigma_deg:.5f}"]
            match = f"{one.correlation:.4f}", f"{one.overlap:.4f}"
            stamp = f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d}"
            table.writerow([stamp, str(one.status), *pose, *match, one.reason])
        return text.getvalue()


def _sigma(covariance: FloatArray | None, part: slice) -> float:
    if covariance is None:
        return float("nan")
    return float(np.sqrt(max(np.linalg.eigvalsh(covariance[part, part])[-1], 0.0)))
