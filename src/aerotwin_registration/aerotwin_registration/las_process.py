# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read LAZ files in a child process: on damaged data its decompressor aborts, or never ends."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_registration.las import CoordinateSystem, LasContent, read_las_here

# A core unpacks about ten megabytes a second; the timeout is fifty times that for busy machines.
_START_S, _BYTES_PER_S = 20.0, 200_000.0
_MEMORY_BYTES = 1 << 30
_BYTES_PER_POINT = 400  # in laspy's records and in ours, with room for copies
_N_POINTS_PER_BYTE = 8
# The package itself is left empty: what else is in it takes seconds to load.
_CODE = """
import json, sys, types
sys.path[:], package = json.loads(sys.argv[1]), types.ModuleType("aerotwin_registration")
package.__path__ = [sys.argv[2]]
sys.modules["aerotwin_registration"] = package
from aerotwin_registration.las_process import child
child(sys.argv[3], sys.argv[4])
"""
_FLAGS_PLACE, _COMPRESSED_FLAGS = 104, 0xC0
_REFUSED = 3


def read_las(path: Path) -> LasContent:
    """Return a LAS file's content, LAZ by a child process; UserError if damaged or in degrees."""
    if not _is_compressed(path):
        return read_las_here(path)
    with tempfile.TemporaryDirectory(prefix="aerotwin_las_") as folder:
        out = Path(folder) / "points.npz"
        _run(path, out)
        with np.load(out) as arrays:
            columns = {name: arrays[name] for name in ("x", "y", "z", "intensity")}
            system, doubt = json.loads(str(arrays["about"]))
    return LasContent(columns=columns, system=CoordinateSystem(**system), doubt=doubt)


def child(path: str, out: str) -> None:
    """Read a file and save its points as NPZ; an error message goes to standard output."""
    try:
        _limit_memory(Path(path).stat().st_size)
        content = read_las_here(Path(path))
    except UserError as error:
        sys.stdout.write(str(error))
        sys.exit(_REFUSED)
    about = json.dumps([vars(content.system), content.doubt])
    np.savez(out, about=np.array(about), **content.columns)  # type: ignore[arg-type]


def _run(path: Path, out: Path) -> None:
    here = str(Path(__file__).parent)
    folders = json.dumps([folder for folder in sys.path if folder])
    command = python_command("-c", _CODE, folders, here, str(path), str(out))
    limit_s = _START_S + path.stat().st_size / _BYTES_PER_S
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            timeout=limit_s,
            check=False,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{path}: damaged LAZ file: its decompressor did not end within {limit_s:.0f} s"
        ) from None
    if ended.returncode == _REFUSED:
        raise UserError(ended.stdout.decode("utf-8", "replace"))
    if ended.returncode != 0 or not out.is_file():
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UserError(
            f"{path}: damaged LAZ file: its decompressor gave up{': ' + lines[-1] if lines else ''}"
        )


def _limit_memory(n_bytes: int) -> None:
    """Limit the memory of this process to what a valid file of that size could need."""
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    room = _MEMORY_BYTES + _BYTES_PER_POINT * _N_POINTS_PER_BYTE * n_bytes
    limit = pages * resource.getpagesize() + room
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_FLAGS_PLACE + 1)
    return path.suffix.lower() == ".laz" or (
        len(head) > _FLAGS_PLACE and bool(head[_FLAGS_PLACE] & _COMPRESSED_FLAGS)
    )
