# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Short names for `--fail-if` on a run: those of its evaluations, and of its cost and replay."""

from aerotwin_trajectory_evaluation.declared_metrics import ALIASES as TRAJECTORY

_OF_THE_RUN = {
    "cpu_cores": "resources.cpu_cores_mean",
    "memory_bytes": "resources.pss_bytes_max",
    "latency_p95_s": "resources.latency_s.p95",
    "n_unanswered": "replay.n_unanswered",
    "real_time_factor": "replay.real_time_factor",
}


def aliases() -> dict[str, str]:
    """Return what the short names stand for among the sections of `metrics.json`."""
    from aerotwin_map_evaluation.declared_metrics import ALIASES as MAP

    # The command of the map evaluation computes some beside its metrics.
    of_map = {name: path for name, path in MAP.items() if not path.startswith("middle.")}
    return {
        **{name: f"map.{path}" for name, path in of_map.items()},
        **{name: f"trajectory.{path}" for name, path in TRAJECTORY.items()},
        **_OF_THE_RUN,
    }
