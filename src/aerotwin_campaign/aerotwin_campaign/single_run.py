# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One run of a campaign, made again: found by its id, and what it finds now beside what it found.

A run is made again by the versions that are installed. Another version is said, as it may be why
something differs.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aerotwin_campaign.campaign_file import KEEP_ALL, Campaign
from aerotwin_campaign.execution import RunOptions
from aerotwin_campaign.function import versions_of
from aerotwin_campaign.local_engine import run_locally
from aerotwin_campaign.spec import RunSpec, short_id
from aerotwin_campaign.specifications import Specifications
from aerotwin_campaign.store import LOG, Store, StoredRun
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import shown

_MOST_SHOWN = 5
_HEXADECIMAL = frozenset("0123456789abcdef")
_DEEPEST = 3
"""Folders below that of a run in which bags and reports are looked for."""


@dataclass(frozen=True, kw_only=True)
class FoundRun:
    """A run of a campaign: its specification, and what the store has of it."""

    spec: RunSpec
    stored: StoredRun | None


@dataclass(frozen=True, kw_only=True)
class ValueChange:
    """A value of a result that is another one now; None if it was not or is not there.

    `difference` is now minus before, of numbers.
    """

    name: str
    before: Any
    now: Any

    @property
    def difference(self) -> float | None:
        """Now minus before, None if one is no number."""
        pair = self.before, self.now
        if all(isinstance(x, int | float) and not isinstance(x, bool) for x in pair):
            return float(self.now - self.before)
        return None


def find_run(campaign: Campaign, store: Store, run_id: str) -> FoundRun:
    """Return the run of an id, or of the beginning of one that no other run has.

    It is looked for in the store, where runs of other versions may be, then among those that the
    campaign stands for.

    Raises
    ------
    UserError
        If there is none, there are several, or it is of another function than the campaign's.
    """
    text = run_id.strip().lower()
    if not text or not set(text) <= _HEXADECIMAL:
        raise UserError(
            f"RUN_ID: expected the id of a run or its first digits, found {shown(run_id)}"
        )
    ids = sorted({each for each in store.ids() if each.startswith(text)})
    if len(ids) > 1:
        raise _ambiguous(text, ids)
    if ids:
        try:
            spec = store.read_spec(ids[0])
        except OSError as error:
            raise UserError(f"{store.shown(ids[0])}: cannot be read ({error})") from None
        if spec.run != campaign.run:  # a store may be another's: its function is not called
            raise UserError(
                f"{store.shown(ids[0])}: is a run of {shown(spec.run)}, but the function of the "
                f"campaign is {campaign.run}; name the campaign of that run"
            )
        return FoundRun(spec=spec, stored=store.read(ids[0]))
    specs = Specifications(campaign, versions_of(campaign.run))
    made = {spec.id: spec for spec in specs if spec.id.startswith(text)}
    if len(made) > 1:
        raise _ambiguous(text, sorted(made))
    if not made:
        raise UserError(
            f"RUN_ID: no run of {store.url} or the campaign begins with {shown(run_id)}; ids are "
            "the column run_id of results.parquet"
        )
    return FoundRun(spec=next(iter(made.values())), stored=None)


def make_again(spec: RunSpec, folder: Path, timeout_s: float) -> StoredRun:
    """Make a run by the versions that are installed, and move all its files into a folder.

    The folder is empty; the run, made in a process of its own, keeps everything.

    Raises
    ------
    UserError
        If it cannot be made.
    """
    own = replace(spec, versions=versions_of(spec.run))
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as scratch:
        store = Store(scratch)
        options = RunOptions(timeout_s=timeout_s, keep=KEEP_ALL)
        with closing(run_locally([own], store, options, run=own.run, n_workers=1)) as reports:  # type: ignore[type-var]
            (report,) = reports
        if report.stored is None:
            raise UserError(f"run {short_id(own.id)} could not be made: {report.failure}")
        for entry in list((Path(scratch) / store.path_of(own.id)).iterdir()):
            os.rename(entry, folder / entry.name)
    return report.stored


def changes(before: StoredRun, now: StoredRun) -> list[ValueChange]:
    """Return the values of a result that differ, success and outcome first."""
    values = [
        (name, getattr(before, name), getattr(now, name)) for name in ("is_success", "outcome")
    ]
    names = sorted({*before.metrics, *now.metrics})
    values += [(name, before.metrics.get(name), now.metrics.get(name)) for name in names]
    return [
        ValueChange(name=name, before=one, now=other)
        for name, one, other in values
        if one != other or type(one) is not type(other)
    ]


def changed_versions(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return which versions differ, as texts."""
    return [
        f"{name}: {before.get(name, 'none')} then, {now.get(name, 'none')} now"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]


def kept_files(folder: Path) -> dict[str, list[Path]]:
    """Return the log, bags and reports of a run's folder, and all else at its top."""
    found: dict[str, list[Path]] = {"log": [], "bag": [], "report": [], "more": []}
    for path in _below(folder, _DEEPEST):
        if path == folder / LOG:
            found["log"].append(path)
        elif path.is_dir() and (path / "metadata.yaml").is_file():
            found["bag"].append(path)
        elif path.suffix in (".mcap", ".html"):
            found["bag" if path.suffix == ".mcap" else "report"].append(path)
        elif path.parent == folder:
            found["more"].append(path)
    return found


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        yield path
        is_bag = (path / "metadata.yaml").is_file()
        if depth > 1 and path.is_dir() and not path.is_symlink() and not is_bag:
            yield from _below(path, depth - 1)


def _ambiguous(text: str, ids: list[str]) -> UserError:
    more = ", …" if len(ids) > _MOST_SHOWN else ""
    listed = ", ".join(map(short_id, ids[:_MOST_SHOWN]))
    return UserError(f"RUN_ID: {len(ids)} runs begin with {text} ({listed}{more}); add digits")
