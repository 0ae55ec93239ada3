# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of two campaigns, run by run: which run of one belongs to which of the other.

Runs belong together by document, seed and repeat. Documents may name files, whose folders differ
between two checkouts and whose content is a part of what is compared: only their names count.
Without documents, as in a table alone, the columns of the axes stand for them.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_campaign.campaign_file import MOST_RUNS
from aerotwin_campaign.results_table import AXES, METRICS
from aerotwin_campaign.spec import canonical_json, is_run_id, short_id
from aerotwin_campaign.store import TABLE, Store
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed, printable, shown

if TYPE_CHECKING:
    import pyarrow

_MOST_COLUMNS, _MOST_BYTES = 20_000, 4 << 30
"""Of a table, when it is read."""
_READERS = 8
_SHOWN, _LONGEST = 5, 40
_NEEDED = ("run_id", "seed", "repeat", "is_success", "outcome")


@dataclass(frozen=True, kw_only=True)
class CampaignResults:
    """The table of a campaign, and what each row was a run of.

    Attributes
    ----------
    where : str
        The store or the file.
    table : pyarrow.Table
        As `ResultsTable` describes.
    keys : tuple of (str, str) or None
        Of each row: its document and seed, and its repeat. None without documents.
    first_document : mapping
        Of the first row, as it is compared.
    files : mapping of str to str
        SHA-256 by name of the files that documents name.
    versions : mapping of str to str
        Of the software; several of one name are joined.
    """

    where: str
    table: "pyarrow.Table"
    keys: "tuple[tuple[str, str], ...] | None" = None
    first_document: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""
        names: list[str] = self.table.column_names
        return tuple(name.removeprefix(AXES) for name in names if name.startswith(AXES))

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return list(self.table.column(name).to_pylist())

    def keys_of_axes(self) -> tuple[tuple[str, str], ...]:
        """Return what the columns of the axes say of each row, as `keys`."""
        columns = [self.column(f"{AXES}{name}") for name in sorted(self.axes)]
        points = zip(*columns) if columns else [()] * self.table.num_rows
        rows = zip(points, self.column("seed"), self.column("repeat"))
        return tuple((json.dumps([*point, seed]), str(repeat)) for point, seed, repeat in rows)


@dataclass(frozen=True, kw_only=True)
class PairedMetric:
    """One metric of n pairs of runs.

    Attributes
    ----------
    a, b : (n,) array
        NaN where it is not known. Texts are numbered in the order in which they come.
    unit, better : str
        As declared; `better` is lower, higher or empty.
    is_text : bool
        Whether only equality means something.
    """

    name: str
    a: np.ndarray
    b: np.ndarray
    unit: str = ""
    better: str = ""
    is_text: bool = False


