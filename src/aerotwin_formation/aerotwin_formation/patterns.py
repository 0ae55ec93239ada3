# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Patterns: the places of followers relative to their leader, from files.

Offsets are in map axes (east, north, up) and do not turn with the leader's heading, as in XTDrone,
from which the patterns for 6, 9 and 18 vehicles are. A file of one's own::

    name: wedge
    spacing_m: 3.0          # optional: scale it until the two nearest vehicles are so far apart
    offsets_m:              # of each follower; the leader is at 0, 0, 0
      - [-2.0, 2.0, 0.0]
      - [-2.0, -2.0, 0.0]
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import listed, printable
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters, parameter, read_yaml_with_lines
from aerotwin_formation.separation import closest_distance

FOLDER = Path(__file__).with_name("shipped")
MOST_VEHICLES = 2000
FARTHEST_M = 10_000.0
NEAREST_M = 1e-3
"""Offsets closer than this are the same place."""


@dataclass(frozen=True, kw_only=True)
class PatternFile:
    """A file of a pattern; `offsets_m` has a line of east, north, up for each follower."""

    name: str = parameter(text="what commands call it")
    spacing_m: float | None = parameter(
        None,
        unit="m",
        minimum=0.01,
        maximum=1000.0,
        text="distance of the two nearest vehicles, by scaling; none: as written",
    )
    offsets_m: tuple[tuple[float, float, float], ...] = parameter(
        unit="m", text="place of each follower: east, north, up of the leader"
    )

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            found = printable(self.name, 60)
            raise ParameterError(
                f"name: expected letters, digits and '_', found '{found}'; rename the pattern"
            )
        if not 1 <= len(self.offsets_m) < MOST_VEHICLES:
            raise ParameterError(
                f"offsets_m: expected 1 to {MOST_VEHICLES - 1} followers, found "
                f"{len(self.offsets_m)}; add or remove lines"
            )
        places: dict[tuple[int, ...], int] = {(0, 0, 0): -1}
        for k, offset in enumerate(self.offsets_m):
            if max(map(abs, offset)) > FARTHEST_M:
                raise ParameterError(
                    f"offsets_m[{k}]: expected at most {FARTHEST_M:g} m, found {list(offset)}; "
                    "offsets are in metres from the leader"
                )
            other = places.setdefault(tuple(round(x / NEAREST_M) for x in offset), k)
            if other != k:
                name = "the leader's" if other < 0 else f"that of offsets_m[{other}]"
                raise ParameterError(
                    f"offsets_m[{k}]: expected a place of its own, found {name}; move one of them"
                )


@dataclass(frozen=True, kw_only=True)
class FormationPattern:
    """Places of n vehicles relative to the leader.

    Attributes
    ----------
    name : str
        What commands call it.
    offsets : (n, 3) array
        East, north, up of the leader [m]; the first is the leader's own, zero.
    """

    name: str
    offsets: FloatArray

    def __post_init__(self) -> None:
        offsets = np.array(self.offsets, dtype=np.float64)
        if offsets.ndim != 2 or offsets.shape[1] != 3 or not 2 <= len(offsets) <= MOST_VEHICLES:
            raise ValueError(
                f"offsets must be 2 to {MOST_VEHICLES} points (n, 3), got shape {offsets.shape}"
            )
        if not np.isfinite(offsets).all() or offsets[0].any():
            raise ValueError("offsets must be finite, that of the leader, the first, zero")
        if closest_distance(offsets) < NEAREST_M:
            raise ValueError(f"offsets of pattern '{self.name}' must be distinct places")
        offsets.setflags(write=False)
        object.__setattr__(self, "offsets", offsets)

    @property
    def n_vehicles(self) -> int:
        """Number of vehicles, with the leader."""
        return len(self.offsets)

    def spacing_m(self, downwash_ratio: float = 1.0) -> float:
        """Return the distance of the two nearest [m]: the Euclidean one, or E of a downwash."""
        return closest_distance(self.offsets / np.array([1.0, 1.0, downwash_ratio]))

    def with_spacing(self, spacing_m: float, downwash_ratio: float = 1.0) -> "FormationPattern":
        """Return the pattern scaled until the two nearest are so far apart, as `spacing_m`."""
        if not 0.0 < spacing_m < math.inf:
            raise ValueError(f"spacing_m must be positive, got {spacing_m}")
        factor = spacing_m / self.spacing_m(downwash_ratio)
        return FormationPattern(name=self.name, offsets=factor * self.offsets)


def load_pattern(path: str | Path) -> FormationPattern:
    """Return the pattern of a YAML file.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        With file, line, key, what was expected, what was found and what to do.
    """
    content, where = read_yaml_with_lines(path)
    file = load_parameters(PatternFile, content, where=where)
    pattern = FormationPattern(
        name=file.name, offsets=np.vstack([np.zeros(3), np.array(file.offsets_m)])
    )
    return pattern if file.spacing_m is None else pattern.with_spacing(file.spacing_m)


def shipped_patterns() -> list[tuple[str, int]]:
    """Return name and number of vehicles of each pattern that comes with the package."""
    parts = (path.stem.rpartition("_") for path in FOLDER.glob("*.yaml"))
    return sorted((name, int(number)) for name, _, number in parts)


def shipped_pattern(name: str, n_vehicles: int) -> FormationPattern:
    """Return a pattern of XTDrone: 6 (origin, t, diamond, triangle), 9 (origin, cube, …) or 18.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If there is no such pattern.

    Examples
    --------
    >>> shipped_pattern("cube", 9).offsets[1].tolist()
    [2.0, 2.0, 2.0]
    """
    known = shipped_patterns()
    if (name, n_vehicles) not in known:
        names = listed(f"{one} for {n}" for one, n in known)
        raise ParameterError(
            f"pattern: expected one of {names}, found '{printable(name, 60)}' for {n_vehicles}; "
            "write a file of its own, or generate one"
        )
    return load_pattern(FOLDER / f"{name}_{n_vehicles}.yaml")
