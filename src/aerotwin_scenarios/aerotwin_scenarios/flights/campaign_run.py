# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios as the runs of a campaign: their documents, and the function that flies one."""

import hashlib
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from aerotwin_campaign import MachineFailure, RunContext
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.numbered_lock import claimed_number
from aerotwin_core.parameters import read_yaml
from aerotwin_core.run_folder import named_files
from aerotwin_px4_bridge.link import HIL_PORT
from aerotwin_px4_bridge.onboard import LOCAL_PORT, REMOTE_PORT
from aerotwin_scenarios.flights.fly import fly_scenario
from aerotwin_scenarios.flights.metrics import FLIGHT_METRICS
from aerotwin_scenarios.flights.scenario import FlightScenario, load_scenario, read_scenario
from aerotwin_scenarios.flights.shipped import ALL, find_scenario, shipped_scenarios
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.parameters import MAX_INSTANCE
from aerotwin_worlds import find_world

METRICS = FLIGHT_METRICS
"""What the table of a campaign says of its metrics."""
NAME, FILES = "name", "files"
"""Keys of a document beside those of a scenario file: its name, and the SHA-256 of its files."""


def documents(names: Sequence[str], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the documents of scenarios by their names: those that come with aerotwin, or files.

    `all` stands for those that come with aerotwin. A path is looked for in `folder`, then from the
    working folder. A document is the content of its file and what names it; files that it names
    have absolute paths and their SHA-256, the world's included.

    Raises
    ------
    UserError
        If there is no such scenario, it is wrong, or two have one name.
    """
    found: dict[str, dict[str, Any]] = {}
    for asked in names:
        for name in shipped_scenarios() if asked == ALL else (asked,):
            path = find_scenario(str(folder / name) if (folder / name).is_file() else name)
            document = _document(path)
            if found.setdefault(path.stem, document) is not document:
                raise UserError(f"scenario: two are named {path.stem}; rename a file, or leave one")
    return found


def check(document: Mapping[str, Any]) -> None:
    """Refuse a document that is no scenario; raises `UserError`."""
    _scenario(document)


def fly(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the scenario of a document with the seed of a run.

    The metrics are those of the flight and, for each expectation, `expect.N.is_met` and
    `expect.N.robustness` (None where it is not finite); the run is a success if all are met and
    every order was followed.

    Raises
    ------
    ParameterError
        If the values of the axes make no scenario.
    MachineFailure
        If the flight cannot begin here: a port is in use, a file is another one than when the
        campaign was begun.
    """
    scenario = _scenario(document).with_values({"seed": context.seed})
    n_vehicles = len(plan_vehicles(scenario.parameters))
    try:
        for path, digest in document.get(FILES, {}).items():
            _check_digest(Path(path), digest)
        with claimed_instances(n_vehicles, context.place.mavlink_instance) as shift:
            result = fly_scenario(scenario, context.folder, port_shift=shift).plain()
    except ParameterError:
        raise
    except UserError as error:
        raise MachineFailure(str(error)) from error
    metrics = dict(result["metrics"])
    metrics["is_repeatable"] = result["is_repeatable"]
    for k, verdict in enumerate(result["expectations"]):
        metrics[f"expect.{k}.is_met"] = verdict["is_met"]
        metrics[f"expect.{k}.robustness"] = verdict["robustness"]
    outcome = "; ".join([result["outcome"], *_unmet(result)])
    return {"metrics": metrics, "is_success": result["is_success"], "outcome": outcome}


@contextmanager
def claimed_instances(n: int, first: int) -> Iterator[int]:
    """Claim numbers in a row for the vehicles of a flight; they shift its ports.

    The first such row from `first` on that no other flight of a campaign has on this machine, and
    whose ports are free.

    Raises
    ------
    UserError
        If all are in use.
    """
    n_rows = MAX_INSTANCE + 2 - n
    for start in ((first + k) % n_rows for k in range(n_rows)):
        with ExitStack() as stack:
            claims = (claimed_number("instance", (start + k,)) for k in range(n))
            if all(stack.enter_context(claim) is not None for claim in claims) and all(
                _are_ports_free(start + k) for k in range(n)
            ):
                yield start
                return
    raise UserError(f"no {n} numbers of vehicles in a row are free on this machine; end a campaign")


def _are_ports_free(number: int) -> bool:
    """Return whether no flight outside of campaigns, or another program, has the ports."""
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    wanted = ((stream, HIL_PORT), (datagram, LOCAL_PORT), (datagram, REMOTE_PORT))
    for kind, port in wanted:
        with socket.socket(socket.AF_INET, kind) as tried:
            if kind == stream:  # an earlier flight's may still linger
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port + number))
            except OSError:
                return False
    return True


def _document(path: Path) -> dict[str, Any]:
    scenario = load_scenario(path)
    content = _with_absolute_paths(read_yaml(path), path.parent)
    world = find_world(scenario.parameters.world)
    files = named_files(content) | named_files({"world": str(world.absolute())})
    return {NAME: scenario.name, FILES: files, **content}


def _scenario(document: Mapping[str, Any]) -> FlightScenario:
    content = {key: value for key, value in document.items() if key not in (NAME, FILES)}
    name = str(document.get(NAME, "scenario"))
    return read_scenario(content, name=name, where=name)


def _with_absolute_paths(value: Any, folder: Path) -> Any:
    """Return plain values in which the files that texts name have absolute paths."""
    if isinstance(value, Mapping):
        return {key: _with_absolute_paths(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_absolute_paths(inner, folder) for inner in value]
    if isinstance(value, str) and Path(value).suffix in (".yaml", ".yml"):
        for path in (folder / value, Path(value)):
            if path.is_file():
                return str(path.absolute())
    return value


def _check_digest(path: Path, digest: str) -> None:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); the scenario names it, so each machine of "
            "the campaign must have it there"
        ) from None
    if found != digest:
        raise UserError(
            f"{path}: expected the file with SHA-256 {shown(digest[:16])}, found "
            f"{shown(found[:16])}: it is another one than when the campaign was begun; run it anew"
        )


def _unmet(result: Mapping[str, Any]) -> list[str]:
    unmet = [f"not met: {each['text']}" for each in result["expectations"] if not each["is_met"]]
    return [*unmet, *result["refusals"]]
