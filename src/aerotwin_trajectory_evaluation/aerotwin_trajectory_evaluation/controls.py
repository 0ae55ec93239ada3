# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Negative controls: errors of known size that the scores must see."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.trajectory import Trajectory

NOISE_M = 0.2
SCALE = 1.01
FROZEN_SHARE = 0.1
# A control counts as seen when the score reaches this share of what arithmetic predicts.
_SEEN = 0.5
_SEED = 20260


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control: what was done to the truth, the error to expect, and the score it got [m]."""

    name: str
    expected_m: float
    measured_m: float

    @property
    def is_detected(self) -> bool:
        """Whether the score saw it."""
        return self.expected_m > 0.0 and self.measured_m >= _SEEN * self.expected_m

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {
            "name": self.name,
            "expected_m": self.expected_m,
            "measured_m": self.measured_m,
            "detected": self.is_detected,
        }


def negative_controls(reference: Trajectory) -> tuple[Control, ...]:
    """Return what the unaligned APE says of a truth spoilt in three known ways."""
    from aerotwin_trajectory_evaluation.metrics import absolute_errors

    p = reference.p_ref_body
    rms = lambda v: float(np.sqrt(np.mean(np.sum(v**2, axis=1))))  # noqa: E731
    n_frozen = max(1, int(len(p) * FROZEN_SHARE))
    frozen = p.copy()
    frozen[-n_frozen:] = p[-n_frozen - 1]
    noise = np.random.default_rng(_SEED).normal(0.0, NOISE_M, p.shape)
    cases = (
        ("1 % scale", p[0] + (p - p[0]) * SCALE, rms((p - p[0]) * (SCALE - 1.0))),
        (f"pose frozen for the last {FROZEN_SHARE:.0%}", frozen, rms(frozen - p)),
        (f"{NOISE_M:g} m noise on each axis", p + noise, NOISE_M * float(np.sqrt(3.0))),
    )
    controls = []
    for name, spoilt, expected in cases:
        estimate = Trajectory(reference.stamps_ns, spoilt, reference.q_ref_body)
        errors = absolute_errors(reference, estimate).trans_m
        measured = float(np.sqrt(np.mean(errors**2)))
        controls.append(Control(name=name, expected_m=expected, measured_m=measured))
    return tuple(controls)
