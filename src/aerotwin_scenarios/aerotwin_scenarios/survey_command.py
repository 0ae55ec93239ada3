# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Survey a world from the air: pictures with GNSS in their EXIF, taken on a simulated flight.

The pattern follows from area, height and overlap; --pattern mapping is what a reconstruction of
ground, roofs and walls needs. The simulator flies it with the embedded autopilot, faster than real
time; the camera fires where the autopilot believes to be at each planned place. --flight planned
flies nothing: places miss the plan by seeded random amounts.

With --marks, marks are painted on the ground along a route before the pictures are taken: `route`
is that of a generated world, else a route file with markers_s_m.

  aerotwin survey campus -o runs/survey
  aerotwin survey campus@1000 --area-m -75 -60 75 60 --marks route --seed 1000 -o runs/survey
  aerotwin survey campus --pattern lawnmower --height-m 60 --overlap 0.8 0.6 -o runs/survey
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import progress, say, write_json, write_text_atomically
from aerotwin_core.errors import UserError

if TYPE_CHECKING:
    from aerotwin_reconstruction.survey import (
        CapturedShot,
        ExifGnssNoise,
        GimbalErrors,
        PatternParameters,
        Shot,
        SurveyCamera,
    )
    from aerotwin_worlds import World

FLIGHTS = ("simulated", "planned")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from aerotwin_reconstruction.survey.flight import GNSS_PRESETS
    from aerotwin_reconstruction.survey.pattern import PATTERNS

    add = parser.add_argument
    add("world", metavar="WORLD", help="name, NAME@SEED or path")
    add("--pattern", choices=PATTERNS, default="mapping")
    add("--area-m", type=float, nargs=4, metavar=("X0", "Y0", "X1", "Y1"), help="(the world)")
    add("--height-m", type=float, help="above the ground at the start (45)")
    add("--overlap", type=float, nargs=2, metavar=("FORWARD", "SIDE"), help="shares (0.8 0.6)")
    add("--tilt-deg", type=float, help="of the crosshatch from straight down (35)")
    add("--heading-deg", type=float, help="of the lines, from east (0)")
    add("--size-px", type=int, nargs=2, metavar=("W", "H"), help="(1600 1200)")
    add("--focal-mm", type=float, help="with a sensor of 12.8 mm (9.6)")
    add("--gnss", choices=sorted(GNSS_PRESETS), default="rtk", help="of the camera (rtk)")
    add("--flight", choices=FLIGHTS, default="simulated", help="who says where it was (simulated)")
    add("--instance", type=int, default=0, help="number of the vehicle, shifts its ports (0)")
    add("--port-shift", type=int, default=0, help="added to every port: flights side by side (0)")
    add("--marks", metavar="ROUTE", help="paint marks: along `route`, or a route file")
    add("--mark-size-m", type=float, default=0.6, help="diameter (0.6)")
    add("--seed", type=int, default=0, help="of flight, gimbal and GNSS (0)")
    add("--json", metavar="FILE", help="the record; - for standard output")
    add("-o", "--out", type=Path, required=True, metavar="FOLDER")


def run(args: argparse.Namespace) -> int:
    """Plan the survey, fly it, take its pictures and write the folder."""
    from aerotwin_core.parameters import load_parameters
    from aerotwin_reconstruction import survey
    from aerotwin_reconstruction.survey.folder import MISSION
    from aerotwin_reconstruction.survey.photograph import photograph
    from aerotwin_scenarios.teach_repeat.survey_marks import paint_route
    from aerotwin_worlds import load_world

    if args.seed < 0:
        raise UserError(f"--seed: must be 0 or more, got {args.seed}")
    pattern = load_parameters(survey.PatternParameters, _pattern(args), where="survey")
    camera = load_parameters(survey.SurveyCamera, _camera(args), where="survey")
    gnss = load_parameters(survey.ExifGnssNoise, survey.GNSS_PRESETS[args.gnss], where=args.gnss)
    world = load_world(args.world)
    area = args.area_m or [*world.bounds_m[0, :2], *world.bounds_m[1, :2]]
    shots, mission = _plan(world, area, pattern, camera)
    write_text_atomically(args.out / MISSION, mission)
    surveyed, marks = world, {}
    if args.marks is not None:
        surveyed, marks = paint_route(world, args.marks, args.world, args.mark_size_m, args.out)
    gimbal = survey.GimbalErrors()
    taken = _fly(args, world, shots, gimbal, gnss)
    record = _record(args, area, shots, taken, (pattern, gnss, gimbal)) | marks
    with progress(len(taken), "pictures", unit="picture") as bar:
        photograph(
            surveyed, taken, camera, gnss, args.out, record=record,
            on_picture=lambda: bar.update(1),
        )  # fmt: skip
    say(
        f"{args.out}: {len(taken)} pictures in {record['n_lines']} lines, "
        f"{record['flight_s']:.0f} s of flight, "
        f"{100 * camera.ground_sampling_m(pattern.height_m):.1f} cm on the ground per pixel"
    )
    write_json(args.json, record | {"n_pictures": len(taken), "folder": str(args.out)})
    return 0


