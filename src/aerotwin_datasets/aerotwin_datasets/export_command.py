# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Write a bag as a data set that SLAMs made by others read.

  aerotwin export euroc runs/*-demo/bag -o build/demo_euroc
  aerotwin export tum-vi runs/*-demo/bag -o build/demo_tum_vi
  aerotwin import euroc build/demo_euroc -o build/again         (exact, images bit by bit)

formats:
  euroc     EuRoC/ASL: mav0/cam0, cam1, imu0 and state_groundtruth_estimate0
  kitti     KITTI odometry: a rectified pair, image_0 and 1 (of colour 2 and 3), calib, times, poses
  rosbag1   recording.bag of ROS 1 with all its topics
  tum-rgbd  TUM RGB-D: rgb, depth of its pixels (5000 per metre, rounded), groundtruth of the
            camera, associations
  tum-vi    EuRoC's layout with mocap0

The body is the frame of the IMU: T_BS of imu0 is the identity, T_BS of a camera takes coordinates
of its optical frame (x right, y down, z ahead) to the IMU's. Truth is that of the IMU, in map.
Stamps are those of the messages, in nanoseconds: in flights recorded here the middle of the
exposure, of a rolling shutter that of the first row.
Pixel (0, 0) is the centre of the upper left pixel. Images are PNG without loss.

Noise of the IMU comes from the bag if this workspace recorded it; of other bags state it:
  aerotwin export euroc my_bag -o build/mine --imu-noise 1.7e-4 2e-5 2e-3 3e-3

settings/ holds what DSO, ORB-SLAM2 and 3, OpenVINS, VINS-Fusion, Basalt, stella_vslam, KISS-SLAM,
RKO-LIO and Kalibr read, with this calibration, and a README with the commands.

What the format has no place for (GNSS, tf, clouds, ...) is kept beside it in other_topics, a bag,
and aerotwin.yaml names topics and frames; --lean leaves other_topics out.
"""

import argparse
from pathlib import Path

FORMATS = ("euroc", "kitti", "rosbag1", "tum-rgbd", "tum-vi")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("bag", type=Path, help="folder, .mcap or .db3")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to make")
    parser.add_argument(
        "--cameras", default="", metavar="A,B", help="which, in the order cam0, cam1 (all)"
    )
    parser.add_argument("--imu-topic", default="", metavar="TOPIC", help="where there are several")
    parser.add_argument(
        "--imu-noise", type=float, nargs=4, metavar=("GD", "GW", "AD", "AW"),
        help="gyroscope density [rad/s/sqrt(Hz)] and bias walk [rad/s2/sqrt(Hz)], accelerometer "
        "density [m/s2/sqrt(Hz)] and bias walk [m/s3/sqrt(Hz)]",
    )  # fmt: skip
    parser.add_argument("--vehicle", default="", metavar="NAME", help="one of a fleet")
    parser.add_argument(
        "--start-s", type=float, default=0.0, metavar="S", help="leave out what was before"
    )
    parser.add_argument(
        "--duration-s", type=float, default=0.0, metavar="S", help="and what comes after this"
    )
    parser.add_argument("--lean", action="store_true", help="without other_topics")
    parser.add_argument("--overwrite", action="store_true", help="replace an exported data set")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Export and say what was written."""
    from aerotwin_core.cli import write_json
    from aerotwin_core.errors import UserError
    from aerotwin_core.output_lock import refuse_inputs_as_output
    from aerotwin_datasets.formats import export_bag
    from aerotwin_datasets.recording import ImuNoise
    from aerotwin_datasets.recording_reader import read_recording

    refuse_inputs_as_output(arguments.output, arguments.bag)
    for name in ("start_s", "duration_s"):
        if not 0.0 <= getattr(arguments, name) < float("inf"):
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option}: expected a finite number of seconds from 0 on")
    noise = None
    if arguments.imu_noise is not None:
        if not all(0.0 <= value < float("inf") for value in arguments.imu_noise):
            raise UserError("--imu-noise: expected numbers of 0 at least")
        noise = ImuNoise(
            **dict(zip(ImuNoise.__dataclass_fields__, arguments.imu_noise, strict=True))
        )
    recording = read_recording(
        arguments.bag,
        vehicle=arguments.vehicle,
        imu_noise=noise,
        imu_topic=arguments.imu_topic,
        start_s=arguments.start_s,
        duration_s=arguments.duration_s,
    )
    done = export_bag(
        arguments.format,
        recording,
        arguments.output,
        cameras=[name.strip() for name in arguments.cameras.split(",") if name.strip()],
        is_lean=arguments.lean,
        overwrite=arguments.overwrite,
    )
    write_json(arguments.json, {"messages": done.counts, "problems": list(done.problems)})
    if arguments.json != "-":
        for topic, n in sorted(done.counts.items()):
            print(f"  {topic}: {n}")
        for line in done.problems:
            print(f"caution: {line}")
        print(f"{arguments.format} data set: {arguments.output}")
    return 0
