# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Short names for `--fail-if` on a run: those of its evaluations, and of its cost and replay."""

from aerotwin_trajectory_evaluation.evaluation import ALIASES as TRAJECTORY

ALIASES = {name: f"trajectory.{path}" for name, path in TRAJECTORY.items()} | {
    "cpu_cores": "resources.cpu_cores_mean",
    "memory_bytes": "resources.pss_bytes_max",
    "latency_p95_s": "resources.latency_s.p95",
    "n_unanswered": "replay.n_unanswered",
    "real_time_factor": "replay.real_time_factor",
}
"""Short names, and what they stand for among the sections of `metrics.json`."""
