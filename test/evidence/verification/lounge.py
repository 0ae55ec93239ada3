# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans of a real walk through a hall, each placed in the map of the others from a wrong start.

The hall is the HKU lounge of BALM (Liu and Zhang 2021, IEEE RA-L 6, 3184); the poses of its authors
are taken for the truth.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evidence.verification.leave_one_out import LeaveOneOut, leave_one_out, read_posed_scans

FOLDER = Path("point_clouds", "balm_hku_lounge")
STARTS = ((0.2, 3.0), (0.5, 10.0))
"""Shift and turn of the starts [m], [deg]."""
MEDIAN_M, WORST_M = 0.020, 0.080


def place_lounge_scans(data: Path, seeds: Sequence[int], *, is_quiet: bool) -> list[dict[str, Any]]:
    """Place every scan from starts of every seed; return a row per kind of start.

    Without the data there is one row that says so; its `met` is None.
    """
    from aerotwin_core.cli import progress, say

    folder = data / FOLDER
    if not folder.is_dir():
        skipped = f"skipped, real data not present: {FOLDER} (looked in {data}; --data names it)"
        if not is_quiet:
            say(f"lounge: {skipped}")
        return [{"name": "lounge", "skipped": skipped, "met": None}]
    scans, poses = read_posed_scans(folder)
    bar = progress(len(STARTS) * len(scans) * len(seeds), "lounge", unit="scan")
    rows = []
    for shift_m, turn_deg in STARTS:
        found = leave_one_out(
            scans, poses, seeds, shift_m=shift_m, turn_deg=turn_deg, on_match=bar.update
        )
        rows.append(_row(f"lounge, starts {shift_m:g} m and {turn_deg:g} deg off", found))
    bar.close()
    for row in rows if not is_quiet else ():
        say(f"{row['name']}: {row['n_converged']} of {row['n']} converged, median "
            f"{row['median_m']:.4f} m, worst {row['worst_m']:.4f} m: "
            f"{'met' if row['met'] else 'MISSED'}")  # fmt: skip
    return rows


def _row(name: str, found: LeaveOneOut) -> dict[str, Any]:
    """Return the figures of all scans, those that went astray among them."""
    median_m, worst_m = float(np.median(found.shifts_m)), float(found.shifts_m.max())
    return {
        "name": name,
        "n": found.shifts_m.size,
        "n_converged": int(found.converged.sum()),
        "median_m": median_m,
        "worst_m": worst_m,
        "worst_deg": float(found.turns_deg.max()),
        "met": bool(found.converged.all()) and median_m <= MEDIAN_M and worst_m <= WORST_M,
    }
