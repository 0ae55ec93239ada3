# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on an estimator's innovations, which PX4 and ArduPilot report alike."""

from collections.abc import Mapping
from math import isfinite

from aerotwin_doctor.check import Check, fail, ok

INNOVATIONS = "estimator.innovations"


def innovations_check(ratios: Mapping[str, float]) -> Check:
    """Judge innovations over their gates, by what they test; beyond 1 a reading is refused."""
    refused = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > 1.0]
    if refused:
        return fail(
            INNOVATIONS,
            f"measurements are refused (test ratio above 1): {', '.join(refused)}",
            "that sensor contradicts the others: check its frame, sign, unit and delay",
        )
    worst = max((ratio for ratio in ratios.values() if isfinite(ratio)), default=0.0)
    return ok(INNOVATIONS, f"largest test ratio {worst:.2f}; up to 1 is believed")
