# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Write a data set as a bag: one that was exported, or one made by others.

  aerotwin import euroc V1_01_easy -o build/V1_01
  aerotwin evaluate bag build/V1_01
  aerotwin import tum-vi dataset-room1_512_16 -o build/room1

An exported data set becomes the recording that it was: topics, frames, stamps and images. Of one
made by others the body becomes base_link; two cameras become /stereo/left and /stereo/right, with R
and P of a rectified pair in their camera_info, others /cam0, /cam1, ...; readings are on
/imu/data_raw, the truth on /truth/odom, the mountings on /tf_static, the noise of the IMU in the
bag's metadata. A variance of -1 in /truth/odom: the data set does not state this velocity.

A file that is invalid is named with its line, and no bag is written.
"""

import argparse
from pathlib import Path

FORMATS = ("euroc", "kitti", "rosbag1", "tum-rgbd", "tum-vi")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("dataset", type=Path, help="its folder; of rosbag1 also a .bag")
    parser.add_argument("-o", "--output", type=Path, required=True, help="bag folder to make")
    parser.add_argument(
        "--skip-missing", action="store_true", help="leave out listed images that are not there"
    )
    parser.add_argument(
        "--intrinsics", type=float, nargs="+", default=[], metavar="F",
        help="tum-rgbd of others: fx fy cx cy [px], then k1 k2 p1 p2 k3 if the lens distorts",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="replace an existing bag")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Import and say what was written."""
    from aerotwin_core.cli import write_json
    from aerotwin_core.output_lock import refuse_inputs_as_output
    from aerotwin_datasets.formats import import_dataset

    refuse_inputs_as_output(arguments.output, arguments.dataset)
    done = import_dataset(
        arguments.format,
        arguments.dataset,
        arguments.output,
        overwrite=arguments.overwrite,
        skip_missing=arguments.skip_missing,
        intrinsics=_intrinsics(arguments.intrinsics),
    )
    write_json(arguments.json, {"messages": done.counts, "problems": list(done.problems)})
    if arguments.json != "-":
        for topic, n in sorted(done.counts.items()):
            print(f"  {topic}: {n}")
        for line in done.problems:
            print(f"caution: {line}")
        print(f"bag: {arguments.output}")
    return 0


def _intrinsics(values: list[float]) -> list[float]:
    """Return what was stated of the lens.

    Raises `UserError` if it is no lens.
    """
    from aerotwin_core.errors import UserError

    is_lens = len(values) in (4, 8, 9) and min(values[:2]) > 0.0
    if values and not (is_lens and all(abs(value) < float("inf") for value in values)):
        raise UserError(
            "--intrinsics: expected fx fy cx cy [k1 k2 p1 p2 [k3]], focal lengths above 0"
        )
    return values
