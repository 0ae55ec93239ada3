# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Survey a world from the air: pictures with GNSS in their EXIF, and the mission that flies it.

The pattern follows from area, height and overlap; --pattern mapping is what a reconstruction of
ground, roofs and walls needs. Pictures are rendered at poses that miss the plan by seeded random
amounts (--seed); the mission file beside them flies the same lines in the simulator.

  aerotwin survey campus -o runs/survey
  aerotwin survey campus@1000 --pattern lawnmower --height-m 60 --overlap 0.8 0.6 -o runs/survey
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from aerotwin_reconstruction.survey.flight import GNSS_PRESETS
    from aerotwin_reconstruction.survey.pattern import PATTERNS

    parser.add_argument("world", metavar="WORLD", help="name, NAME@SEED or path")
    parser.add_argument("--pattern", choices=PATTERNS, default="mapping")
    parser.add_argument(
        "--area-m", type=float, nargs=4, metavar=("X0", "Y0", "X1", "Y1"), help="default: the world"
    )
    parser.add_argument("--height-m", type=float, help="above the ground at the start (45)")
    parser.add_argument(
        "--overlap", type=float, nargs=2, metavar=("FORWARD", "SIDE"), help="shares (0.8 0.6)"
    )
    parser.add_argument("--tilt-deg", type=float, help="of the crosshatch from straight down (35)")
    parser.add_argument("--heading-deg", type=float, help="of the lines, from east (0)")
    parser.add_argument("--size-px", type=int, nargs=2, metavar=("W", "H"), help="(1600 1200)")
    parser.add_argument("--focal-mm", type=float, help="with a sensor of 12.8 mm (9.6)")
    parser.add_argument("--gnss", choices=sorted(GNSS_PRESETS), default="rtk")
    parser.add_argument("--seed", type=int, default=0, help="of jitter and GNSS (0)")
    parser.add_argument("--json", metavar="FILE", help="the record; - for standard output")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER")


def run(args: argparse.Namespace) -> int:
    """Plan the survey, take its pictures and write the folder."""
    from aerotwin_core.cli import progress, say, write_json
    from aerotwin_core.errors import UserError
    from aerotwin_core.parameters import load_parameters, to_mapping
    from aerotwin_reconstruction import survey
    from aerotwin_reconstruction.survey.photograph import photograph
    from aerotwin_worlds import load_world

    pattern = load_parameters(survey.PatternParameters, _pattern(args), where="survey")
    camera = load_parameters(survey.SurveyCamera, _camera(args), where="survey")
    gnss = load_parameters(survey.GnssNoise, survey.GNSS_PRESETS[args.gnss], where=args.gnss)
    jitter = survey.FlightJitter()
    if args.seed < 0:
        raise UserError(f"--seed: must be 0 or more, got {args.seed}")
    world = load_world(args.world)
    area = args.area_m or (*world.bounds_m[0, :2], *world.bounds_m[1, :2])
    ground_z_m = float(world.start_p_map[2])
    try:
        shots = survey.plan_shots(
            pattern, camera, low_m=area[:2], high_m=area[2:], ground_z_m=ground_z_m
        )
        mission = survey.mission_text(shots, survey.FlightLimits(), world.start_p_map)
    except ValueError as error:
        raise UserError(f"{error}; see --area-m, --height-m, --overlap") from None
    taken = survey.fly_shots(shots, jitter, gnss, seed=args.seed)
    record = {
        "pattern": to_mapping(pattern),
        "area_m": [float(value) for value in area],
        "gnss": to_mapping(gnss),
        "jitter": to_mapping(jitter),
        "seed": args.seed,
        "n_lines": shots[-1].line + 1,
        "ground_sampling_m": camera.ground_sampling_m(pattern.height_m),
    }
    with progress(len(taken), "survey", unit="picture") as bar:
        photograph(
            world, taken, camera, gnss, args.out,
            mission=mission, record=record, on_picture=lambda: bar.update(1),
        )  # fmt: skip
    say(
        f"{args.out}: {len(taken)} pictures in {record['n_lines']} lines, "
        f"{100 * record['ground_sampling_m']:.1f} cm on the ground per pixel"
    )
    write_json(args.json, record | {"n_pictures": len(taken), "folder": str(args.out)})
    return 0


def _pattern(args: argparse.Namespace) -> dict:
    forward, side = args.overlap or (None, None)
    given = {
        "pattern": args.pattern,
        "height_m": args.height_m,
        "forward_overlap": forward,
        "side_overlap": side,
        "tilt_deg": args.tilt_deg,
        "heading_deg": args.heading_deg,
    }
    return {name: value for name, value in given.items() if value is not None}


def _camera(args: argparse.Namespace) -> dict:
    width, height = args.size_px or (None, None)
    given = {"width_px": width, "height_px": height, "focal_mm": args.focal_mm}
    return {name: value for name, value in given.items() if value is not None}
