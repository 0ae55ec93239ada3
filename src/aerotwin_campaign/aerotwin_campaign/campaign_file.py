# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of a campaign: strict, and how many runs it stands for is known before any is made."""

import argparse
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_campaign.axes import Axis, ListedAxis, check_plain, read_axis
from aerotwin_campaign.paths import check_path
from aerotwin_campaign.sampling import GRID, METHODS
from aerotwin_campaign.scenario_documents import (
    FLIGHT,
    SCENARIO,
    check_conditions,
    check_scenarios,
    scenario_documents,
)
from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import shown
from aerotwin_core.gate import Condition, parse_condition
from aerotwin_core.origin import Origin, as_origin
from aerotwin_core.parameters import load_parameters, parameter, read_yaml_with_lines

MOST_RUNS = 1_000_000
MOST_SEED = 2**32 - 1
KEEP_ALL, KEEP_FAILURES, KEEP_METRICS = "all", "failures", "metrics"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class CampaignParameters:
    """The keys of a campaign file."""

    name: str = parameter("", text="of the campaign, a part of folder names")
    scenario: Any = parameter(
        None, text="scenario files or shipped scenarios that are flown: one, a list, or all"
    )
    run: str = parameter("", text="function of a run, package.module:function")
    base: dict[str, Any] | None = parameter(None, text="document that the function receives")
    axes: dict[str, Any] | None = parameter(None, text="values by their dotted path in base")
    new: tuple[str, ...] = parameter((), text="paths of axes that base does not have")
    sampling: str = parameter(GRID, text="how the axes are combined", choices=METHODS)
    samples: int = parameter(
        0, text="number of combinations, for all but the grid", minimum=1, maximum=MOST_RUNS
    )
    sampling_seed: int = parameter(0, text="of the samples", minimum=0, maximum=MOST_SEED)
    seeds: Any = parameter((0,), text="of the runs: a list, or {first, count}")
    repeats: int = parameter(1, text="runs of each document and seed", minimum=1, maximum=MOST_RUNS)
    measure: tuple[str, ...] = parameter((), text="metrics in the table; none names all")
    figures: str = parameter("", text="function of all runs together, package.module:function")
    fail_if: tuple[str, ...] = parameter((), text="conditions under which the campaign fails")
    timeout_s: float = parameter(
        3600.0, text="after it a run is a failure", unit="s", minimum=0.01, maximum=604800.0
    )
    keep: str = parameter(
        KEEP_ALL,
        text="of a run's folder, beside its result and the log of a failure",
        choices=(KEEP_ALL, KEEP_FAILURES, KEEP_METRICS),
    )


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A campaign that can be run.

    Attributes
    ----------
    parameters : CampaignParameters
        As in its file.
    documents : mapping of str to mapping
        What the function receives, before the values of the axes are in it, by scenario; or `base`
        alone, by "".
    axes : mapping of str to axis
        By dotted path in the documents, in the order of the file.
    seeds : tuple of int or range
        Of the runs of each document.
    conditions : tuple of Condition
        On the summary of its results: it fails if one holds.
    """

    parameters: CampaignParameters
    documents: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, Axis]
    seeds: tuple[int, ...] | range
    conditions: tuple[Condition, ...]

    @property
    def run(self) -> str:
        """The function of its runs."""
        return self.parameters.run or FLIGHT

    @property
    def axis_names(self) -> tuple[str, ...]:
        """What differs between runs: the paths of the axes, after `scenario` if it flies some."""
        return (*((SCENARIO,) if self.parameters.scenario is not None else ()), *self.axes)

    @property
    def n_points(self) -> int:
        """Number of combinations of the axes."""
        if self.parameters.sampling != GRID:
            return self.parameters.samples
        return math.prod(len(axis) for axis in self.axes.values() if isinstance(axis, ListedAxis))

    @property
    def n_runs(self) -> int:
        """Number of runs: documents x combinations x seeds x repeats."""
        n_each = self.n_points * len(self.seeds) * self.parameters.repeats
        return len(self.documents) * n_each


def load_campaign(path: str | Path, changes: Mapping[str, Any] | None = None) -> Campaign:
    """Return the campaign of a YAML file.

    Parameters
    ----------
    path : path
    changes : mapping of str to value, optional
        Take the place of what the file has at these dotted keys, or are added to it.

    Raises
    ------
    ParameterError
        With the line and the key if it is invalid, or stands for more than `MOST_RUNS` runs.
    """
    content, origin = read_yaml_with_lines(path)
    return make_campaign(changed(content, changes or {}), where=origin)


def changed(content: Any, changes: Mapping[str, Any]) -> Any:
    """Return the content of a campaign file with other values at dotted keys, as `axes.a.b`.

    Raises `ParameterError` if a key leads through what is no mapping.
    """
    for path, value in changes.items():
        axis = path.removeprefix("axes.")  # whose dots are its own
        *parents, name = path.split(".") if axis == path else ("axes", axis)
        content = inner = dict(content) if isinstance(content, Mapping) else {}
        for part in parents:
            if not isinstance(below := inner.get(part, {}), Mapping):
                raise ParameterError(f"{path}: '{part}' is {shown(below)}, which has no keys")
            inner[part] = dict(below)
            inner = inner[part]
        inner[name] = value
    return content


def make_campaign(content: Any, *, where: str | Origin) -> Campaign:
    """Return the campaign of a mapping; `where` is its origin.

    Raises `ParameterError` as `load_campaign`.
    """
    where = as_origin(where)
    at = where.place
    if not isinstance(content, Mapping):
        raise ParameterError(f"{where}: expected names with values, found {shown(content)}")
    loaded = CampaignParameters()
    for key, value in content.items():
        loaded = load_parameters(CampaignParameters, {key: value}, where=where, base=loaded)
    _check_required(content, loaded, where, at)
    check_plain(loaded.base or {}, f"{at('base')}: base")
    if is_flight := loaded.scenario is not None:
        documents = scenario_documents(
            loaded.scenario, f"{at(SCENARIO)}: {SCENARIO}", Path(where.name)
        )
    else:
        documents = {"": loaded.base or {}}
    axes = dict(_axes(loaded, documents, at))
    if is_flight:
        check_scenarios(documents, axes, lambda path: f"{at('axes', path)}: axes.{path}")
    seeds = _seeds(loaded.seeds, f"{at('seeds')}: seeds")
    place = f"{at('fail_if')}: fail_if"
    conditions = tuple(_conditions(loaded.fail_if, place))
    if is_flight and not loaded.figures:  # what that finds is known later only
        check_conditions(conditions, place)
    campaign = Campaign(
        parameters=loaded, documents=documents, axes=axes, seeds=seeds, conditions=conditions
    )
    if campaign.n_runs > MOST_RUNS:
        raise ParameterError(
            f"{where}: {len(documents)} documents x {campaign.n_points} combinations of the axes x "
            f"{len(seeds)} seeds x {loaded.repeats} repeats are {campaign.n_runs} runs, at most "
            f"{MOST_RUNS} are possible; shorten an axis, or take 'sampling: sobol' and 'samples'"
        )
    return campaign


def _check_required(
    content: Mapping[str, Any], loaded: CampaignParameters, where: Origin, at: Any
) -> None:
    fields = CampaignParameters.__dataclass_fields__
    is_flight = loaded.scenario is not None
    for name in ("run", "base", "new") if is_flight else ():
        if name in content:
            raise ParameterError(
                f"{at(name)}: {name}: is given by '{SCENARIO}' already; leave one of them out"
            )
    for name in ("name",) if is_flight else ("name", "run", "base"):
        if name not in content:
            text = fields[name].metadata["text"]
            raise ParameterError(f"{where}: '{name}' is missing ({text}); add it")
    if not _NAME.fullmatch(loaded.name):
        raise ParameterError(
            f"{at('name')}: name: expected letters, digits, _, - and ., found {shown(loaded.name)}"
        )
    for key, name in (("run", loaded.run), ("figures", loaded.figures)):
        is_needed = key in content or (key == "run" and not is_flight)
        if is_needed and not _FUNCTION.fullmatch(name):
            raise ParameterError(
                f"{at(key)}: {key}: expected package.module:function, found {shown(name)}"
            )
    is_grid = loaded.sampling == GRID
    if is_grid and ("samples" in content or "sampling_seed" in content):
        raise ParameterError(f"{where}: a grid has no samples; remove it, or choose a 'sampling'")
    if not is_grid and "samples" not in content:
        raise ParameterError(f"{where}: 'samples' is missing, which '{loaded.sampling}' needs")
    if not is_grid and not loaded.axes:
        raise ParameterError(f"{at('sampling')}: sampling: there are no axes to sample; remove it")


def _axes(
    loaded: CampaignParameters, documents: Mapping[str, Mapping[str, Any]], at: Any
) -> Iterator[tuple[str, Axis]]:
    given = loaded.axes or {}
    for path in loaded.new:
        if path not in given:
            raise ParameterError(f"{at('new')}: new: '{path}' is not among the axes; remove it")
    paths = [str(path) for path in given]
    for path, value in given.items():
        if not isinstance(path, str):
            raise ParameterError(f"{at('axes')}: axes: expected texts as keys, found {shown(path)}")
        place = f"{at('axes', path)}: axes.{path}"
        if loaded.scenario is None:
            check_path(documents[""], path, is_new=path in loaded.new, place=place)
        elif path == "seed":
            raise ParameterError(f"{place}: 'seeds' are those of the flights; list them there")
        for other in paths:
            if other.startswith(f"{path}."):
                raise ParameterError(f"{place}: '{other}' is inside it; remove one of them")
        axis = read_axis(value, place)
        if loaded.sampling == GRID and not isinstance(axis, ListedAxis):
            raise ParameterError(
                f"{place}: a distribution has no grid; list its values, or take "
                "'sampling: sobol' and 'samples'"
            )
        yield path, axis


def _seeds(value: Any, place: str) -> tuple[int, ...] | range:
    if isinstance(value, Mapping):
        if set(value) != {"first", "count"}:
            raise ParameterError(f"{place}: expected {{first, count}}, found {shown(value)}")
        first, count = value["first"], value["count"]
        if not _is_seed(count) or not 1 <= count <= MOST_RUNS:
            raise ParameterError(f"{place}.count: expected 1 to {MOST_RUNS}, found {shown(count)}")
        if not _is_seed(first) or first + count - 1 > MOST_SEED:
            raise ParameterError(
                f"{place}.first: expected 0 or more, all up to {MOST_SEED}, found {shown(first)}"
            )
        return range(first, first + count)
    if not isinstance(value, list | tuple) or not value:
        raise ParameterError(f"{place}: expected a list or {{first, count}}, found {shown(value)}")
    for number, seed in enumerate(value):
        if not _is_seed(seed):
            raise ParameterError(
                f"{place}[{number}]: expected a whole number of 0 to {MOST_SEED}, "
                f"found {shown(seed)}"
            )
    if len(set(value)) < len(value):
        raise ParameterError(f"{place}: a seed is there twice; 'repeats' runs one several times")
    return tuple(value)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_SEED


def _conditions(texts: tuple[str, ...], place: str) -> Iterator[Condition]:
    for number, text in enumerate(texts):
        try:
            yield parse_condition(text)
        except argparse.ArgumentTypeError as error:
            raise ParameterError(f"{place}[{number}]: {error}") from None