@dataclass(frozen=True, kw_only=True)
class PairedResults:
    """Pairs of runs of two campaigns.

    Attributes
    ----------
    metrics : tuple of PairedMetric
        Those of both, `is_success` and `outcome` first.
    units : (n,) integer array
        Seed of each pair: runs of one seed share random numbers, whatever their documents are.
    axes : mapping of str to (n,) list
        Value of each axis in each pair, of A.
    run_ids : tuple of (str, str)
        Of each pair.
    only_a, only_b : tuple of str
        Runs without a counterpart, as a person knows them.
    only_metrics : tuple of (str, str)
        Metrics that one alone has, and whether it is A or B.
    is_repeatable : (n,) bool array
        Whether a pair is of runs that are known to find the same when they are repeated.
    notes : tuple of str
        What else differs.
    """

    metrics: tuple[PairedMetric, ...]
    units: np.ndarray
    axes: Mapping[str, Sequence[Any]]
    run_ids: tuple[tuple[str, str], ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    only_metrics: tuple[tuple[str, str], ...]
    is_repeatable: np.ndarray
    notes: tuple[str, ...]


def read_results(url: str, on_run: Callable[[], Any] = lambda: None) -> CampaignResults:
    """Return the results of a store, at a path or a URL, or of a table alone, `*.parquet`.

    Raises `UserError` if it cannot be read or is no table of results.
    """
    if url.endswith(".parquet"):
        folder, _, name = url.rpartition("/")
        return CampaignResults(where=url, table=_table(Store(folder or "."), name, url))
    store = Store(url)
    table = _table(store, TABLE, f"{url.rstrip('/')}/{TABLE}")
    ids = [str(each) for each in table.column("run_id").to_pylist()]
    return _with_documents(url, table, store, ids, on_run)


def pair_results(a: CampaignResults, b: CampaignResults) -> PairedResults:
    """Return the pairs of runs of two campaigns.

    Raises `UserError` if there are none.
    """
    keys_a, keys_b = _keys(a, b)
    first_a, first_b = _first_rows(keys_a), _first_rows(keys_b)
    pairs = [(row, first_b[key]) for key, row in first_a.items() if key in first_b]
    if not pairs:
        raise _nothing_in_common(a, b)
    rows_a, rows_b = (np.array(rows) for rows in zip(*pairs))
    numbers = {name: number for number, name in enumerate({keys_a[row][0]: 0 for row in rows_a})}
    ids_a, ids_b = a.column("run_id"), b.column("run_id")
    metrics = tuple(_metrics(a, b, rows_a, rows_b))
    repeated = np.array([numbers[keys_a[row][0]] for row in rows_a])
    run_ids = tuple((str(ids_a[i]), str(ids_b[j])) for i, j in pairs)
    return PairedResults(
        metrics=metrics,
        units=np.array(_taken(a, "seed", rows_a)),
        axes={name: _taken(a, f"{AXES}{name}", rows_a) for name in a.axes},
        run_ids=run_ids,
        only_a=_unpaired(a, set(rows_a.tolist())),
        only_b=_unpaired(b, set(rows_b.tolist())),
        only_metrics=tuple(_only(a, b, "A")) + tuple(_only(b, a, "B")),
        is_repeatable=_repeatable(metrics, repeated, run_ids),
        notes=tuple(_notes(a, b)),
    )


def _table(store: Store, name: str, where: str) -> "pyarrow.Table":
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(BytesIO(store.read_file(name)))
        known = file.metadata
        n_bytes = sum(known.row_group(k).total_byte_size for k in range(known.num_row_groups))
        if (known.num_rows > MOST_RUNS or known.num_columns > _MOST_COLUMNS
                or n_bytes > _MOST_BYTES):  # fmt: skip
            raise UserError(
                f"{where}: expected at most {MOST_RUNS} rows, {_MOST_COLUMNS} columns and "
                f"{_MOST_BYTES} bytes, found {known.num_rows}, {known.num_columns} and {n_bytes}"
            )
        table = file.read()
    except FileNotFoundError:
        raise UserError(
            f"{where}: there is no such file; expected the store of a campaign that was run, or "
            "its results.parquet, which aerotwin campaign resume writes"
        ) from None
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{where}: cannot be read ({error})") from None
    lacking = [each for each in _NEEDED if each not in table.column_names]
    if lacking:
        raise UserError(f"{where}: is no table of a campaign: it has no column {listed(lacking)}")
    if table.num_rows == 0:
        raise UserError(f"{where}: has no runs; run the campaign")
    return table


def _with_documents(
    url: str, table: "pyarrow.Table", store: Store, ids: list[str], on_run: Callable[[], Any]
) -> CampaignResults:
    def one(run_id: str) -> tuple[tuple[str, str], dict[str, str], Mapping[str, str], Any] | None:
        if not is_run_id(run_id):
            raise UserError(f"{url}: {shown(run_id)} in its table is no id of a run")
        try:
            spec = store.read_spec(run_id)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"{store.shown(run_id)}: cannot be read ({error})") from None
        files: dict[str, str] = {}
        document = _portable(spec.document, files)
        text = canonical_json([document, spec.seed])
        key = hashlib.sha256(text.encode()).hexdigest(), str(spec.repeat)
        return key, files, spec.versions, document

    keys, files, versions, first = [], {}, {}, None
    with ThreadPoolExecutor(_READERS) as pool:
        for found in pool.map(one, ids):
            on_run()
            if found is None:
                return CampaignResults(where=url, table=table)
            key, named, used, document = found
            keys.append(key)
            files |= named
            for name, version in used.items():
                versions.setdefault(name, {})[version] = None
            first = document if first is None else first
    return CampaignResults(
        where=url,
        table=table,
        keys=tuple(keys),
        first_document=first or {},
        files=files,
        versions={name: ", ".join(map(str, known)) for name, known in versions.items()},
    )


def _portable(value: Any, files: dict[str, str]) -> Any:
    """Return plain values in which files are known by their names; fill in their SHA-256."""
    if isinstance(value, Mapping):
        found = {}
        for key, inner in value.items():
            name = _portable(key, files)
            if name != key and isinstance(inner, str):
                files[name] = inner
                inner = ""
            found[name] = _portable(inner, files)
        return found
    if isinstance(value, list):
        return [_portable(inner, files) for inner in value]
    if isinstance(value, str) and value.startswith("/"):
        return value.rpartition("/")[2]
    return value


def _keys(a: CampaignResults, b: CampaignResults) -> tuple[tuple[tuple[str, str], ...], ...]:
    if a.keys is not None and b.keys is not None:
        return a.keys, b.keys
    if set(a.axes) != set(b.axes):
        raise UserError(
            f"{a.where} has the axes {listed(a.axes)}, {b.where} {listed(b.axes)}: "
            "a table alone is compared with one of the same axes; name the stores"
        )
    return a.keys_of_axes(), b.keys_of_axes()


