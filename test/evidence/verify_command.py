# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collect the long evidence: campaigns over seeds never used for tuning, none dropped.

Each is a file of test/evidence/campaigns, whose first lines say what it shows and against which
bars; --help lists them. Results, with a report page, are in RUNS/NAME; what is done is not done
again: a second call goes on where the first ended. `aerotwin campaign` reads, compares and
reproduces them like any other.

  make verify
  make verify NAMES="consistency lounge"
  make verify NAMES=dense ARGS="--set seeds=[1000] --workers 2"
  make verify NAMES=repeats ARGS="--set axes.case=[driven]"
  make fuzz FILES=100

Exit codes: 0 all bars met, 3 one is missed, 1 runs could not be made, 2 wrong use.
"""

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aerotwin_campaign.campaign_command import EXIT_NOT_MADE, add_set_argument
from evidence.data_folder import DATA

CAMPAIGNS = Path(__file__).parent / "campaigns"
FIRST_SEED = 1000
"""Those below were free for tuning."""
_STOPPED = (130, 143)
_NO_TEXT = "SPDX-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(f"{file.stem}: {_text(file)}" for file in _files().values())
    parser.add_argument("names", nargs="*", metavar="NAME", help="campaigns, as below; all if none")
    add_set_argument(parser, 'in place of what the campaigns have, as "seeds=[1000]"')
    parser.add_argument("--workers", type=int, metavar="N", default=1, help="runs at a time (1)")
    parser.add_argument(
        "--runs", type=Path, default=Path("build/verify"), help="where results are kept"
    )
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get(DATA, "../shared/data")),
        help=f"folder of real data (${DATA})",
    )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Run what is missing of the campaigns; return the worst exit code."""
    from aerotwin_campaign import load_campaign
    from aerotwin_core.cli import say, write_json
    from evidence.child import environment

    files = _chosen(arguments.names)
    changes = dict(arguments.changes)
    wanted = {name: load_campaign(file, changes) for name, file in files.items()}
    for name, campaign in wanted.items():
        _check_seeds(name, campaign.seeds)
    found: dict[str, Any] = {}
    for name, campaign in wanted.items():
        if reason := _missing(campaign.parameters.base or {}, arguments.data):
            found[name] = {"skipped": reason}
            if arguments.json != "-":
                say(f"{name}: skipped, {reason}")
            continue
        with _environment({**environment(), DATA: str(arguments.data.absolute())}):
            found[name] = _carry_out(name, arguments)
        if found[name]["exit_code"] in _STOPPED:
            break
    write_json(arguments.json, found)
    if arguments.json != "-":
        for name, each in found.items():
            say(f"{name}: {_verdict(each)}")
    return max((each.get("exit_code", 0) for each in found.values()), default=0)


def _missing(base: Mapping[str, Any], data: Path) -> str:
    """Return what a campaign needs that is not here; nothing if all is."""
    if "data" in base and not (data / base["data"]).is_dir():
        return f"real data not present: {base['data']} (looked in {data}; --data names it)"
    if "slams" in base:
        from evidence.verification.foreign_slams import available_slams

        if not available_slams(base["slams"]):
            return f"no program of {', '.join(base['slams'])} is named; see config/slams"
    return ""


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the workers, which have no arguments but those of a run."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _carry_out(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run a campaign; return its exit code and what it says of itself."""
    from aerotwin_core.cli import main

    store, result = arguments.runs / name, arguments.runs / f"{name}.json"
    tokens = ["campaign", "run", str(_files()[name]), "--store", str(store)]
    tokens += ["--workers", str(arguments.workers), "--json", str(result)]
    for key, value in arguments.changes:
        tokens += ["--set", f"{key}={json.dumps(value)}"]
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    code = main(tokens)
    report = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
    return {"exit_code": code, **report}


def _verdict(found: Mapping[str, Any]) -> str:
    if "skipped" in found:
        return f"skipped, {found['skipped']}"
    words = {0: "met", 3: "MISSED", EXIT_NOT_MADE: "runs could not be made"}
    return words.get(found["exit_code"], f"ended with exit code {found['exit_code']}")


def _files() -> dict[str, Path]:
    return {file.stem: file for file in sorted(CAMPAIGNS.glob("*.yaml"))}


def _chosen(names: Sequence[str]) -> dict[str, Path]:
    from aerotwin_core.errors import UserError

    files = _files()
    for name in names:
        if name not in files:
            raise UserError(f"no campaign '{name}' in {CAMPAIGNS}; there are {', '.join(files)}")
    return {name: files[name] for name in names or files}


def _check_seeds(name: str, seeds: Sequence[int]) -> None:
    from aerotwin_core.errors import UserError

    for seed in seeds:
        if seed < FIRST_SEED:
            raise UserError(
                f"{name}: seeds: expected {FIRST_SEED} and above, found {seed}: those below were "
                "free for tuning"
            )


def _text(file: Path) -> str:
    """Return what a campaign says of itself in the comment that it begins with."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if _NO_TEXT not in line:
            lines.append(line.removeprefix("#").strip())
    return " ".join(lines)
