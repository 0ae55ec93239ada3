# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the start page offers: the form, one run at a time, and the runs before it."""

import math
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aerotwin_core.cli import say
from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import WRITING_REPORT
from aerotwin_launch.arguments import SEPARATOR, split_tokens
from aerotwin_view.start.checked_start import check_with_simulator
from aerotwin_view.start.form import (
    MOST_LETTERS,
    OF_THE_PAGE,
    START,
    VIEW,
    VIEW_PORT,
    WORLD,
    StartForm,
    fields_of,
    groups_of,
    shown_line,
)
from aerotwin_view.start.launched_run import LaunchedRun
from aerotwin_view.start.named_files import FieldError, check_named_files
from aerotwin_view.start.past_runs import MOST_RUNS, past_runs, recorded_run, report_file
from aerotwin_view.start.played_run import PlayedRuns
from aerotwin_view.start.world_maps import WorldMaps
from aerotwin_worlds.loading import known_worlds, world_folders

_N_INTERRUPTS = 2


class BusyError(UserError):
    """A run cannot be started: another one runs."""


class StartAnswers:
    """Answers for the page, from any thread; each is a plain value for JSON.

    `runs` is the folder of runs; `host` where views of past runs listen; `view_port` the port from
    which a view looks for a free one.
    """

    def __init__(self, runs: Path, host: str, view_port: int) -> None:
        self._form = StartForm(runs)
        self._runs, self._view_port = runs, view_port
        self._played = PlayedRuns(host, view_port)
        self._maps = WorldMaps()
        self._run: LaunchedRun | None = None
        self._is_ended = False
        self._lock = threading.Lock()

    def form(self) -> dict[str, Any]:
        """Return the launch files with their fields, and the worlds."""
        scenarios = []
        for file in self._form.files.values():
            groups = [
                {"title": title, "fields": [asdict(field) for field in fields]}
                for title, fields in groups_of(fields_of(file)).items()
            ]
            scenarios.append({"name": file.name, "summary": file.summary, "groups": groups})
        worlds = [
            {"name": name, "has_picture": self.picture(name) is not None} for name in known_worlds()
        ]
        return {"scenarios": scenarios, "worlds": worlds, "runs": str(self._runs)}

    def line(self, request: Any) -> dict[str, Any]:
        """Return the command line of a request, and which fields differ from their defaults.

        Raises UserError if it is refused.
        """
        name, arguments = self._arguments(request)
        changed = [each for each in split_tokens(arguments)[1] if each not in OF_THE_PAGE]
        return {"line": shown_line(name, arguments), "changed": changed}

    def _arguments(self, request: Any) -> tuple[str, list[str]]:
        if not isinstance(request, dict) or {*request} != {"scenario", "values"}:
            raise UserError("request: expected an object with scenario and values, found another")
        return self._form.arguments(request["scenario"], request["values"])

    def start(self, request: Any) -> dict[str, Any]:
        """Start a run with a view; raises BusyError beside another run, UserError as `line`.

        Raises FieldError if a value names a file that does not exist, the start lies nowhere, or
        the simulator refuses a value.
        """
        name, arguments = self._arguments(request)
        self._refuse_second()
        self._check(name, split_tokens(arguments)[1])
        shown = [f"{VIEW}{SEPARATOR}true", f"{VIEW_PORT}{SEPARATOR}{self._view_port}"]
        with self._lock:
            self._refuse_second()
            if self._is_ended:
                raise UserError("start: the page has ended; start aerotwin view again")
            self._run = LaunchedRun(shown_line(name, arguments), [name, *arguments, *shown])
        return self.state()

    def _check(self, name: str, values: dict[str, str]) -> None:
        file = self._form.files[name]
        check_named_files(file.arguments, values)
        if {*START} & {*values}:
            all_values = {each.name: each.default or "" for each in file.arguments} | values
            east_m, north_m, _ = (_number(each, all_values[each]) for each in START)
            self._maps.check_start(all_values[WORLD], east_m, north_m)
        check_with_simulator(file, values)

    def _refuse_second(self) -> None:
        run = self._run
        if run is not None and run.is_running:
            raise BusyError(f"start: one run at a time, found '{run.line}' running; stop it first")

    def map(self, request: Any) -> dict[str, Any]:
        """Return the state of the map of a world, which is drawn when it is first asked for."""
        world = request.get(WORLD) if isinstance(request, dict) else None
        if not isinstance(world, str) or not world.isprintable() or len(world) > MOST_LETTERS:
            raise UserError("map: expected the name or path of a world, found another")
        return self._maps.state(world)

    def map_picture(self, number: str) -> Path | None:
        """Return the picture of a map, None if there is none."""
        return self._maps.picture(number)

    def stop(self) -> dict[str, Any]:
        """Ask the run to end; asked again, it gives up its report."""
        with self._lock:
            if self._run is None or not self._run.is_running:
                raise UserError("stop: expected a run, found none; it has ended already")
            self._run.interrupt()
        return self.state()

    def state(self) -> dict[str, Any]:
        """Return the state of the last run that was started here."""
        run = self._run
        if run is None:
            return {"phase": "none"}
        folder, report = run.report_folder, None
        if folder is not None and report_file(self._runs, folder.name) is not None:
            is_ours = (self._runs / folder.name).resolve() == folder.resolve()
            report = folder.name if is_ours else None
        return {**run.state(), "report": report}

    def runs(self) -> dict[str, Any]:
        """Return the newest runs."""
        runs = past_runs(self._runs)
        for run in runs:
            run["launch"] = self._form.known_launch(run["launch"])
        return {"runs": runs, "folder": str(self._runs), "most": MOST_RUNS}

    def report(self, name: str) -> Path | None:
        """Return the report of a run, None if there is none."""
        return report_file(self._runs, name)

    def play(self, request: Any) -> dict[str, Any]:
        """Return the address of the view that plays a run, once it is there; UserError if not."""
        name = request.get("run") if isinstance(request, dict) else None
        run = recorded_run(self._runs, name) if isinstance(name, str) else None
        if run is None:
            raise UserError("play: expected a run of the list with a bag, found none; reload it")
        return {"view": self._played.address(run)}

    def picture(self, world: str) -> Path | None:
        """Return the picture of a known world, None if there is none."""
        if world not in known_worlds():
            return None
        files = (folder / "pictures" / f"{world}.jpg" for folder in world_folders())
        return next((file for file in files if file.is_file()), None)

    def end(self) -> None:
        """End what was started here."""
        self._maps.close()
        with self._lock:
            run, self._is_ended = self._run, True
        if run is not None and run.is_running:
            _end_run(run)
        self._played.end()


def _end_run(run: LaunchedRun) -> None:
    """End a run as Ctrl-C ends a launch; a second one hurries it."""
    say(f"the run is ending: {WRITING_REPORT}")
    for _ in range(_N_INTERRUPTS):
        run.interrupt()
        with suppress(KeyboardInterrupt):
            run.wait()
            return
    run.wait()


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FieldError(name, f"{name}: expected a number, found '{text}'; correct it")
    return value
