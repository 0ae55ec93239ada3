# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of all pages move along with a robot, if one is chosen."""

import threading
from collections.abc import Sequence

import numpy as np
import viser

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.clear_view import Cast, clear_view
from aerotwin_view.scene.robot_labels import shown_names
from aerotwin_view.scene.world_scene import place_camera

NONE = "none"
_BACK_M = 8.0


class CameraFollower:
    """The choice of a robot to follow, the only one at first if there is only one.

    People turn and zoom as they like meanwhile: a camera is moved by as much as the robot moved.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lock = threading.RLock()  # setting a choice calls back
        self._names: list[str] = []
        self._places: FloatArray | None = None
        self._cast: Cast | None = None
        self._choice = page.gui.add_dropdown(
            "Follow", (NONE,), initial_value=NONE, hint="the cameras of all pages move along"
        )
        self._choice.on_update(lambda _: self._begin())
        page.on_client_connect(self._place)

    def see_past(self, cast: Cast) -> None:
        """Begin where the world that `cast` knows does not hide the robot."""
        self._cast = cast

    def set_names(self, names: Sequence[str]) -> None:
        """Offer these robots; who is followed still is, if it is one of them."""
        with self._lock:
            followed = str(self._choice.value)
            self._names, self._places = shown_names(names), None
            self._choice.options = (NONE, *self._names)
            if len(names) == 1:
                self._choice.value = self._names[0]
            elif followed not in self._names:
                self._choice.value = NONE

    def follow(self, places: FloatArray) -> None:
        """Tell where the robots are now, (n, 3) in map [m]."""
        with self._lock:
            before, self._places = self._places, places
            if before is None:
                place_camera(self._page, places.mean(axis=0), 0.0, back_m=_BACK_M)
            k = self._followed()
            if k is None or before is None or np.array_equal(places[k], before[k]):
                return
            for client in self._page.get_clients().values():
                client.camera.position = client.camera.position + places[k] - before[k]

    def _begin(self) -> None:
        for client in self._page.get_clients().values():
            self._place(client)

    def _place(self, client: viser.ClientHandle) -> None:
        """Place a camera behind the robot that is followed."""
        with self._lock:
            k = self._followed()
            if k is not None and self._places is not None:
                client.camera.position = clear_view(self._places[k], self._cast)
                client.camera.look_at = self._places[k]

    def _followed(self) -> int | None:
        chosen = str(self._choice.value)
        return self._names.index(chosen) if chosen in self._names else None
