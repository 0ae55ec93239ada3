# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fly scenarios and judge them: what happens during the flight, and what is expected of it.

A scenario is a YAML file: world, airframe, mission, weather, seed as the simulator's parameters;
events (faults, gusts, an operator's orders) at a time or on a condition; and expectations, as
"landed within 60 s of gnss_lost" or "always position_error_m < 3". A name is one of those that
come with aerotwin (aerotwin scenario list). They fly without ROS, faster than real time, without
cameras unless the file says so. The exit code is 0 if all expectations are met, 1 if one is not.

  aerotwin scenario run gnss_loss
  aerotwin scenario run my_scenario.yaml --seeds 1000 1001 1002
  aerotwin scenario run gnss_loss -p wind.east_m_s=6
  aerotwin scenario run all --autopilot embedded px4

Several autopilots fly the same files, and a table sets them side by side. A real PX4 is looked for
as for any flight (px4.dir, PX4_DIR), a real ArduPilot, too (ardupilot.dir, ARDUPILOT_DIR); their
logs lie in the folder of the run.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KIND = "controller.kind"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("scenarios", nargs="+", metavar="SCENARIO", help="name, path of a YAML file, or all")
    add(
        "--autopilot", nargs="+", metavar="KIND",
        help="embedded, px4, ardupilot or several, in place of the file's controller.kind",
    )  # fmt: skip
    add("--seeds", type=int, nargs="+", metavar="SEED", help="in place of the file's seed")
    add(
        "-p", "--parameter", action="append", default=[], metavar="NAME=VALUE",
        help="parameter of the simulator in place of the file's; may be repeated",
    )  # fmt: skip
    add("--port-shift", type=int, default=0, help="added to every port: flights side by side (0)")
    add(
        "-o", "--out", type=Path, metavar="FOLDER",
        help="keep every run in a folder of its own in here (default: nothing is kept)",
    )  # fmt: skip
    add("--json", metavar="FILE", help="write the results as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Fly all, print the verdicts; 0 when everything expected was met, else 1."""
    import yaml

    from aerotwin_core.cli import progress, say, write_json
    from aerotwin_core.errors import UserError
    from aerotwin_scenarios.flights.fly import fly_scenario
    from aerotwin_scenarios.flights.printing import result_lines, table_lines
    from aerotwin_scenarios.flights.scenario import load_scenario
    from aerotwin_scenarios.flights.shipped import find_scenarios
    from aerotwin_simulator.controller_settings import AUTOPILOTS

    for kind in args.autopilot or ():
        if kind not in AUTOPILOTS:
            raise UserError(f"--autopilot: expected {' or '.join(AUTOPILOTS)}, found '{kind}'")
    changes = dict(_assignment(text) for text in args.parameter)
    if args.autopilot and KIND in changes:
        raise UserError(f"--autopilot: stands beside -p {KIND}; leave out one")
    changes = {name: yaml.safe_load(value) for name, value in changes.items()}
    kinds: list[dict[str, Any]] = [{KIND: kind} for kind in dict.fromkeys(args.autopilot or ())]
    flights = [
        (scenario, scenario.with_values({**changes, **kind, "seed": seed}))
        for scenario in map(load_scenario, find_scenarios(args.scenarios))
        for seed in args.seeds or [scenario.parameters.seed]
        for kind in kinds or [{}]
    ]
    found: list[dict[str, Any]] = []
    refused: list[str] = []
    is_quiet = args.json == "-"
    bar = progress(len(flights), "scenarios", unit="flight")
    for scenario, flown in flights:
        seed, autopilot = flown.parameters.seed, flown.parameters.controller.kind
        title = f"{scenario.name}-{autopilot}" if kinds else scenario.name
        row = {"scenario": scenario.name, "seed": seed, "autopilot": autopilot}
        try:
            with _folder(args.out, f"{title}-{seed}") as folder:
                result = fly_scenario(flown, folder, port_shift=args.port_shift)
                write_json(str(folder / "result.json"), result.plain())
        except UserError as error:
            if len(flights) == 1:
                raise
            refused.append(f"{title}, seed {seed}: refused: {error}")
            bar.update()
            continue
        bar.update()
        found.append({**row, **result.plain()})
        for line in result_lines(title, seed, result) if not is_quiet else ():
            say(line)
    bar.close()
    n_met = sum(row["is_success"] for row in found)
    if not is_quiet and len(flights) > 1:
        for line in table_lines(found) if found and len(kinds) > 1 else ():
            say(line)
        for line in refused:
            say(line)
        say(f"{n_met} of {len(flights)} flights were as expected, {len(refused)} refused")
    write_json(args.json, {"flights": found, "refused": refused})
    return 0 if n_met == len(flights) else 1


def _assignment(text: str) -> tuple[str, str]:
    from aerotwin_core.errors import UserError

    name, sign, value = text.partition("=")
    if not (sign and name):
        raise UserError(f"--parameter: expected NAME=VALUE, found '{text}'")
    return name, value


@contextmanager
def _folder(out: Path | None, name: str) -> Iterator[Path]:
    """Give the folder of one run: in `out`, or one that is removed afterwards."""
    from tempfile import TemporaryDirectory

    from aerotwin_core.run_folder import make_run_folder

    if out is not None:
        yield make_run_folder(out, name)
        return
    with TemporaryDirectory(prefix="aerotwin-") as folder:
        yield Path(folder)
