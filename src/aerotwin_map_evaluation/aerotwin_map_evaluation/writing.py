# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a result: report, numbers, and the map coloured by its error as PLY."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.charts import default_limits
from aerotwin_core.plots import colour_table
from aerotwin_core.ply import write_ply
from aerotwin_core.section import Section
from aerotwin_map_evaluation.result import MapEvaluation
from aerotwin_map_evaluation.sections import section
from aerotwin_report import write_report

CLOUD_NAME = "map_error.ply"
_GREY = 128


def write_evaluation(
    folder: Path,
    evaluation: MapEvaluation,
    configuration: Mapping[str, Any],
    warnings: Sequence[str] = (),
) -> None:
    """Write report.html, metrics.json and map_error.ply into a folder, created if missing."""
    write_chapter(folder, section(evaluation), configuration, warnings)
    write_error_cloud(
        folder / CLOUD_NAME, evaluation.judged_points_map, evaluation.judged_distances
    )


def write_chapter(
    folder: Path, chapter: Section, configuration: Mapping[str, Any], warnings: Sequence[str] = ()
) -> None:
    """Write a report of one chapter."""
    write_report(
        folder,
        title="Map evaluation",
        sections=[chapter],
        configuration=configuration,
        warnings=warnings,
    )


def write_error_cloud(path: Path, points_map: np.ndarray, distances: np.ndarray) -> None:
    """Write points (n, 3) with their error (n,) [m] as a scalar and as a colour.

    Properties: x, y, z (double, m), `error_m` (float; NaN where nothing is near), red, green, blue
    (0 to the 95th percentile; grey where nothing is near).
    """
    low, high = default_limits(distances)
    is_near = np.isfinite(distances)
    share = (np.where(is_near, distances, low) - low) / (high - low)
    colours = colour_table()[np.clip(np.rint(share * 255.0), 0, 255).astype(np.int64)]
    colours[~is_near] = _GREY
    columns = {name: points_map[:, k] for k, name in enumerate("xyz")}
    columns["error_m"] = np.where(is_near, distances, np.nan).astype(np.float32)
    columns |= {name: colours[:, k] for k, name in enumerate(("red", "green", "blue"))}
    with atomic_file(path) as file:
        write_ply(columns, file)
