# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Negative controls: the truth corrupted by errors of known size, scored as the estimate is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.rms import rms, rms_length
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_trajectories
from aerotwin_trajectory_evaluation.association import pair
from aerotwin_trajectory_evaluation.metrics import absolute_errors
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

NOISE_M = 0.2
SCALE = 1.01
FROZEN_SHARE = 0.1
NOT_SEEN = {
    "none": "",
    "origin": "",
    "yaw": "a wrong start or heading",
    "se3": "a wrong start, heading or tilt",
    "sim3": "a wrong start, heading, tilt or scale",
    "robust": "a wrong start, heading or tilt",
}
"""What the aligned APE cannot see, by mode of the alignment: it is fitted away."""
# A control counts as seen when the score reaches this share of what arithmetic predicts.
_SEEN = 0.5
# A scale does not corrupt a path at rest: smaller errors count as none [m].
_LEAST_M = 1e-6
_SEED = 20260


@dataclass(frozen=True, kw_only=True)
class Control:
    """One corruption of the truth (`name`), and its score.

    `expected_m` is the theoretical error (RMS) after the alignment [m]; `measured_m` and `floor_m`
    are the aligned APE (RMSE) of the corrupted and of the uncorrupted truth [m]. `seen_by` is the
    score that shows it: `APE`, `scale_percent`, or empty.
    """

    name: str
    expected_m: float
    measured_m: float
    floor_m: float
    seen_by: str

    @property
    def is_detected(self) -> bool:
        """Whether a score shows it."""
        return bool(self.seen_by)

    @property
    def is_missed(self) -> bool:
        """Whether there was an error to detect, and no score shows it."""
        return self.expected_m > _LEAST_M and not self.seen_by

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {
            "name": self.name,
            "expected_m": self.expected_m,
            "measured_m": self.measured_m,
            "floor_m": self.floor_m,
            "detected": self.is_detected,
            "seen_by": self.seen_by,
        }


def negative_controls(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> tuple[Control, ...]:
    """Return the scores of the truth at the estimate's stamps, corrupted in three ways.

    Pairing, alignment and score are those of the estimate. Fewer than two stamps within the time of
    the reference give no control.
    """
    stamps = estimate.stamps_ns
    inside = (stamps >= reference.stamps_ns[0]) & (stamps <= reference.stamps_ns[-1])
    if np.count_nonzero(inside) < 2:
        return ()
    # Pairs depend on stamps alone, so that they are the same however the positions are corrupted.
    paired, clean, _ = pair(reference, reference.interpolate(stamps[inside]), protocol)
    if len(paired) < 2:
        return ()
    unchanged, floor_m = _judge(paired, clean, protocol)
    controls = []
    for name, corrupted in _corrupted(clean.p_ref_body):
        alignment, measured_m = _judge(
            paired, Trajectory(clean.stamps_ns, corrupted, clean.q_ref_body), protocol
        )
        expected_m = _left_m(clean.p_ref_body, corrupted, protocol)
        gained_m = float(np.sqrt(max(measured_m**2 - floor_m**2, 0.0)))
        change = abs(alignment.scale / unchanged.scale - 1.0)
        if expected_m > _LEAST_M and gained_m >= _SEEN * expected_m:
            seen_by = "APE"
        else:
            seen_by = "scale_percent" if change >= _SEEN * (SCALE - 1.0) else ""
        controls.append(
            Control(
                name=name,
                expected_m=expected_m,
                measured_m=measured_m,
                floor_m=floor_m,
                seen_by=seen_by,
            )
        )
    return tuple(controls)


def _corrupted(p: np.ndarray) -> tuple[tuple[str, np.ndarray], ...]:
    """Return the positions (n, 3) corrupted in each way, under its name."""
    n_frozen = max(1, int(len(p) * FROZEN_SHARE))
    frozen = p.copy()
    frozen[-n_frozen:] = p[-n_frozen - 1]
    noise = np.random.default_rng(_SEED).normal(0.0, NOISE_M, p.shape)
    return (
        ("1 % scale", p[0] + (p - p[0]) * SCALE),
        (f"pose frozen for the last {FROZEN_SHARE:.0%}", frozen),
        (f"{NOISE_M:g} m noise on each axis", p + noise),
    )


def _judge(
    paired: Trajectory, corrupted: Trajectory, protocol: TrajectoryProtocol
) -> tuple[TrajectoryAlignment, float]:
    """Return the alignment and the aligned APE (RMSE) [m]."""
    alignment = align_trajectories(
        paired, corrupted, protocol.align, n_to_align=protocol.n_to_align
    )
    errors = absolute_errors(paired, alignment.apply(corrupted)).trans_m
    return alignment, rms(errors)


def _left_m(p: np.ndarray, corrupted: np.ndarray, protocol: TrajectoryProtocol) -> float:
    """Return the RMS of the error less the shift, and scale, that the mode fits to it [m]."""
    error = corrupted - p
    fitted = slice(0, protocol.n_to_align or None)
    if protocol.align == "origin":
        error = error - error[0]
    elif protocol.align != "none":
        error = error - error[fitted].mean(axis=0)
    if protocol.align == "sim3":
        r = corrupted - corrupted[fitted].mean(axis=0)
        squares = float(np.sum(r[fitted] ** 2))
        gain = float(np.sum(error[fitted] * r[fitted])) / squares if squares > 0.0 else 0.0
        error = error - gain * r
    return rms_length(error)
