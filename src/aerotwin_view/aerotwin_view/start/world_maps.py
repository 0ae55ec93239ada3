# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps of worlds to choose a start on: drawn beside the page, one at a time, and kept."""

import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_view.start.named_files import FieldError, world_file
from aerotwin_view.start.top_view import PICTURE, REFUSED, TopView, read_top_view

LIMIT_S = 90.0
"""A world that takes longer to load and draw has no map."""
LEFT_S = 3.0
"""A world that no page has asked for in so long is left for one that is asked for."""
MOST_MAPS = 20
EAST, NORTH = "start_east_m", "start_north_m"
DRAWING, READY, FAILED = "drawing", "ready", "failed"
_MOST_LETTERS = 600
_LOOK_S = 0.1
_Key = tuple[str, Path, int]


class _Map:
    """A map of one world, by the thread that draws it."""

    def __init__(self, number: int, spec: str) -> None:
        self.number, self.spec = number, spec
        self.asked_s = 0.0
        self.phase, self.reason = DRAWING, ""
        self.is_lasting = True  # whether drawing it again would give the same
        self.view: TopView | None = None
        self.is_ground: np.ndarray | None = None

    def show(self, view: TopView, is_ground: np.ndarray) -> None:
        """Note what was drawn."""
        self.view, self.is_ground, self.phase = view, is_ground, READY

    def fail(self, reason: str, *, is_lasting: bool) -> None:
        """Note why there is none."""
        self.reason, self.is_lasting, self.phase = f"no map: {reason}", is_lasting, FAILED


class WorldMaps:
    """The last maps by world; a changed world file is drawn again.

    Worlds are drawn in the order in which they were asked for. One that is not asked for any more
    is left, also while it is drawn if another one waits.
    """

    def __init__(self, limit_s: float = LIMIT_S, left_s: float = LEFT_S) -> None:
        self._limit_s, self._left_s = limit_s, left_s
        self._folder = tempfile.TemporaryDirectory(prefix="aerotwin_maps_")
        self._maps: dict[_Key, _Map] = {}  # what was asked for last is the last
        self._n_maps = 0
        self._drawn: _Map | None = None
        self._thread: threading.Thread | None = None  # while anything is to be drawn
        self._is_closed = False
        self._lock = threading.Lock()

    def state(self, spec: str) -> dict[str, Any]:
        """Return the state of a world's map as plain values; the first call lets it be drawn.

        Raises UserError if there is no such world.
        """
        key = _key(spec)
        with self._lock:
            if self._is_closed:
                return {"phase": FAILED, "reason": "no map: the start page has ended"}
            found = self._asked(key)
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
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join()
        self._folder.cleanup()

    def _of(self, number: int) -> Path:
        return Path(self._folder.name) / str(number)

    # -- with the lock held -------------------------------------------------------------------

    def _asked(self, key: _Key) -> _Map:
        self._forget()
        found = self._maps.pop(key, None)
        if found is None:
            self._n_maps += 1
            found = _Map(self._n_maps, key[0])
        found.asked_s = time.monotonic()
        self._maps[key] = found
        if found.phase == DRAWING and self._thread is None:
            self._thread = threading.Thread(target=self._draw_all, name="maps", daemon=True)
            self._thread.start()
        return found

    def _forget(self) -> None:
        """Forget worlds that wait in vain, failures that may not last, and the oldest maps."""
        for key, each in list(self._maps.items()):
            is_in_vain = each is not self._drawn and each.phase == DRAWING
            if (is_in_vain or not each.is_lasting) and self._is_left(each):
                del self._maps[key]
        ended = [key for key, each in self._maps.items() if each.phase != DRAWING]
        for key in ended[:-MOST_MAPS]:
            shutil.rmtree(self._of(self._maps.pop(key).number), ignore_errors=True)

    def _is_left(self, each: _Map) -> bool:
        return time.monotonic() - each.asked_s > self._left_s

    def _waiting(self) -> list[_Map]:
        waiting = [each for each in self._maps.values() if each.phase == DRAWING]
        waiting = [each for each in waiting if each is not self._drawn and not self._is_left(each)]
        return sorted(waiting, key=lambda each: each.number)

    # -- in the thread that draws -------------------------------------------------------------

    def _draw_all(self) -> None:
        while (drawn := self._next()) is not None:
            try:
                self._draw(drawn, self._of(drawn.number))
            except OSError as error:
                drawn.fail(f"it could not be drawn ({error.strerror})", is_lasting=False)
            if drawn.phase != READY:
                shutil.rmtree(self._of(drawn.number), ignore_errors=True)

    def _next(self) -> _Map | None:
        """Return the map that is to be drawn; None if the thread shall end."""
        with self._lock:
            self._drawn = None
            self._forget()
            waiting = [] if self._is_closed else self._waiting()
            self._drawn = waiting[0] if waiting else None
            if self._drawn is None:
                self._thread = None
            return self._drawn

    def _draw(self, drawn: _Map, folder: Path) -> None:
        folder.mkdir()
        life_s = f"{2.0 * self._limit_s}"
        process = subprocess.Popen(
            python_command("-m", "aerotwin_view.start.top_view", drawn.spec, str(folder), life_s),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        end_s = time.monotonic() + self._limit_s
        while True:
            try:
                output, errors = process.communicate(timeout=_LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if time.monotonic() > end_s:
                    drawn.fail(f"it was not drawn within {self._limit_s:g} s", is_lasting=False)
                if drawn.phase == FAILED or self._gives_up(drawn):
                    process.kill()
                    process.communicate()
                    return
        if process.returncode == 0:
            with suppress(OSError, ValueError, TypeError):
                drawn.show(*read_top_view(folder))
                return
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        is_refused = process.returncode == REFUSED
        reason = output.decode("utf-8", "replace") if is_refused else "".join(lines[-1:])
        is_lasting = process.returncode >= 0  # it was not killed
        drawn.fail(reason[:_MOST_LETTERS] or "it could not be drawn", is_lasting=is_lasting)

    def _gives_up(self, drawn: _Map) -> bool:
        """Return whether a drawing is to end, as none waits for it but for another; forget it."""
        with self._lock:
            if not self._is_closed and not (self._is_left(drawn) and self._waiting()):
                return False
            self._maps = {key: each for key, each in self._maps.items() if each is not drawn}
            return True


def _key(spec: str) -> _Key:
    path = world_file(spec)
    try:
        return spec, path, path.stat().st_mtime_ns
    except OSError as error:
        raise UserError(f"world {spec}: {error.strerror}; name another") from None
