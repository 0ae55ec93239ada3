# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluate an estimated trajectory against ground truth, and plot both.

The estimate is made here from the truth, with three faults of a SLAM: its frame is turned, its
scale is wrong, and it drifts. Alignment takes the first away, and the scores show the rest.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core import Trajectory
from aerotwin_trajectory_evaluation import evaluate_trajectory


def make_truth() -> Trajectory:
    """Return a figure of eight of 60 m by 20 m, flown in a minute, at 20 poses a second."""
    t = np.arange(0.0, 60.0, 0.05)
    phase = 2.0 * np.pi * t / 60.0
    p = np.column_stack([30.0 * np.sin(phase), 10.0 * np.sin(2.0 * phase), 5.0 + np.sin(phase)])
    yaw = np.unwrap(np.arctan2(*np.gradient(p[:, :2], axis=0).T[::-1]))
    q = Rotation.from_rotvec(np.outer(yaw, [0.0, 0.0, 1.0])).as_quat()  # scalar last
    return Trajectory((t * 1e9).astype(np.int64), p, q)


def corrupt(truth: Trajectory, rng: np.random.Generator) -> Trajectory:
    """Return what a visual odometry might make of it: its own frame, 2 % of scale, drift."""
    turn = Rotation.from_euler("z", 40.0, degrees=True)  # its first axis is not east
    drift = np.cumsum(rng.normal(0.0, 0.02, (len(truth), 3)), axis=0)  # a random walk [m]
    p = turn.apply(1.02 * truth.p_ref_body + drift)
    q = (turn * Rotation.from_quat(truth.q_ref_body)).as_quat()
    return Trajectory(truth.stamps_ns, p, q)


def main(folder: Path) -> None:
    """Score the estimate, print the numbers and draw the two paths with the error."""
    truth = make_truth()
    estimate = corrupt(truth, np.random.default_rng(7))

    # Poses are paired by their stamps and aligned by a rigid motion (se3) before they are scored.
    # align="none" would score the frame's turn, align="sim3" would hide the scale error as well.
    result = evaluate_trajectory(truth, estimate, align="se3")
    metrics = result.metrics()  # all numbers, as `aerotwin evaluate trajectory --json` has them
    print(f"absolute error (APE): RMSE {metrics['ape']['trans_m']['rmse']:.3f} m")
    print(f"relative error over 1 m (RPE): RMSE {metrics['rpe']['metre']['trans_m']['rmse']:.3f} m")
    print(f"drift: {result.drift_percent:.2f} % of the way")

    figure, (path, error) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for poses, style, label in (
        (result.reference, "0.6", "truth"),
        (result.estimate, "C0:", "estimate as it came"),
        (result.aligned, "C1", "estimate, aligned"),
    ):
        path.plot(*poses.p_ref_body[:, :2].T, style, label=label)
    path.set(xlabel="east [m]", ylabel="north [m]", aspect="equal")
    figure.legend(loc="outside lower left", ncols=3)
    error.plot((result.reference.stamps_ns - truth.stamps_ns[0]) * 1e-9, result.ape.trans_m)
    error.set(xlabel="time [s]", ylabel="absolute position error [m]", ylim=(0.0, None))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "evaluate_trajectory.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
