# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of the chosen vehicle in words: battery, mode, health of its estimator."""

import math
from collections.abc import Mapping

from aerotwin_core.foreign_text import printable
from aerotwin_core.frames import FloatArray
from aerotwin_teleop.status import VehicleStatus
from aerotwin_view.scene.uncertainty_ellipsoids import ellipsoid_of

LOW_SHARE, EMPTY_SHARE = 0.3, 0.15
_STRAINED = 0.7
"""From so much of its gate on a measurement is not far from being refused."""
_NAME_LETTERS, _WARNING_LETTERS = 30, 100


def vehicle_text(status: VehicleStatus, covariance: FloatArray | None) -> str:
    """Return the lines of a vehicle; `covariance` (3, 3) [m^2] is that of its own position.

    >>> print(vehicle_text(VehicleStatus("", mode="HOLD", is_armed=True, battery_share=0.2), None))
    vehicle: HOLD, armed, 20 % battery
    battery low
    estimator: nothing is heard of its health
    """
    estimator = [estimator_health(status.innovation_ratios)]
    shape = None if covariance is None else ellipsoid_of(covariance)
    if shape is not None:
        estimator.append(f"position known to {shape[0].max():.2f} m (3 sigma)")
    lines = [status.words(), f"battery {battery_health(status.battery_share)}"]
    if status.warning:
        lines.append(f"last warning: {printable(status.warning, _WARNING_LETTERS)}")
    return "\n".join([*lines, f"estimator: {'; '.join(estimator)}"])


def battery_health(share: float) -> str:
    """Return a charge, 1 if full, in words.

    >>> battery_health(0.96), battery_health(0.1), battery_health(float("nan"))
    ('sufficient', 'nearly empty', 'not known')
    """
    if not 0.0 <= share <= 1.0:
        return "not known"
    return "nearly empty" if share < EMPTY_SHARE else "low" if share < LOW_SHARE else "sufficient"


def estimator_health(ratios: Mapping[str, float]) -> str:
    """Return in words what innovations over their gates say, 1 being refused.

    >>> estimator_health({"velocity": 0.2, "magnetometer": 1.3})
    'refuses magnetometer (1.30 of its gate)'
    """
    known = {
        printable(name.replace("_", " "), _NAME_LETTERS): ratio
        for name, ratio in ratios.items()
        if math.isfinite(ratio) and ratio >= 0.0
    }
    if not known:
        return "nothing is heard of its health"
    refused = [f"{name} ({ratio:.2f} of its gate)" for name, ratio in known.items() if ratio > 1.0]
    if refused:
        return f"refuses {', '.join(refused)}"
    worst = max(known, key=lambda name: known[name])
    verdict = "strained" if known[worst] > _STRAINED else "healthy"
    return f"{verdict}, refuses nothing; largest innovation {worst}, {known[worst]:.2f} of its gate"
