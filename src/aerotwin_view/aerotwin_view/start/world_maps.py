# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps of worlds to choose a start on: drawn beside the page, one at a time, and kept."""

import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_view.start.named_files import FieldError
from aerotwin_view.start.top_view import PICTURE, REFUSED, TopView, read_top_view
from aerotwin_worlds.loading import find_world

LIMIT_S = 90.0
"""A world that takes longer to load and draw has no map."""
EAST, NORTH = "start_east_m", "start_north_m"
DRAWING, READY, FAILED = "drawing", "ready", "failed"
_MOST_LETTERS = 600


class _Map:
    """A map of one world, by the thread that draws it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.phase, self.reason = DRAWING, ""
        self.view: TopView | None = None
        self.is_ground: np.ndarray | None = None

    def show(self, view: TopView, is_ground: np.ndarray) -> None:
        """Note what was drawn."""
        self.view, self.is_ground, self.phase = view, is_ground, READY

    def fail(self, reason: str) -> None:
        """Note why there is none."""
        self.reason, self.phase = f"no map: {reason}", FAILED


class WorldMaps:
    """Maps by world; a changed world file is drawn again, a world that is left is not drawn on."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._folder = tempfile.TemporaryDirectory(prefix="aerotwin_maps_")
        self._maps: dict[tuple[str, Path, int], _Map] = {}
        self._n_maps = 0
        self._drawn: tuple[_Map, subprocess.Popen[bytes]] | None = None
        self._thread: threading.Thread | None = None  # of the map that was asked for last
        self._lock = threading.Lock()

    def state(self, spec: str) -> dict[str, Any]:
        """Return the state of a world's map as plain values; the first call lets it be drawn.

        Raises UserError if there is no such world.
        """
        key = _key(spec)
        with self._lock:
            found = self._maps.get(key)
            if found is None:
                found = self._maps[key] = self._start(spec, key)
        if found.phase != READY or found.view is None:
            return {"phase": found.phase, "reason": found.reason}
        picture = f"maps/{found.number}.jpg"
        return {"phase": READY, "picture": picture, **asdict(found.view)}

    def picture(self, number: str) -> Path | None:
        """Return the picture of a map, None if there is none."""
        with self._lock:
            known = {str(each.number) for each in self._maps.values() if each.phase == READY}
        return self._of(int(number)) / PICTURE if number in known else None

    def check_start(self, spec: str, east_m: float, north_m: float) -> None:
        """Raise FieldError if a start lies beside a world whose map is known."""
        with self._lock:
            found = self._maps.get(_key(spec))
        if found is None or found.view is None or found.is_ground is None:
            return  # the simulator refuses it
        pixel = found.view.pixel(east_m, north_m)
        if pixel is None or not found.is_ground[pixel[::-1]]:
            raise FieldError(
                EAST,
                f"{EAST}, {NORTH}: expected a place on the surface of {spec}, found {east_m:g} m "
                f"east and {north_m:g} m north of its start, which lies beside it; click the map",
            )

    def close(self) -> None:
        """End what is drawn, and forget all."""
        with self._lock:
            self._give_up()
        if self._thread is not None:
            self._thread.join()
        self._folder.cleanup()

    def _of(self, number: int) -> Path:
        return Path(self._folder.name) / str(number)

    def _start(self, spec: str, key: tuple[str, Path, int]) -> _Map:
        self._give_up()
        self._n_maps += 1
        made, folder = _Map(self._n_maps), self._of(self._n_maps)
        folder.mkdir()
        process = subprocess.Popen(
            python_command(
                "-m", "aerotwin_view.start.top_view", spec, str(folder), f"{2.0 * self._limit_s}"
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._drawn = made, process
        self._thread = threading.Thread(
            target=self._follow, args=(made, process, folder), name="map", daemon=True
        )
        self._thread.start()
        return made

    def _give_up(self) -> None:
        """End what is drawn: another world is asked for."""
        if self._drawn is None:
            return
        drawn, process = self._drawn
        self._drawn = None
        if drawn.phase == DRAWING:
            self._maps = {key: each for key, each in self._maps.items() if each is not drawn}
            process.kill()
            process.wait()

    def _follow(self, drawn: _Map, process: subprocess.Popen[bytes], folder: Path) -> None:
        try:
            output, errors = process.communicate(timeout=self._limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            drawn.fail(f"it was not drawn within {self._limit_s:g} s")
            return
        if process.returncode == 0:
            with suppress(OSError, ValueError, TypeError):
                drawn.show(*read_top_view(folder))
                return
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        is_refused = process.returncode == REFUSED
        reason = output.decode("utf-8", "replace") if is_refused else "".join(lines[-1:])
        drawn.fail(reason[:_MOST_LETTERS] or "it could not be drawn")


def _key(spec: str) -> tuple[str, Path, int]:
    path = find_world(spec.partition("@")[0])
    try:
        return spec, path, path.stat().st_mtime_ns
    except OSError as error:
        raise UserError(f"world {spec}: {error.strerror}; name another") from None
