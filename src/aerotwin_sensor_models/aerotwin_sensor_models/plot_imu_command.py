# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plot the Allan deviation of a simulated IMU, beside a recording of a real one.

The IMU of a preset lies still for an hour (--seconds). Each of its axes is drawn over the curve
that its parameters stand for: white noise falls with the square root of the averaging time, the
bias lifts the end. Where the two agree, the noise is what its density says, at any rate.

A recording is a CSV of EuRoC: stamp [ns], angular velocity x y z [rad/s], acceleration x y z
[m/s^2], one row per reading. Only a piece in which the vehicle stands still tells of the sensor
(--still, in seconds from the start).

  aerotwin plot imu -o allan.png
  aerotwin plot imu --preset iim42653 --rate-hz 1000 -o allan.svg
  aerotwin plot imu --recording V1_01_easy/mav0/imu0/data.csv --still 1.5 2.5 -o allan.png
"""

import argparse
from pathlib import Path

LONGEST_S = 4 * 3600.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--preset", default="adis16448", metavar="NAME", help="(adis16448)")
    parser.add_argument("--rate-hz", type=float, help="default: the rate of the preset")
    parser.add_argument("--seconds", type=float, default=3600.0, help="at rest (3600)")
    parser.add_argument("--seed", type=int, default=0, help="of the noise (0)")
    parser.add_argument("--recording", type=Path, metavar="CSV", help="readings of a real IMU")
    parser.add_argument(
        "--still",
        type=float,
        nargs=2,
        default=(0.0, 5.0),
        metavar=("FROM", "TO"),
        help="piece of the recording at rest [s] (0 5)",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE", help="picture: .png, .svg or .pdf"
    )
    parser.add_argument("--json", metavar="FILE", help="write the deviations; - is standard output")


def run(args: argparse.Namespace) -> int:
    """Simulate, compare and draw."""
    from aerotwin_core.cli import progress, write_json
    from aerotwin_core.errors import UserError
    from aerotwin_sensor_models.allan_plot import (
        curves_of_recording,
        draw,
        read_recording,
        save,
        simulate,
        summary,
    )
    from aerotwin_sensor_models.presets import load_preset

    parameters = load_preset("imu", args.preset)
    if min(parameters.gyroscope.noise_density, parameters.accelerometer.noise_density) <= 0.0:
        raise UserError(f"--preset: {args.preset} has no noise to draw; choose another")
    rate_hz = parameters.rate_hz if args.rate_hz is None else args.rate_hz
    if not 1.0 <= rate_hz <= 1e5:
        raise UserError(f"--rate-hz: must be 1 to 100000, got {rate_hz:g}")
    if not 10.0 <= args.seconds <= LONGEST_S or args.seconds * rate_hz > 2e7:
        raise UserError(
            f"--seconds: must be 10 to {LONGEST_S:g} and at most 2e7 readings, got "
            f"{args.seconds:g} s at {rate_hz:g} Hz; choose less"
        )
    recording = read_recording(args.recording, *args.still) if args.recording else None
    n = round(args.seconds * rate_hz)
    with progress(n, f"{args.preset} at rest", unit=" readings") as bar:
        simulated = simulate(parameters, rate_hz, n, args.seed, bar.update)
    real = curves_of_recording(recording) if recording else None
    figure = draw(args.preset, parameters, simulated, real)
    save(figure, args.out)
    result = summary(parameters, simulated, real)
    write_json(args.json, {"preset": args.preset, "rate_hz": rate_hz, **result})
    if args.json != "-":
        print(
            f"{args.out}  (at most {100 * result['largest_relative_error']:.1f} % off the "
            f"parameters up to {result['compared_up_to_s']:.3g} s)"
        )
    return 0
