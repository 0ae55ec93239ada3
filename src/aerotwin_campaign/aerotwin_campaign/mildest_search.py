# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mildest disturbance that breaks something: a search over points from mild to severe.

A point is a vector t in [0, 1]^n, 0 mild and 1 severe on each axis; its size is |t|. One axis is
bisected. On several, differential evolution finds a region, a linear approximation (COBYLA) its
point next to 0 where margins say how far a point is from breaking, and bisections the edge.

References
----------
Storn and Price: Differential Evolution. J. Global Optimization 11, 1997.
Powell: A direct search optimization method that models the objective and constraint functions by
linear interpolation. Advances in Optimization and Numerical Analysis, 1994 (COBYLA).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

FOUND, NOTHING_BREAKS, MILDEST_BREAKS = "found", "nothing breaks", "the mildest breaks already"
_POPULATION, _FEWEST_POPULATION = 6, 12
"""Points of a generation, by axis."""
_GLOBAL_SHARE = 0.5
"""Of the points that may be evaluated: for the region."""
_FIRST_STEP = 0.1
_ROUNDS = 3
"""Of shrinking each axis, at most."""


@dataclass(frozen=True, kw_only=True)
class EvaluatedPoint:
    """What became of a point.

    Attributes
    ----------
    t : tuple of float
        From mild to severe.
    is_broken : bool
    margin : float or None
        How far it is from breaking, negative if it breaks; None if it is not known.
    """

    t: tuple[float, ...]
    is_broken: bool
    margin: float | None

    @property
    def size(self) -> float:
        """Length of t."""
        return math.hypot(*self.t)


@dataclass(frozen=True, kw_only=True)
class MildestBreak:
    """What a search found.

    Attributes
    ----------
    outcome : str
        `FOUND`, `NOTHING_BREAKS` or `MILDEST_BREAKS`.
    broken, passed : EvaluatedPoint or None
        The mildest that breaks; the severest that passes, in its direction, below it.
    passed_beyond : tuple of EvaluatedPoint
        Points of the one axis that pass although a milder one breaks.
    is_complete : bool
        Whether the search ended before the points that may be evaluated were spent.
    n_points : int
        Evaluated.
    """

    outcome: str
    broken: EvaluatedPoint | None = None
    passed: EvaluatedPoint | None = None
    passed_beyond: tuple[EvaluatedPoint, ...] = ()
    is_complete: bool = True
    n_points: int = 0


Evaluate = Callable[[Sequence[tuple[float, ...]]], list[EvaluatedPoint]]
"""Evaluates points, those of one call at a time where that is possible."""


class _Spent(Exception):
    """All points that may be evaluated were."""


def find_mildest_break(
    evaluate: Evaluate,
    n_axes: int,
    *,
    tolerance: float = 0.01,
    n_samples: int = 5,
    most_points: int = 200,
    seed: int = 0,
) -> MildestBreak:
    """Search the smallest point that breaks.

    Parameters
    ----------
    evaluate : callable
        It may return a point next to the one it is asked for, as where values are whole numbers.
    n_axes : int
    tolerance : float
        Largest distance between the point that breaks and the one that passes.
    n_samples : int
        Points on the one axis, its ends included, at which it is seen whether what is more severe
        breaks, too. 2 at least.
    most_points : int
        Evaluated at most.
    seed : int
        Of the random numbers.
    """
    search = _Search(evaluate, n_axes, tolerance, most_points)
    try:
        if n_axes == 1:
            search.on_a_line(n_samples)
        else:
            search.in_a_cube(seed)
    except _Spent:
        search.is_complete = False
    return search.result()