def _plan(
    world: "World",
    area_m: Sequence[float],
    pattern: "PatternParameters",
    camera: "SurveyCamera",
) -> tuple[Sequence["Shot"], str]:
    """Return the requested pictures, and the mission that passes them."""
    from aerotwin_reconstruction.survey import FlightLimits, mission_text, plan_shots

    x0, y0, x1, y1 = area_m
    ground_z_m = float(world.start_p_map[2])
    try:
        shots = plan_shots(pattern, camera, low_m=(x0, y0), high_m=(x1, y1), ground_z_m=ground_z_m)
        return shots, mission_text(shots, FlightLimits(), world.start_p_map)
    except ValueError as error:
        raise UserError(f"{error}; see --area-m, --height-m, --overlap") from None


def _record(
    args: argparse.Namespace,
    area_m: Sequence[float],
    shots: Sequence["Shot"],
    taken: Sequence["CapturedShot"],
    chosen: tuple["PatternParameters", "ExifGnssNoise", "GimbalErrors"],
) -> dict[str, Any]:
    """Return how the survey was made."""
    from aerotwin_core.parameters import to_mapping

    pattern, gnss, gimbal = (to_mapping(parameters) for parameters in chosen)
    return {
        "pattern": pattern,
        "area_m": [float(value) for value in area_m],
        "flight": args.flight,
        "flight_s": taken[-1].stamp_s,
        "gnss": gnss,
        "gimbal": gimbal,
        "seed": args.seed,
        "n_lines": shots[-1].line + 1,
    }


def _fly(
    args: argparse.Namespace,
    world: "World",
    shots: Sequence["Shot"],
    gimbal: "GimbalErrors",
    gnss: "ExifGnssNoise",
) -> list["CapturedShot"]:
    """Return where the pictures were taken."""
    from aerotwin_reconstruction.survey import fly_shots, shots_of_flight
    from aerotwin_reconstruction.survey.folder import MISSION

    if args.flight == "planned":
        return fly_shots(shots, gimbal, gnss, seed=args.seed)
    from aerotwin_scenarios.teach_repeat.survey_flight import fly_survey

    with progress(100.0, "flight", unit="%") as bar:
        track = fly_survey(
            world, args.out / MISSION, args.out / "flight", seed=args.seed, instance=args.instance,
            port_shift=args.port_shift,
            on_progress=lambda share: bar.update(max(100.0 * share - bar.n, 0.0)),
        )  # fmt: skip
    try:
        return shots_of_flight(shots, track, gimbal, gnss, seed=args.seed)
    except ValueError as error:
        raise UserError(f"{error}; choose a greater --height-m, or --flight planned") from None


def _pattern(args: argparse.Namespace) -> dict:
    forward, side = args.overlap or (None, None)
    provided = {
        "pattern": args.pattern,
        "height_m": args.height_m,
        "forward_overlap": forward,
        "side_overlap": side,
        "tilt_deg": args.tilt_deg,
        "heading_deg": args.heading_deg,
    }
    return {name: value for name, value in provided.items() if value is not None}


def _camera(args: argparse.Namespace) -> dict:
    width, height = args.size_px or (None, None)
    provided = {"width_px": width, "height_px": height, "focal_mm": args.focal_mm}
    return {name: value for name, value in provided.items() if value is not None}
