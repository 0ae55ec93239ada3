# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Blades that turn on the robots next to whom watches."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.rotor_hubs import RotorHub

MOST_SPINNING = 12
"""Robots whose blades are drawn: the nearest ones; of others only the discs are."""
SLOWER = 50.0
"""Blades are shown slower than they are by this factor: a rotor makes several turns a picture."""
_WHITE, _DARK = (240, 240, 240, 255), (30, 30, 35, 255)
_ABOVE_HUB_M = 0.012


class SpinningRotors:
    """The blades of some robots, all of them one object of the page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._blades: Any = None
        self._owners = np.zeros(0, int)  # the row of the robot of each rotor
        self._p_base = np.zeros((0, 3))
        self._q_base = np.zeros((0, 4))
        self._angles = np.zeros(0)

    @property
    def angles(self) -> FloatArray:
        """The angles of the blades (n,) as they are shown [rad]."""
        return self._angles.copy()

    def set_rotors(self, hubs: Sequence[Sequence[RotorHub]]) -> None:
        """Draw the blades of these robots, each with its rotors, in place of those before."""
        if self._blades is not None:
            self._blades.remove()
            self._blades = None
        counts = [len(each) for each in hubs]
        every = [hub for each in hubs for hub in each]
        self._owners = np.repeat(np.arange(len(hubs)), counts)
        self._angles = np.zeros(len(every))
        if not every:
            return
        transforms = np.array([hub.T_base_hub for hub in every])
        self._p_base = transforms[:, :3, 3] + _ABOVE_HUB_M * transforms[:, :3, 2]
        self._q_base = Rotation.from_matrix(transforms[:, :3, :3]).as_quat()
        self._blades = self._page.scene.add_batched_meshes_trimesh(
            "/blades",
            _blades(),
            np.tile([1.0, 0.0, 0.0, 0.0], (len(every), 1)),
            np.zeros((len(every), 3)),
            batched_scales=np.array([hub.radius_m for hub in every], np.float32),
            cast_shadow=False,
            receive_shadow=False,
        )

    def show(
        self, p_map_body: FloatArray, q_map_body: FloatArray, speeds: FloatArray, dt: float
    ) -> None:
        """Turn the blades for some time [s], and move them with their robots.

        The robots are those of `set_rotors`: positions (n, 3) [m], quaternions xyzw (n, 4);
        speeds (m,) of all their rotors one after another [rad/s], 0 where it is not known.
        """
        if self._blades is None:
            return
        self._angles = (self._angles + speeds * dt / SLOWER) % (2.0 * np.pi)
        of_robot = Rotation.from_quat(q_map_body[self._owners])
        turned = of_robot * Rotation.from_quat(self._q_base)
        turned *= Rotation.from_rotvec(self._angles[:, None] * (0.0, 0.0, 1.0))
        places = p_map_body[self._owners] + of_robot.apply(self._p_base)
        self._blades.batched_positions = places.astype(np.float32)
        self._blades.batched_wxyzs = turned.as_quat(scalar_first=True).astype(np.float32)


def _blades() -> trimesh.Trimesh:
    """Return two blades of length 1, one of them white: its turning is seen."""
    halves = []
    for side, colour in ((1.0, _WHITE), (-1.0, _DARK)):
        half = trimesh.creation.box(extents=(1.0, 0.16, 0.06))
        half.apply_translation((0.5 * side, 0.0, 0.0))
        half.visual = trimesh.visual.ColorVisuals(half, face_colors=np.tile(colour, (12, 1)))
        halves.append(half)
    both = trimesh.util.concatenate(halves)
    assert isinstance(both, trimesh.Trimesh)
    return both
