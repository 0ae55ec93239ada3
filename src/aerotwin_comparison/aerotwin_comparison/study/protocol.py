# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of how runs are summarised and compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.parameters import parameter
from aerotwin_core.protocol import Protocol, load_protocol

PART = "study"
CENTRES = ("median", "mean")


@dataclass(frozen=True, kw_only=True)
class StudyProtocol:
    """Definition of a failure, summary of several runs, and comparison of methods."""

    min_coverage: float = parameter(
        0.3,
        text="a run that tracked less than this share of its frames (or time) has failed",
        minimum=0.0,
        maximum=1.0,
    )
    max_ape_m: float | None = parameter(
        None, text="a run with a larger APE (RMSE) has failed; null = none", unit="m", minimum=0.0
    )
    n_runs: int = parameter(
        0, text="runs that each method needs on each sequence; 0 = as many as there are", minimum=0
    )
    centre: str = parameter(
        "median", text="what stands for several runs in the tables", choices=CENTRES
    )
    confidence: float = parameter(0.95, text="of the intervals", minimum=0.5, maximum=0.999)
    alpha: float = parameter(
        0.05, text="significance level, after Holm's correction", minimum=1e-4, maximum=0.5
    )
    n_resamples: int = parameter(2000, text="bootstrap draws", minimum=100, maximum=100_000)
    seed: int = parameter(0, text="seed of the draws", minimum=0)


PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Xiao et al. (2020), section IV: "five experiments whose condition is the same are carried
    # out and RPE and APE are the average results".
    "xtdrone2020": {"centre": "mean", "n_runs": 5},
}
"""Values by name of what each preset changes; those of other parts change nothing here."""


def load_study_protocol(
    spec: str | Path | None, presets: Mapping[str, Any]
) -> Protocol[StudyProtocol]:
    """Return the part `study` of a preset or a YAML file; default: the defaults.

    `presets` are those of other parts, whose names are accepted too.
    """
    known = {name: PRESETS.get(name, {}) for name in [*presets, *PRESETS]}
    return load_protocol(StudyProtocol, PART, spec, known)
