# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One declaration per number of a result, from which all that shows or checks the number is made.

An evaluation returns its numbers as nested mappings (`metrics.json`). A `Metric` declares one of
them, a `MetricSet` all of one result; the set provides the JSON schema, rows of tables, tiles,
the short names of ``--fail-if`` and the table of the reference.

Texts are `str.format` templates over the numbers themselves and over texts of the evaluation:
``"lost: more than {completeness[lost_above_m]:.3g} m from truth{after}"``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from aerotwin_core.section import MEASURE_COLUMNS, Headline, Table

Schema = dict[str, Any]

NUMBER: Schema = {"$ref": "#/$defs/number"}
SHARE: Schema = {"$ref": "#/$defs/share"}
_FACTORS = {
    ("", "%"): 100.0,
    ("1", "%"): 100.0,
    ("cores", "%"): 100.0,
    ("m", "cm"): 100.0,
    ("s", "ms"): 1e3,
    ("bytes", "MB"): 1e-6,
}
"""By unit in the result and unit that is shown."""
MISSING = "–"


@dataclass(frozen=True, kw_only=True)
class Score:
    """A number of one evaluation as it is shown."""

    label: str
    value: float | None
    unit: str
    meaning: str
    computed: str = ""
    digits: int = 3
    better: str = ""

    @property
    def text(self) -> str:
        """The number as printed; a dash if it is missing."""
        if self.value is None or self.value != self.value:
            return MISSING
        return f"{self.value:.{self.digits}f}"


@dataclass(frozen=True)
class Metric:
    """Declaration of a number, made before any evaluation.

    `label`, `meaning` and `computed` are templates of the table row: name, what it means, how it
    was computed. They are positional, because a declaration is read as a row.
    """

    path: str  # in the result: names joined by dots, indices of lists among them
    label: str
    meaning: str
    computed: str = ""
    _: KW_ONLY
    unit: str = ""  # in the result; a share has none
    shown_in: str = ""  # unit of the row where it differs: % of a share, cm, ms; or a template
    digits: int = 3  # after the point
    better: str = ""  # lower, higher, or empty
    title: str = ""  # name in the schema; a number with a title is compared between runs
    kind: Mapping[str, Any] = field(default_factory=lambda: NUMBER)  # its JSON schema
    aliases: tuple[str, ...] = ()  # short names for --fail-if
    needs: str = ""  # path of what the row requires (not absent, None or False)
    spread: str = ""  # path of the standard deviation shown behind ±
    table: str = "scores"  # that has the row; empty for none
    is_side_by_side: bool = False  # several results are compared by it, under its first short name

    def value(self, numbers: Mapping[str, Any]) -> float | None:
        """Return the number in the unit shown; None if it is missing."""
        return self._scaled(value_at(numbers, self.path))

    def is_shown(self, context: Mapping[str, Any]) -> bool:
        """Tell whether the result has what the row needs."""
        needed = value_at(context, self.needs) if self.needs else True
        return needed is not None and needed is not False

    def score(self, context: Mapping[str, Any]) -> Score:
        """Return the number with its texts; `context` is the result plus texts of its templates."""
        unit = (self.shown_in or self.unit).format_map(context)
        spread = self._scaled(value_at(context, self.spread)) if self.spread else None
        return Score(
            label=self.label.format_map(context),
            value=self.value(context),
            unit=unit if spread is None else f"{unit} ± {spread:.{self.digits}f}",
            meaning=self.meaning.format_map(context),
            computed=self.computed.format_map(context),
            digits=self.digits,
            better=self.better,
        )

    def tile(
        self,
        context: Mapping[str, Any],
        *,
        label: str,
        show: Callable[[float], str] | None = None,
        status: str = "neutral",
        is_dash_bare: bool = False,
        **texts: str,
    ) -> Headline:
        """Return the number as a key number.

        `show` replaces the format by digits, `texts` (meaning, computed) replace the declared
        ones, and `is_dash_bare` leaves out the unit of a missing number.
        """
        score = self.score(context)
        text = score.text
        if show and score.value is not None and text != MISSING:
            text = show(score.value)
        return Headline(
            label=label,
            value=text,
            unit="" if is_dash_bare and text == MISSING else score.unit,
            status=status,
            better=self.better,
            **{"meaning": score.meaning, "computed": score.computed, **texts},
        )

    def leaf(self) -> Schema:
        """Return the schema of the number."""
        return {"title": self.title, "unit": self.unit, "better": self.better, **self.kind}

    def _scaled(self, value: Any) -> float | None:
        return None if value is None else value * _FACTORS.get((self.unit, self.shown_in), 1)


