# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the runs of a campaign are kept: a folder, or whatever fsspec has a file system for.

    STORE/runs/<first two digits>/<id>/   of each run: spec.json, result.json, cost.json, log.txt
    STORE/results.parquet                 the table of all results
    STORE/campaign.yaml                   the campaign
    STORE/figures.json                    values over all runs, if the campaign has such figures

A run is there when its `result.json` is: its folder is renamed into its place when it is complete,
and where folders cannot be renamed, as in S3, that file is written last.
"""

import errno
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_campaign.spec import RunSpec
from aerotwin_core.documents import DocumentError, parse_json
from aerotwin_core.errors import UserError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

RESULT, COST, SPEC, LOG = "result.json", "cost.json", "spec.json", "log.txt"
TABLE, CAMPAIGN, FIGURES = "results.parquet", "campaign.yaml", "figures.json"
_READERS = 8
_LONGEST_RESULT = 4 << 20
"""Bytes of a `result.json`."""
_WITHOUT_FOLDERS = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}
"""Object stores: to make a folder there would make a bucket."""
_PASSWORD = re.compile(r"\w+://[^/@]*:[^/@]*@")


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A finished run: what it found and what it took."""

    id: str
    metrics: dict[str, Any]
    is_success: bool
    outcome: str
    cost: dict[str, Any]