def _first_rows(keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for row, key in enumerate(keys):
        found.setdefault(key, row)
    return found


def _taken(results: CampaignResults, name: str, rows: np.ndarray) -> list[Any]:
    values = results.column(name)
    return [values[row] for row in rows]


def _unpaired(results: CampaignResults, paired: set[int]) -> tuple[str, ...]:
    columns = {name: results.column(f"{AXES}{name}") for name in results.axes}
    columns |= {name: results.column(name) for name in ("seed", "repeat")}
    ids, found = results.column("run_id"), []
    for row in range(results.table.num_rows):
        if row not in paired:
            values = [
                f"{name}={printable(str(each[row]), _LONGEST)}" for name, each in columns.items()
            ]
            found.append(" ".join([short_id(str(ids[row])), *values]))
    return tuple(found)


def _metrics(a: CampaignResults, b: CampaignResults, rows_a: Any, rows_b: Any) -> Any:
    common = set(a.table.column_names) & set(b.table.column_names)
    names = sorted(name for name in common if name.startswith(METRICS))
    for name in ("is_success", "outcome", *names):
        metadata = dict(a.table.schema.field(name).metadata or {})
        metadata |= dict(b.table.schema.field(name).metadata or {})
        said = {key: metadata.get(key.encode(), b"").decode("utf-8", "replace")
                for key in ("unit", "better")}  # fmt: skip
        values = _taken(a, name, rows_a), _taken(b, name, rows_b)
        numbers = {type(x) for each in values for x in each if x is not None}
        is_text = not numbers <= {bool, int, float}
        if is_text:
            codes: dict[str, int] = {}
            values = tuple(  # type: ignore[assignment]
                [None if x is None else codes.setdefault(str(x), len(codes)) for x in each]
                for each in values
            )
        arrays = [np.array([np.nan if x is None else x for x in v], dtype=float) for v in values]
        if not all(np.isnan(each).all() for each in arrays):
            yield PairedMetric(
                name=name.removeprefix(METRICS), a=arrays[0], b=arrays[1], is_text=is_text, **said
            )


def _only(one: CampaignResults, other: CampaignResults, label: str) -> Any:
    known = set(other.table.column_names)
    for name in one.table.column_names:
        if name.startswith(METRICS) and name not in known:
            yield name.removeprefix(METRICS), label


def _repeatable(
    metrics: Sequence[PairedMetric], repeated: np.ndarray, run_ids: Sequence[tuple[str, str]]
) -> np.ndarray:
    """Return which pairs are of runs that find the same again.

    What says so is the metric `is_repeatable`, or repeats that are equal. What says no, of all
    runs, is a repeat that is not equal, or a run that has another result in A than in B under the
    same specification and versions. `repeated` (n,) are numbers of document and seed.
    """
    n = len(repeated)
    is_one = np.array([one == other for one, other in run_ids])
    values = np.array([[each.a, each.b] for each in metrics])
    values[np.isnan(values)] = np.inf  # not known is equal to not known
    if (values[:, 0, is_one] != values[:, 1, is_one]).any():
        return np.zeros(n, bool)
    _, first, inverse, counts = np.unique(
        repeated, return_index=True, return_inverse=True, return_counts=True
    )
    if (values != values[:, :, first[inverse]]).any():
        return np.zeros(n, bool)
    said = [each for each in metrics if each.name == "is_repeatable"]
    if said:
        return (said[0].a == 1.0) & (said[0].b == 1.0)
    return np.full(n, bool((counts > 1).all()))


def _nothing_in_common(a: CampaignResults, b: CampaignResults) -> UserError:
    what = "axes" if a.keys is None or b.keys is None else "document"
    apart = _difference(a.first_document, b.first_document)
    hint = f" (the first documents differ in {apart})" if apart else ""
    return UserError(
        f"no run of {a.where} has the {what}, seed and repeat of one of {b.where}{hint}: they are "
        "not of one campaign file"
    )


def _difference(a: Any, b: Any, path: str = "") -> str:
    """Return the first place in which plain values differ, and both values; "" if none."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in (*a, *(key for key in b if key not in a)):
            found = _difference(a.get(key), b.get(key), f"{path}.{key}" if path else str(key))
            if found:
                return found
        return ""
    return "" if a == b else f"{path}: {shown(a)} and {shown(b)}"


def _notes(a: CampaignResults, b: CampaignResults) -> Any:
    for name in sorted({*a.versions, *b.versions}):
        one, other = a.versions.get(name, "none"), b.versions.get(name, "none")
        if one != other:
            yield f"version of {name}: {one} in A, {other} in B"
    changed = [
        name for name in sorted(a.files) if b.files.get(name, a.files[name]) != a.files[name]
    ]
    if changed:
        yield f"files with other content: {', '.join(changed[:_SHOWN])}"
    for results, label in ((a, "A"), (b, "B")):
        if results.keys is None:
            yield f"{label} has no documents: its runs are known by their axes, seed and repeat"
