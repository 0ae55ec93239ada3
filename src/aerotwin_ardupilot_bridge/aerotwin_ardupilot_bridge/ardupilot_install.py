# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a built ArduCopter SITL is on this machine."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.home_path import expanded

VARIABLE = "ARDUPILOT_DIR"
PROGRAM = "arducopter"
BUILT = Path("build/sitl/bin") / PROGRAM
OTHER_VEHICLES = {
    "ardurover": "for rovers", "arduplane": "for planes", "ardusub": "for submarines",
    "antennatracker": "for antennas", "blimp": "for blimps",
}  # fmt: skip
USUAL_PLACES = ("ardupilot", "~/ardupilot", "~/src/ardupilot")
"""A clone beside the working folder or at home."""


@dataclass(frozen=True, kw_only=True)
class ArduPilotInstall:
    """An `arducopter` for SITL; `origin` says why this one was chosen."""

    program: Path
    origin: str


def find_ardupilot(path: str = "", environment: Mapping[str, str] = os.environ) -> ArduPilotInstall:
    """Return the ArduCopter of a path; without one that of ARDUPILOT_DIR, else of a usual place.

    The path is an `arducopter`, the folder of one, or a tree in which one was built.

    Raises
    ------
    UserError
        If there is none.
    """
    for name, provided in (("ardupilot", path), (VARIABLE, environment.get(VARIABLE, ""))):
        if provided:
            if found := _at(provided):
                return ArduPilotInstall(program=found, origin=name)
            root = expanded(provided).resolve()
            raise UserError(
                f"{name}: looked for {root}, {root / PROGRAM} and {root / BUILT}, found none; "
                "give the folder of ardupilot and run './waf configure --board sitl' and './waf "
                "copter' in it, or give a built arducopter"
            )
    for place in USUAL_PLACES:
        if found := _at(place):
            return ArduPilotInstall(program=found, origin="found in a usual place")
    raise UserError(
        f"ardupilot: found none in {', '.join(USUAL_PLACES)}; give its folder, in which './waf "
        "configure --board sitl' and './waf copter' were run, or a built arducopter"
    )


def _at(text: str) -> Path | None:
    root = expanded(text).resolve()
    candidates = (root, root / PROGRAM, root / BUILT)
    found = next((c for c in candidates if c.is_file() and os.access(c, os.X_OK)), None)
    if found is not None and found.name in OTHER_VEHICLES:
        raise UserError(
            f"ardupilot: {found} is {OTHER_VEHICLES[found.name]}; multirotors are flown by "
            f"{PROGRAM}: give the path of that"
        )
    return found
