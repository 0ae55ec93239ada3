# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a degradation, and named presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, parameter, read_yaml


@dataclass(frozen=True, kw_only=True)
class DegradationParameters:
    """Defects of a reconstruction; none by default."""

    displacement_rms_m: float = parameter(
        0.0, text="RMS length of the displacement.", unit="m", minimum=0.0, maximum=5.0
    )
    correlation_m: float = parameter(
        100.0, text="Distance of a correlation of 1/e.", unit="m", minimum=1.0, maximum=1e5
    )
    vertical_ratio: float = parameter(
        1.0, text="Vertical RMS over that of a horizontal component.", minimum=0.0, maximum=10.0
    )
    noise_m: float = parameter(
        0.0, text="Standard deviation along each axis.", unit="m", minimum=0.0, maximum=1.0
    )
    hole_share: float = parameter(
        0.0, text="Share of the ground plan that is lost in blobs.", minimum=0.0, maximum=0.9
    )
    hole_size_m: float = parameter(
        3.0, text="Typical width of a hole.", unit="m", minimum=0.2, maximum=100.0
    )
    covered_loss: float = parameter(
        0.0, text="Share of what lies under roofs that is lost.", minimum=0.0, maximum=1.0
    )
    covered_clearance_m: float = parameter(
        2.0, text="What is this far below the highest is covered.", unit="m", minimum=0.1
    )
    smoothing_m: float = parameter(
        0.0, text="Averaging radius, which rounds edges.", unit="m", minimum=0.0, maximum=2.0
    )
    ground_rise_m: tuple[float, float] = parameter(
        (0.0, 0.0), text="Seasonal rise, least and most.", unit="m", minimum=0.0, maximum=2.0
    )
    ground_rise_correlation_m: float = parameter(
        10.0, text="Correlation length of the rise.", unit="m", minimum=0.5, maximum=1000.0
    )
    cars_changed_share: float = parameter(
        0.0, text="Share of parked cars that are gone or moved.", minimum=0.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if self.ground_rise_m[0] > self.ground_rise_m[1]:
            raise ValueError("'ground_rise_m' must be least and most; exchange them")


_THRESHOLDS = {
    "displacement_rms_m": 0.30,
    "correlation_m": 100.0,
    "noise_m": 0.05,
    "hole_share": 0.05,
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    # The case whose floor the thresholds of virtual teach and repeat are relative to.
    "warp_30cm": _THRESHOLDS,
    # The noise of the radiance fields that VirT&R reports besides photogrammetry's 5 cm.
    "radiance_field": {**_THRESHOLDS, "noise_m": 0.15, "smoothing_m": 0.3},
    "canopy": {**_THRESHOLDS, "covered_loss": 0.9},
    # Taught in one season and driven in another: 5 to 30 cm of growth, half of the cars changed.
    "season": {**_THRESHOLDS, "ground_rise_m": [0.05, 0.30], "cars_changed_share": 0.5},
}


def load_degradation(spec: str | Path) -> DegradationParameters:
    """Return the parameters of a preset, or of a YAML file.

    Raises
    ------
    ParameterError
        If there is no such preset or file, or a key or a value is unknown.
    """
    if str(spec) in PRESETS:
        return load_parameters(DegradationParameters, PRESETS[str(spec)], where=f"preset {spec}")
    path = Path(spec)
    if not path.is_file():
        raise ParameterError(
            f"{spec}: no such file and no preset; presets are {', '.join(PRESETS)}; name one, or "
            "give a YAML file"
        )
    return load_parameters(DegradationParameters, read_yaml(path), where=str(path))
