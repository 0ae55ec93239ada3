# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Short names for `--fail-if` on a run: those of its evaluations, and of its cost and replay."""

from aerotwin_run_evaluation.bag.protocols import can_judge_maps
from aerotwin_trajectory_evaluation.declared_metrics import RESOURCE_METRICS, TRAJECTORY_METRICS

_OF_THE_RUN = {
    "n_unanswered": "replay.n_unanswered",
    "real_time_factor": "replay.real_time_factor",
}


def aliases() -> dict[str, str]:
    """Return what the short names stand for among the sections of `metrics.json`."""
    declared = {"trajectory": TRAJECTORY_METRICS, "resources": RESOURCE_METRICS}
    if can_judge_maps():
        from aerotwin_map_evaluation.declared_metrics import MAP_METRICS

        declared["map"] = MAP_METRICS
    # The command of the map evaluation computes some beside its metrics.
    return _OF_THE_RUN | {
        short: f"{section}.{path}"
        for section, metrics in declared.items()
        for short, path in metrics.aliases().items()
        if not path.startswith("middle.")
    }