@dataclass(frozen=True)
class Store:
    """The runs of a campaign, at a path or a URL such as `s3://bucket/campaign`.

    The object is small: it is sent to workers, which find credentials in their own environment.
    Whatever a file system raises is an `OSError` here.

    Raises
    ------
    UserError
        If there is a password in the URL, which would be in messages and lists of processes, or if
        it is a file.
    """

    url: str

    def __post_init__(self) -> None:
        if _PASSWORD.match(self.url):
            kind = self.url.partition("://")[0]
            raise UserError(
                f"{kind}://…: expected a URL without a password; put it into the environment "
                "(AWS_SECRET_ACCESS_KEY) or fsspec's configuration"
            )
        if self.local is not None and self.local.is_file():
            raise UserError(f"{self.url}: expected a folder for runs, found a file; name another")

    def __reduce__(self) -> tuple[type["Store"], tuple[str]]:
        return Store, (self.url,)  # and not the file system, which has credentials

    @property
    def local(self) -> Path | None:
        """The folder, if the store is on a file system of this machine."""
        if "://" not in self.url:
            return Path(self.url).absolute()
        if self.url.startswith("file://"):
            return Path(self.url.removeprefix("file://"))
        return None

    @cached_property
    def _system(self) -> "tuple[AbstractFileSystem, str]":
        from fsspec.core import url_to_fs

        try:
            system, root = url_to_fs(self.url)
        except (ImportError, ValueError) as error:  # s3fs is not installed; unknown protocol
            raise UserError(f"{self.url}: {error}") from None
        return system, str(root).rstrip("/")

    @contextmanager
    def _remote(self) -> "Iterator[tuple[AbstractFileSystem, str]]":
        """Yield file system and root, without what was listed before: others write there, too."""
        system, root = self._system
        system.invalidate_cache()
        try:
            yield system, root
        except OSError as error:
            raise OSError(
                error.errno or errno.EIO, error.strerror or str(error), self.url
            ) from error
        except Exception as error:  # each has its own
            raise OSError(errno.EIO, f"{error}" or type(error).__name__, self.url) from error

    def path_of(self, run_id: str) -> str:
        """Return the path of a run below the store."""
        return f"runs/{run_id[:2]}/{run_id}"

    def shown(self, run_id: str) -> str:
        """Return where a run is, for a person."""
        return f"{self.url.rstrip('/')}/{self.path_of(run_id)}"

    def has(self, run_id: str) -> bool:
        """Return whether a run is complete."""
        name = f"{self.path_of(run_id)}/{RESULT}"
        if self.local is not None:
            return (self.local / name).is_file()
        with self._remote() as (system, root):
            return bool(system.exists(f"{root}/{name}"))

    def ids(self) -> Iterator[str]:
        """Yield the ids of all complete runs."""
        if self.local is not None:
            for folder in _folders(self.local / "runs"):
                for run in _folders(folder.path):
                    if not run.name.startswith(".") and os.path.isfile(f"{run.path}/{RESULT}"):
                        yield run.name
            return
        with self._remote() as (system, root):
            names = system.find(f"{root}/runs")
        for name in names:
            if name.endswith(f"/{RESULT}"):
                yield name.split("/")[-2]

    def read(self, run_id: str) -> StoredRun:
        """Return a complete run.

        Raises `UserError` if its files are damaged.
        """
        path = self.path_of(run_id)
        result = self._read_json(f"{path}/{RESULT}")
        try:
            cost = self._read_json(f"{path}/{COST}")
            return StoredRun(
                id=run_id,
                metrics=dict(result["metrics"]),
                is_success=bool(result["is_success"]),
                outcome=str(result["outcome"]),
                cost=dict(cost),
            )
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise UserError(
                f"{self.shown(run_id)}: is damaged ({error!r}); remove it, and resume the campaign"
            ) from None

    def read_all(self, ids: list[str]) -> Iterator[StoredRun]:
        """Yield complete runs; several are read at a time where reading waits."""
        if self.local is not None:
            yield from map(self.read, ids)
            return
        with ThreadPoolExecutor(_READERS) as pool:
            yield from pool.map(self.read, ids)

    def read_spec(self, run_id: str) -> RunSpec:
        """Return the specification of a complete run.

        Raises `FileNotFoundError` if there is none, `UserError` if it is damaged.
        """
        found = self._read_json(f"{self.path_of(run_id)}/{SPEC}")
        try:
            spec = RunSpec(**found)
            is_own = spec.id == run_id and isinstance(spec.document, dict)
        except (TypeError, ValueError):
            is_own = False
        if not is_own:
            raise UserError(
                f"{self.shown(run_id)}/{SPEC}: is damaged; remove its folder, and resume"
            )
        return spec

    def read_file(self, name: str) -> bytes:
        """Return the content of a file below the store; raises `OSError`."""
        if self.local is not None:
            return (self.local / name).read_bytes()
        with self._remote() as (system, root):
            return bytes(system.cat_file(f"{root}/{name}"))

    def write_file(self, name: str, content: bytes) -> None:
        """Write a file below the store, whole or not at all; raises `OSError`."""
        if self.local is None:
            with self._remote() as (system, root):
                _make_folder(system, root)
                system.pipe_file(f"{root}/{name}", content)
            return
        path = self.local / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_bytes(content)
            os.replace(temporary, path)
        finally:
            with suppress(OSError):  # it was renamed
                temporary.unlink()

    def unfinished(self, run_id: str, pid: int, scratch: Path) -> Path:
        """Return the folder in which a process makes a run: beside its place, where it can be."""
        name = f".{run_id}.{socket.gethostname()}.{pid}"
        if self.local is None:
            return scratch / name
        return (self.local / self.path_of(run_id)).with_name(name)

    @contextmanager
    def new_run(self, run_id: str, pid: int, scratch: Path) -> Iterator[Path]:
        """Yield an empty folder that becomes the run's at the end; after an error it is removed.

        A run that another worker has completed in between is left as it is.

        Raises `OSError` if the folder cannot be written.
        """
        folder = self.unfinished(run_id, pid, scratch)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True)
            yield folder
            self._commit(folder, run_id)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _commit(self, folder: Path, run_id: str) -> None:
        path = self.path_of(run_id)
        if self.local is not None:
            target = self.local / path
            if target.is_dir() and not (target / RESULT).is_file():
                shutil.rmtree(target)  # someone deleted its result
            try:
                os.rename(folder, target)
            except OSError:
                if not (target / RESULT).is_file():
                    raise
            return
        if self.has(run_id):
            return
        files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
        with self._remote() as (system, root):
            for file in sorted(files, key=lambda each: each == folder / RESULT):
                name = f"{root}/{path}/{file.relative_to(folder).as_posix()}"
                _make_folder(system, name.rpartition("/")[0])
                system.put_file(str(file), name)

    def remove_unfinished(self) -> None:
        """Remove what workers of this machine that were killed have left."""
        if self.local is None:
            return
        host = socket.gethostname()
        for folder in _folders(self.local / "runs"):
            for entry in _folders(folder.path):
                _, _, rest = entry.name.removeprefix(".").partition(".")
                where, _, pid = rest.rpartition(".")
                if entry.name.startswith(".") and where == host and not _is_alive(pid):
                    shutil.rmtree(entry.path, ignore_errors=True)

    def _read_json(self, name: str) -> dict[str, Any]:
        try:
            found = parse_json(self.read_file(name), max_bytes=_LONGEST_RESULT, takes_nan=False)
        except DocumentError as error:
            raise UserError(
                f"{self.url}/{name}: is damaged ({error}); remove its folder, and resume"
            ) from None
        if not isinstance(found, dict):
            raise UserError(f"{self.url}/{name}: is damaged; remove its folder, and resume")
        return found


def _make_folder(system: "AbstractFileSystem", path: str) -> None:
    kinds = {system.protocol} if isinstance(system.protocol, str) else {*system.protocol}
    if not kinds & _WITHOUT_FOLDERS:
        system.makedirs(path, exist_ok=True)


def write_json_file(path: Path, value: Any) -> None:
    """Write plain values as JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, indent=1, allow_nan=False)
    path.write_bytes(f"{text}\n".encode())


def _folders(path: Path | str) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as entries:
            yield from (entry for entry in entries if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return


def _is_alive(pid: str) -> bool:
    """Return whether a process runs; one that has ended may wait long for its parent."""
    try:
        state = Path(f"/proc/{int(pid)}/stat").read_text("utf-8", "replace").rpartition(")")[2]
    except (OSError, ValueError):
        return False
    return state.split()[0] not in "ZX"
