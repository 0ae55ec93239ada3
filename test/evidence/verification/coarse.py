# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps by a SLAM, aligned to where they belong: the trials of the benchmark, all of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_campaign import RunContext
from evidence.benchmarks.coarse import aligned, trials


def align_maps(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Align the maps that were seen in a world of the seed of a run."""
    found = [aligned(trial) for trial in trials(document["place"], context.seed)]
    n_correct, n_believed = (
        sum(one.is_correct for one in found),
        sum(one.is_wrong_and_believed for one in found),
    )
    metrics = {
        "n_trials": len(found),
        "correct_share": n_correct / len(found),
        "n_wrong_and_believed": n_believed,
        "longest_s": max(one.took_s for one in found),
        "median_s": float(np.median([one.took_s for one in found])),
    }
    outcome = f"{n_correct} of {len(found)} correct, {n_believed} wrong and believed"
    return {"metrics": metrics, "is_success": n_believed == 0, "outcome": outcome}