class _Search:
    """Points that were evaluated, and the mildest of them that breaks."""

    def __init__(self, evaluate: Evaluate, n_axes: int, tolerance: float, most_points: int) -> None:
        self._evaluate, self._n_axes = evaluate, n_axes
        self._tolerance, self._n_left = tolerance, most_points
        self._known: dict[tuple[float, ...], EvaluatedPoint] = {}
        self._passed: EvaluatedPoint | None = None
        self.is_complete = True

    def result(self) -> MildestBreak:
        """Return what was found."""
        points = set(self._known.values())
        n_points = len(points)
        origin = self._known.get((0.0,) * self._n_axes)
        if origin is not None and origin.is_broken:
            return MildestBreak(outcome=MILDEST_BREAKS, broken=origin, n_points=n_points)
        broken = self._mildest()
        if broken is None:
            return MildestBreak(
                outcome=NOTHING_BREAKS, is_complete=self.is_complete, n_points=n_points
            )
        beyond: list[EvaluatedPoint] = []
        if self._n_axes == 1:
            beyond = [p for p in points if not p.is_broken and p.size > broken.size]
            self._passed = self._severest_below(broken)
        return MildestBreak(
            outcome=FOUND,
            broken=broken,
            passed=self._passed,
            passed_beyond=tuple(sorted(beyond, key=lambda point: point.size)),
            is_complete=self.is_complete,
            n_points=n_points,
        )

    def on_a_line(self, n_samples: int) -> None:
        """Sample the one axis, then bisect below the mildest sample that breaks."""
        ts = np.linspace(0.0, 1.0, max(n_samples, 2)).tolist()
        self._at([(t,) for t in ts])
        broken = self._mildest()
        if broken is not None and broken.size > 0.0:
            self._bisect(broken, self._severest_below(broken))

    def in_a_cube(self, seed: int) -> None:
        """Search a region, its point next to the origin, and the edge there."""
        origin, *_ = self._at([(0.0,) * self._n_axes, (1.0,) * self._n_axes])
        if origin.is_broken:
            return
        scale = origin.margin if origin.margin is not None and origin.margin > 0.0 else None
        self._evolve(seed, scale)
        if self._mildest() is None:
            return
        if scale is not None:
            self._approximate(scale)
        self._shrink()

    def _evolve(self, seed: int, scale: float | None) -> None:
        from scipy.optimize import differential_evolution

        n = max(_POPULATION * self._n_axes, _FEWEST_POPULATION)
        rng = np.random.default_rng(seed)
        n_generations = max(int(_GLOBAL_SHARE * self._n_left / n) - 1, 1)
        differential_evolution(
            lambda ts: np.array([self._cost(p, scale) for p in self._at_columns(ts)]),
            [(0.0, 1.0)] * self._n_axes,
            init=_stratified(rng, n, self._n_axes),
            maxiter=n_generations,
            rng=rng,
            polish=False,
            updating="deferred",
            vectorized=True,
        )

    def _cost(self, point: EvaluatedPoint, scale: float | None) -> float:
        """Return the size of a point that breaks; more than any size for one that passes."""
        largest = math.sqrt(self._n_axes)
        if point.is_broken:
            return point.size
        if scale is None or point.margin is None:
            return 2.0 * largest - point.size
        return largest * (1.0 + max(point.margin, 0.0) / scale)

    def _approximate(self, scale: float) -> None:
        """Minimise the size subject to a margin below zero, by linear approximations of it."""
        from scipy.optimize import minimize

        start = self._mildest()
        assert start is not None

        def excess(t: np.ndarray) -> float:
            (point,) = self._at_columns(t[:, None])
            if point.margin is None:
                return _FIRST_STEP if point.is_broken else -_FIRST_STEP
            return -point.margin / scale

        minimize(
            lambda t: float(np.sum(t**2)),
            np.array(start.t),
            method="COBYLA",
            bounds=[(0.0, 1.0)] * self._n_axes,
            constraints={"type": "ineq", "fun": excess},
            options={"rhobeg": _FIRST_STEP, "tol": 0.5 * self._tolerance},
        )

    def _shrink(self) -> None:
        """Bisect towards the origin, and each axis alone, until nothing milder breaks."""
        for _ in range(_ROUNDS):
            before = self._mildest()
            assert before is not None
            self._bisect(before)
            for axis in range(self._n_axes):
                best = self._mildest()
                assert best is not None
                (point,) = self._at([(*best.t[:axis], 0.0, *best.t[axis + 1 :])])
                if not point.is_broken and best.t[axis] > self._tolerance:
                    self._bisect(best, point)
            after = self._mildest()
            assert after is not None
            if before.size - after.size < self._tolerance:
                break
        best = self._mildest()
        assert best is not None
        self._passed = self._bisect(best)

    def _bisect(
        self, broken: EvaluatedPoint, passed: EvaluatedPoint | None = None
    ) -> EvaluatedPoint:
        """Bisect between a point that breaks and one that passes, the origin; return the latter."""
        passed = passed or self._known[(0.0,) * self._n_axes]
        while math.dist(broken.t, passed.t) > self._tolerance:
            middle = tuple(0.5 * (a + b) for a, b in zip(broken.t, passed.t))
            (point,) = self._at([middle])
            if point.t in (broken.t, passed.t):  # of whole numbers, these are neighbours
                break
            broken, passed = (point, passed) if point.is_broken else (broken, point)
        return passed

    def _severest_below(self, broken: EvaluatedPoint) -> EvaluatedPoint:
        """Return the severest point of the one axis that passes and is milder than another."""
        points = self._known.values()
        below = [each for each in points if not each.is_broken and each.size < broken.size]
        return max(below, key=lambda point: point.size)

    def _mildest(self) -> EvaluatedPoint | None:
        broken = [point for point in self._known.values() if point.is_broken]
        return min(broken, key=lambda point: (point.size, point.t), default=None)

    def _at_columns(self, ts: np.ndarray) -> list[EvaluatedPoint]:
        inside = np.clip(ts, 0.0, 1.0)
        return self._at([tuple(map(float, column)) for column in inside.T])

    def _at(self, ts: Sequence[tuple[float, ...]]) -> list[EvaluatedPoint]:
        """Evaluate points, each once; raises `_Spent`."""
        new = [t for t in dict.fromkeys(ts) if t not in self._known]
        if len(new) > self._n_left:
            raise _Spent
        self._n_left -= len(new)
        for t, point in zip(new, self._evaluate(new) if new else ()):
            self._known[t] = point
        return [self._known[t] for t in ts]


def _stratified(rng: np.random.Generator, n: int, n_axes: int) -> np.ndarray:
    """Return points (n, n_axes), one in each n-th of each axis."""
    columns = [(rng.permutation(n) + rng.random(n)) / n for _ in range(n_axes)]
    return np.column_stack(columns)
