# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world that is loaded when it is asked for, beside what goes on."""

import threading

from aerotwin_core.errors import UserError
from aerotwin_worlds import World, load_world
from aerotwin_worlds.loading import find_world


class WorldLoading:
    """Loads a world by its name or path; None is no world.

    Raises UserError if there is no such world.
    """

    def __init__(self, spec: str | None) -> None:
        if spec is not None:
            find_world(spec)
        self._spec = spec
        self._thread: threading.Thread | None = None
        self._error: UserError | None = None
        self.world: World | None = None

    def is_loaded(self) -> bool:
        """Return whether `world` is there; the first call begins to load it.

        Raises UserError if it cannot be loaded.
        """
        if self._error is not None:
            raise self._error
        if self._thread is None and self._spec is not None:
            self._thread = threading.Thread(target=self._load, args=(self._spec,), daemon=True)
            self._thread.start()
        return self._spec is None or self.world is not None

    def _load(self, spec: str) -> None:
        try:
            self.world = load_world(spec)
        except UserError as error:
            self._error = error
