# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find painted marks in a reconstruction, and lead the route through them.

RECONSTRUCTION is a folder of aerotwin reconstruct, SURVEY that of its survey (aerotwin survey
--marks). The marks are looked for in the ortho picture alone. The folder then holds route.yaml,
the survey's route with the found marks as way-points, and marks.csv: where the reconstruction
shows the marks beside where they were painted, to judge repeats by.

  aerotwin reconstruct marks build/reconstruction --survey build/survey -o build/marks
  aerotwin teach build/reconstruction/cloud.ply --route build/marks/route.yaml -o build/route
  aerotwin repeat build/route --world campus --marks build/marks/marks.csv -o build/repeats
"""

import argparse
from pathlib import Path

from aerotwin_core.rms import rms, rms_length


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("reconstruction", type=Path, metavar="RECONSTRUCTION", help="folder with world.yaml")
    add("--survey", type=Path, required=True, metavar="SURVEY", help="folder with its route")
    add("--json", metavar="FILE", help="what was found; - for standard output")
    add("-o", "--out", type=Path, required=True, metavar="FOLDER")


def run(args: argparse.Namespace) -> int:
    """Find, lead the route through, compare with the truth; 0 when every mark was found."""
    import numpy as np

    from aerotwin_core.cli import say, write_json
    from aerotwin_reconstruction.surface.find_marks import find_marks
    from aerotwin_scenarios.teach_repeat import survey_marks as marks
    from aerotwin_teach_repeat.teaching import load_route, save_route
    from aerotwin_worlds import load_world

    route = load_route(args.survey / marks.ROUTE)
    painted = marks.read_painted(args.survey)
    found = find_marks(load_world(args.reconstruction), marks.read_size_m(args.survey))
    through = marks.route_through(route, found.points_map)
    matched = marks.match_marks(found.points_map, painted)
    save_route(args.out / marks.ROUTE, through)
    marks.write_score(args.out / marks.SCORE, matched)
    off = matched[:, :3] - matched[:, 3:]
    record = {
        "n_painted": len(painted),
        "n_found": len(found),
        "n_matched": len(matched),
        "least_correlation": float(found.correlation.min()),
        "horizontal_rmse_m": rms_length(off[:, :2]),
        "horizontal_max_m": float(np.hypot(*off[:, :2].T).max()),
        "vertical_rmse_m": rms(off[:, 2]),
    }
    say(
        f"{args.out}: {len(matched)} of {len(painted)} painted marks found, {len(found)} places in "
        f"all; off by {100 * record['horizontal_rmse_m']:.1f} cm RMS, "
        f"{100 * record['horizontal_max_m']:.1f} cm at most"
    )
    write_json(args.json, record | {"folder": str(args.out)})
    return 0 if len(matched) == len(painted) else 1