@dataclass(frozen=True, kw_only=True)
class MetricSet:
    """All numbers that one kind of result declares, in the order of the tables.

    `title` is the heading in the reference; `structure` the JSON schema of everything that is not a
    compared number: texts, flags, lists, groups; `usual` has texts for the templates in the
    reference, where there is no result.
    """

    title: str
    metrics: tuple[Metric, ...]
    structure: Mapping[str, Any]
    usual: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, path: str) -> Metric:
        """Return the metric of a path."""
        return next(metric for metric in self.metrics if metric.path == path)

    def aliases(self) -> dict[str, str]:
        """Return the short names of ``--fail-if`` and the paths they abbreviate."""
        return {short: metric.path for metric in self.metrics for short in metric.aliases}

    def top_names(self) -> list[str]:
        """Return the numbers at the top level of a result."""
        return [metric.path for metric in self.metrics if "." not in metric.path]

    def schema(self) -> Schema:
        """Return the structure with the compared numbers in it."""
        whole = dict(self.structure)
        for metric in self.metrics:
            if metric.title:
                whole = _with_leaf(whole, metric.path.split("."), metric.leaf())
        return whole

    def scores(self, context: Mapping[str, Any], table: str = "scores") -> list[Score]:
        """Return the rows of a table for a result with the texts of its templates."""
        return [
            metric.score(context)
            for metric in self.metrics
            if metric.table == table and metric.is_shown(context)
        ]

    def side_by_side(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the few numbers by which several results are compared."""
        return {m.aliases[0]: value_at(numbers, m.path) for m in self._compared()}

    def side_by_side_schema(self) -> Schema:
        """Return the schema of `side_by_side`."""
        return mapping_schema(**{metric.aliases[0]: metric.leaf() for metric in self._compared()})

    def reference(self) -> list[tuple[str, str, str, str, tuple[str, ...]]]:
        """Return path, meaning, unit, what is better and short names of each, for the reference."""
        usual = _Usual(self.usual)
        return [
            (
                metric.path,
                f"{metric.label}: {metric.meaning}".format_map(usual),
                metric.unit,
                metric.better,
                metric.aliases,
            )
            for metric in self.metrics
        ]

    def _compared(self) -> list[Metric]:
        return [metric for metric in self.metrics if metric.is_side_by_side]


def value_at(numbers: Any, path: str) -> Any:
    """Return the value at a path of nested mappings and lists; None if there is none.

    >>> value_at({"ape": {"rmse": 0.1}, "arm": [1.0, 2.0]}, "ape.rmse")
    0.1
    >>> value_at({"arm": [1.0, 2.0]}, "arm.1"), value_at({"ape": None}, "ape.rmse")
    (2.0, None)
    """
    for name in path.split("."):
        if isinstance(numbers, Mapping):
            numbers = numbers.get(name)
        elif isinstance(numbers, list | tuple):
            numbers = numbers[int(name)]
        else:
            return None
    return numbers


def score_table(title: str, scores: Iterable[Score], caption: str = "") -> Table:
    """Return a table of quantity, value, unit and meaning; how each is computed is its hint."""
    scores = list(scores)
    return Table(
        title=title,
        columns=MEASURE_COLUMNS,
        rows=tuple((s.label, s.text, s.unit, s.meaning) for s in scores),
        hints=tuple(s.computed for s in scores),
        caption=caption,
    )


def mapping_schema(**properties: Any) -> Schema:
    """Return the schema of a mapping in which every name is required."""
    return {"type": "object", "required": list(properties), "properties": properties}


def optional_schema(part: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [{"type": "null"}, part]}


def _with_leaf(node: Schema, names: list[str], leaf: Schema) -> Schema:
    """Return a schema of nested mappings with a leaf; a referenced definition has it already."""
    if not names:
        return leaf
    if "$ref" in node:
        return node
    if "anyOf" in node:
        parts = [
            part if part.get("type") == "null" else _with_leaf(part, names, leaf)
            for part in node["anyOf"]
        ]
        return {**node, "anyOf": parts}
    name, known = names[0], node["properties"]
    below = _with_leaf(known.get(name, mapping_schema()), names[1:], leaf)
    required = node["required"] if name in known else [*node["required"], name]
    return {**node, "required": required, "properties": {**known, name: below}}


class _Usual(dict):
    """Texts of templates; names that only a result can fill are shown as they are."""

    def __missing__(self, name: str) -> "_Name":
        return _Name(name)


class _Name:
    """A number of a template that has no value yet."""

    def __init__(self, name: Any) -> None:
        self._name = name

    def __getitem__(self, name: Any) -> "_Name":
        return _Name(name)

    def __format__(self, spec: str) -> str:
        return str(self._name)
