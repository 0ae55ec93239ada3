# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The wind as an arrow above a robot."""

from dataclasses import dataclass

import numpy as np
import viser

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.layers import Layers

LEAST_M_S, MOST_M_S = 0.05, 100.0
"""Below there is none; beyond it is no wind."""
_M_PER_M_S = 0.3
_LONGEST_M = 4.0
_ABOVE_M = np.array([0.0, 0.0, 1.5])
_COLOUR = (40, 160, 220)
_DIRECTIONS = (
    "east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east",
)  # fmt: skip
"""From 0, by 45 degrees."""


@dataclass(frozen=True, kw_only=True)
class SetWind:
    """The wind that a simulation is set to: towards where it blows (3,) in map [m/s].

    With `has_shear` it is that at a height of 6 m; `turbulence_m_s` is the strength of gusts.
    """

    v_map: tuple[float, float, float]
    has_shear: bool
    turbulence_m_s: float

    @property
    def speed_m_s(self) -> float:
        """How fast it is."""
        return float(np.linalg.norm(self.v_map))

    def text(self) -> str:
        """Return the wind in words.

        >>> SetWind(v_map=(3.0, 3.0, 0.0), has_shear=False, turbulence_m_s=0.0).text()
        'steady wind, as set: 4.2 m/s towards north-east'
        """
        parts = [f"{self.speed_m_s:.1f} m/s"]
        if self.speed_m_s >= LEAST_M_S:
            eighth = round(np.arctan2(self.v_map[1], self.v_map[0]) / (np.pi / 4.0)) % 8
            parts.append(f"towards {_DIRECTIONS[eighth]}")
        if self.has_shear:
            parts.append("at 6 m above ground")
        gusts = "; gusts, not shown" if self.turbulence_m_s > 0.0 else ""
        return f"steady wind, as set: {' '.join(parts)}{gusts}"


class WindArrow:
    """The arrow; none at first."""

    def __init__(self, page: Page, layers: Layers) -> None:
        self._page = page
        self._arrow: viser.ArrowsHandle | None = None
        self._wind: SetWind | None = None
        self._switch = layers.add(
            "Wind", "steady wind as the simulator is set; 1 m of arrow is 3.3 m/s", self._switched
        )

    def show(self, wind: SetWind | None, p_map: FloatArray | None) -> None:
        """Show a wind above a place (3,) [m]; None of either hides it."""
        is_blowing = wind is not None and LEAST_M_S <= wind.speed_m_s <= MOST_M_S
        if wind != self._wind or not is_blowing or p_map is None:
            self._remove()
        if wind is None or p_map is None or not is_blowing:
            return
        self._wind = wind
        if self._arrow is None:
            self._arrow = self._page.scene.add_arrows(
                "/wind", _ends(wind), _COLOUR, shaft_radius=0.05, head_radius=0.14,
                head_length=0.3, visible=self._switch.is_on,
            )  # fmt: skip
        self._arrow.position = p_map + _ABOVE_M

    def _remove(self) -> None:
        if self._arrow is not None:
            self._arrow.remove()
            self._arrow, self._wind = None, None

    def _switched(self, is_on: bool) -> None:
        if self._arrow is not None:
            self._arrow.visible = is_on


def _ends(wind: SetWind) -> FloatArray:
    """Return start and end of the arrow (1, 2, 3) about its middle [m]."""
    length_m = np.clip(_M_PER_M_S * wind.speed_m_s, 0.6, _LONGEST_M)
    half = 0.5 * length_m * np.array(wind.v_map) / wind.speed_m_s
    return np.array([[-half, half]])
