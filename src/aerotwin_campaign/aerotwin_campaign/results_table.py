# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The results of a campaign as one table: a row for each run, in the order of the runs.

Columns: `run_id`, `axes.<path>` of each axis, `seed`, `repeat`, `is_success`, `outcome`,
`metrics.<name>`, `cost.wall_s`, `cost.cpu_s`, `cost.host`. A column with values of several kinds is
text. Unit and direction of a declared metric are in the metadata of its column: `unit`, `better`.
"""

import io
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_campaign.spec import RunSpec
from aerotwin_campaign.store import StoredRun
from aerotwin_core.metric import Metric

if TYPE_CHECKING:
    import pyarrow

AXES, METRICS, COSTS = "axes.", "metrics.", "cost."
_COSTS = ("wall_s", "cpu_s", "host")
_PERCENT = 95.0


class ResultsTable:
    """Rows as they arrive.

    Parameters
    ----------
    axes : sequence of str
        Paths of the axes.
    measure : sequence of str
        The metrics that are columns; none names all that a result has.
    """

    def __init__(self, axes: Sequence[str], measure: Sequence[str] = ()) -> None:
        self._axes, self._measure = tuple(axes), tuple(measure)
        self._rows: dict[int, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def n_failures(self) -> int:
        """Number of runs that were no success."""
        return sum(not row["is_success"] for row in self._rows.values())

    def add(
        self, index: int, spec: RunSpec, axis_values: Mapping[str, Any], run: StoredRun
    ) -> None:
        """Add the row of a run; one that is there is replaced."""
        names = self._measure or sorted(run.metrics)
        self._rows[index] = {
            "run_id": run.id,
            **{f"{AXES}{path}": axis_values[path] for path in self._axes},
            "seed": spec.seed,
            "repeat": spec.repeat,
            "is_success": run.is_success,
            "outcome": run.outcome,
            **{f"{METRICS}{name}": run.metrics.get(name) for name in names},
            **{f"{COSTS}{name}": run.cost.get(name) for name in _COSTS},
        }

    def parquet(self, declared: Mapping[str, Metric] = MappingProxyType({})) -> bytes:
        """Return the table as a Parquet file; `declared` is what is known of metrics, by name."""
        from pyarrow import parquet

        file = io.BytesIO()
        parquet.write_table(self.table(declared), file, compression="zstd")
        return file.getvalue()

    def table(self, declared: Mapping[str, Metric] = MappingProxyType({})) -> "pyarrow.Table":
        """Return the table, with what is declared in its schema."""
        import pyarrow

        rows = [self._rows[index] for index in sorted(self._rows)]
        first = ["run_id", *(f"{AXES}{path}" for path in self._axes), "seed", "repeat",
                 "is_success", "outcome"]  # fmt: skip
        metrics = {name for row in rows for name in row if name.startswith(METRICS)}
        metrics |= {f"{METRICS}{name}" for name in self._measure}
        names = [*first, *sorted(metrics), *(f"{COSTS}{name}" for name in _COSTS)]
        columns = [_column(name, [row.get(name) for row in rows]) for name in names]
        fields = [
            pyarrow.field(name, column.type, metadata=_metadata(name, declared))
            for name, column in zip(names, columns)
        ]
        return pyarrow.table(columns, pyarrow.schema(fields))

    def unknown_metrics(self) -> list[str]:
        """Return the metrics to be measured that no run has."""
        names = [f"{METRICS}{name}" for name in self._measure]
        rows = list(self._rows.values())
        return [
            name.removeprefix(METRICS)
            for name in names
            if rows and all(row.get(name) is None for row in rows)
        ]

    def summary(self) -> dict[str, Any]:
        """Return what conditions are about.

        `n_runs`, `n_failures`, `success_share` (None without runs), and of each metric whose values
        are numbers or truth values `n`, `min`, `max`, `mean`, `std` (of the sample; None for one
        value), `median` and `p95`, over the runs that have it.
        """
        return summary_of(self.table())


def _metadata(name: str, declared: Mapping[str, Metric]) -> dict[str, str] | None:
    metric = declared.get(name.removeprefix(METRICS)) if name.startswith(METRICS) else None
    return None if metric is None else {"unit": metric.unit, "better": metric.better}


COUNTS = ("n_runs", "n_failures", "success_share")
"""Numbers of the summary beside the metrics' statistics."""


def summary_of(table: "pyarrow.Table") -> dict[str, Any]:
    """Return the summary of a table, as `ResultsTable.summary` describes it."""
    import pyarrow

    n_runs = len(table)
    n_failures = sum(not each for each in table["is_success"].to_pylist())
    share = 1.0 - n_failures / n_runs if n_runs else None
    found: dict[str, Any] = dict(zip(COUNTS, (n_runs, n_failures, share), strict=True))
    for name in table.column_names:
        if name.startswith(METRICS) and not pyarrow.types.is_string(table.schema.field(name).type):
            found[name.removeprefix(METRICS)] = metric_statistics(column_numbers(table[name]))
    return found


def column_numbers(column: "pyarrow.ChunkedArray") -> np.ndarray:
    """Return a column of numbers or truth values (n,) as numbers; NaN where there is none."""
    import pyarrow

    return np.asarray(column.cast(pyarrow.float64()).to_numpy(), dtype=np.float64)


def metric_statistics(values: np.ndarray) -> dict[str, float | None]:
    """Return number, extremes, mean, deviation, median and 95 % quantile of values (n,); no NaN."""
    numbers = values[np.isfinite(values)]
    if not len(numbers):
        return {"n": 0.0} | dict.fromkeys(("min", "max", "mean", "std", "median", "p95"))
    return {
        "n": float(len(numbers)),
        "min": float(numbers.min()),
        "max": float(numbers.max()),
        "mean": float(numbers.mean()),
        "std": float(numbers.std(ddof=1)) if len(numbers) > 1 else None,
        "median": float(np.median(numbers)),
        "p95": float(np.percentile(numbers, _PERCENT)),
    }


def _column(name: str, values: list[Any]) -> "pyarrow.Array":
    """Return a column of one type: all are numbers, truth values or texts, else text."""
    import pyarrow

    kinds = {type(value) for value in values if value is not None}
    known = {
        "run_id": pyarrow.string(), "seed": pyarrow.int64(), "repeat": pyarrow.int64(),
        "is_success": pyarrow.bool_(), "outcome": pyarrow.string(),
    }  # fmt: skip
    if name in known:
        return pyarrow.array(values, known[name])
    if kinds == {bool}:
        return pyarrow.array(values, pyarrow.bool_())
    if kinds == {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return pyarrow.array(values, pyarrow.int64())
    is_metric = name.startswith(METRICS)  # of an axis, True and 1 are two values
    if not kinds or kinds <= {int, float} or (is_metric and kinds <= {bool, int, float}):
        return pyarrow.array([None if x is None else float(x) for x in values], pyarrow.float64())
    if kinds == {str}:
        return pyarrow.array(values, pyarrow.string())
    texts = [
        x if x is None or isinstance(x, str) else json.dumps(x, sort_keys=True) for x in values
    ]
    return pyarrow.array(texts, pyarrow.string())
