# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Short names of the metrics of a run, for `--fail-if`."""


def aliases() -> dict[str, str]:
    """Return what the short names stand for among the sections of `metrics.json`."""
    from aerotwin_run_evaluation.bag.protocols import can_judge_maps
    from aerotwin_run_evaluation.bag.replay_record import REPLAY_METRICS
    from aerotwin_trajectory_evaluation.declared_metrics import RESOURCE_METRICS, TRAJECTORY_METRICS

    declared = {
        "trajectory": TRAJECTORY_METRICS,
        "resources": RESOURCE_METRICS,
        "replay": REPLAY_METRICS,
    }
    if can_judge_maps():
        from aerotwin_map_evaluation.declared_metrics import MAP_METRICS

        declared["map"] = MAP_METRICS
    # The command of the map evaluation computes some beside its metrics.
    return {
        short: f"{section}.{path}"
        for section, metrics in declared.items()
        for short, path in metrics.aliases().items()
        if not path.startswith("middle.")
    }
