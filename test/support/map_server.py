# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A reader of maps that follows the documentation of Nav2's map_server, not our writer."""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import yaml


@dataclass(frozen=True)
class ServedMap:
    """What map_server publishes: data[row, column], row 0 in the south; -1 unknown, 0 to 100."""

    data: np.ndarray
    resolution_m: float
    origin: list[float]
    mode: str
    negate: int

    def values_at(self, points: np.ndarray) -> np.ndarray:
        """Return the values at points (n, 2) in map; -1 outside. Origin: corner of cell (0, 0)."""
        cells = np.floor((points - self.origin[:2]) / self.resolution_m).astype(int)
        rows, columns = self.data.shape
        is_inside = ((cells >= 0) & (cells < [columns, rows])).all(axis=1)
        x, y = np.where(is_inside[:, None], cells, 0).T
        return np.where(is_inside, self.data[y, x], -1)


def serve_map(path: Path, **changes) -> ServedMap:
    """Load a map as map_server does in modes trinary and scale; `changes` replace YAML values."""
    about = {**yaml.safe_load(path.read_text()), **changes}
    pixels = cv2.imread(str(path.parent / about["image"]), cv2.IMREAD_GRAYSCALE)
    shade = pixels / 255.0
    occupancy = shade if about["negate"] else 1.0 - shade
    data = np.full(pixels.shape, -1)
    low, high = about["free_thresh"], about["occupied_thresh"]
    if about["mode"] == "scale":
        data = np.rint((occupancy - low) / (high - low) * 100.0)
    data[occupancy > high] = 100
    data[occupancy < low] = 0
    return ServedMap(
        data[::-1], about["resolution"], about["origin"], about["mode"], about["negate"]
    )
