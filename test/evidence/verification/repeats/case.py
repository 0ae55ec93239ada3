# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a case of repeats is: how its route is taught with a seed, how often, under which bars."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aerotwin_scenarios.teach_repeat.judging import TaughtRouteTruth
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_worlds import World


@dataclass(frozen=True, kw_only=True, eq=False)
class TaughtRoute:
    """A route that was taught, in its true world.

    Attributes
    ----------
    graph : RouteGraph
        Its longest run is repeated, in the order in which it was taught.
    route : TaughtRouteTruth
        Marks, displacement and floor.
    world : World
        The true one.
    """

    graph: RouteGraph
    route: TaughtRouteTruth
    world: World

    @property
    def ids(self) -> list[int]:
        """Ids of the vertices that are repeated, in driving order."""
        return list(self.graph.runs[0])


Teach = Callable[[int, Path], TaughtRoute]
"""From a seed, which is that of world, map and runs, and an empty folder to keep things in."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What the repeats of a case must hold at the marks, with every seed.

    Attributes
    ----------
    rmse_m, max_m : float or None
        Of the offsets [m].
    above_floor_m : float or None
        Of the RMSE, beyond the floor of the map [m].
    repeatability_m : float
        Of a case that repeats a seed [m].
    is_structured : bool
        Whether no intervention is allowed.
    """

    rmse_m: float | None = None
    max_m: float | None = None
    above_floor_m: float | None = None
    repeatability_m: float = 0.01
    is_structured: bool = True


@dataclass(frozen=True, kw_only=True)
class Case:
    """One kind of taught route.

    Attributes
    ----------
    name, title : str
        The name is its word on the command line and its folder.
    teach : callable
        See `Teach`.
    n_repeats : int
        Of each seed.
    bars : Bars
    """

    name: str
    title: str
    teach: Teach
    n_repeats: int
    thresholds: Thresholds
