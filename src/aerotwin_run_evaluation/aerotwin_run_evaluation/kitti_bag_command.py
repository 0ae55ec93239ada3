# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make a bag of a KITTI odometry sequence.

The bag holds the rectified stereo pairs, their calibration, the ground truth (if poses.txt is
there) and the mounting of the cameras, on the topics of this workspace.

  aerotwin bag kitti sequences/06 -o build/kitti_06
  aerotwin evaluate bag build/kitti_06
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("sequence", type=Path, help="folder with image_0/1 (or image_l/r)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="bag folder to make")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Convert and say what was made."""
    from aerotwin_core.cli import write_json
    from aerotwin_run_evaluation.kitti_bag import read_sequence, write_bag

    sequence = read_sequence(arguments.sequence)
    write_bag(sequence, arguments.output)
    n = len(sequence.left)
    write_json(arguments.json, {"n_frames": n, "has_truth": sequence.T_world_optical is not None})
    if arguments.json != "-":
        print(f"{n} stereo pairs written to {arguments.output}")
    return 0
