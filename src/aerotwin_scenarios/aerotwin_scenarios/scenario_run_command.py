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
  aerotwin scenario run gnss_loss -p controller.kind=px4 -p wind.east_m_s=6
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("scenarios", nargs="+", metavar="SCENARIO", help="name, or path of a YAML file")
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
    from aerotwin_scenarios.flights.fly import fly_scenario
    from aerotwin_scenarios.flights.printing import result_lines
    from aerotwin_scenarios.flights.scenario import load_scenario
    from aerotwin_scenarios.flights.shipped import find_scenario

    changes = dict(_assignment(text) for text in args.parameter)
    changes = {name: yaml.safe_load(value) for name, value in changes.items()}
    scenarios = [load_scenario(find_scenario(name)) for name in args.scenarios]
    found: list[dict[str, Any]] = []
    is_quiet = args.json == "-"
    flights = [(each, seed) for each in scenarios for seed in args.seeds or [each.parameters.seed]]
    bar = progress(len(flights), "scenarios", unit="flight")
    for scenario, seed in flights:
        flown = scenario.with_values({**changes, "seed": seed})
        with _folder(args.out, f"{scenario.name}-{seed}") as folder:
            result = fly_scenario(flown, folder, port_shift=args.port_shift)
            write_json(str(folder / "result.json"), result.plain())
        bar.update()
        found.append({"scenario": scenario.name, "seed": seed, **result.plain()})
        for line in result_lines(scenario.name, seed, result) if not is_quiet else ():
            say(line)
    bar.close()
    n_met = sum(row["is_success"] for row in found)
    if not is_quiet and len(found) > 1:
        say(f"{n_met} of {len(found)} flights were as expected")
    write_json(args.json, {"flights": found})
    return 0 if n_met == len(found) else 1


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
