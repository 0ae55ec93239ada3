# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Crafted and damaged files of a format, and what became of them."""

from collections.abc import Mapping
from typing import Any

from aerotwin_campaign import RunContext
from evidence.fuzzing import run_fuzz
from evidence.fuzzing.campaign import BAD, GOOD


def read_format(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Read the crafted files of a format, and damaged ones of the seed of a run."""
    (row,) = run_fuzz([document["format"]], document["files"], context.seed)
    for file in row["crafted"]:
        print(f"{file['damage']}: {file['outcome']}, {file['peak_mb']} MB, {file['cpu_s']} s")
    for failure in row["failures"]:
        print(f"file {failure['file']}, {failure['damage']}: {failure['words']}")
    counts = {f"n_{key}": row[key] for key in (*GOOD, *BAD)}
    outcome = ", ".join(f"{row[key]} {key}" for key in (*GOOD, *BAD) if row[key])
    return {
        "metrics": {"n_files": row["n_files"], **counts},
        "is_success": row["met"],
        "outcome": outcome,
    }
