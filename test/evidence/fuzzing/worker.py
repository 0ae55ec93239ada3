# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The child process: damages and reads one file after the other, a line of JSON for each.

python -m evidence.fuzzing.worker SEED FOLDER '[["ply", 0, 500], …]'
"""

import json
import os
import resource
import shutil
import sys
import traceback
import zlib
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from evidence.fuzzing.crafted import CRAFTED
from evidence.fuzzing.formats import FORMATS, Format
from evidence.fuzzing.mutations import MUTATIONS

MEMORY_BYTES = 1 << 30
"""What reading a file may take beyond what the process has."""
CPU_LIMIT_S = 10.0
"""CPU time that reading a file may take, that of child processes included."""
_ADDRESS_BYTES = 4 << 30
"""Address space that a file may claim: above the limit of memory, for the sake of the machine."""
_MAX_TOKENS = 400


def main(arguments: list[str]) -> None:
    """Work through jobs, a JSON list of [format, first file, number of files]."""
    seed, folder, jobs = arguments
    for name, first, n_files in json.loads(jobs):
        _say({"format": name})
        form, place = FORMATS[name], Path(folder) / name
        _limit_memory(None)
        sound = [_read_sound(form, variant, place / "sound") for variant in range(len(form.write))]
        _limit_memory(_ADDRESS_BYTES)
        crafted = list(CRAFTED.get(name, ()))
        for k in range(first, first + n_files):
            about = {"format": name, "file": k}
            if k < len(crafted):
                _say({**about, "damage": crafted[k]})
                found = try_crafted(form, name, crafted[k], place / "crafted")
            else:
                _say({**about, "damage": "?"})
                found = _try(form, name, int(seed), k - len(crafted), place, sound)
            _say({**about, **found})


def make_damaged(form: Format, name: str, seed: int, k: int, folder: Path) -> tuple[Path, str, str]:
    """Write the k-th damaged file into an empty folder; return what to read, file and damage."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), k])
    files = form.write[k % len(form.write)](folder)
    targets = [file for file in files if file.is_file()]
    target = targets[0] if rng.random() < 0.7 else targets[int(rng.integers(len(targets)))]
    damage = list(MUTATIONS)[int(rng.integers(len(MUTATIONS)))]
    target.write_bytes(MUTATIONS[damage](rng, target.read_bytes()))
    return files[0], target.name, damage


def try_crafted(form: Format, name: str, damage: str, folder: Path) -> dict:
    """Write a crafted file into a folder, read it, and return what became of it."""
    _clear(folder)
    files = CRAFTED[name][damage](folder)
    found, _ = _read(form, files[0], {file.name for file in files})
    shutil.rmtree(folder)  # some are large
    return {"damage": damage, "target": files[0].name, "outcome": "read", "words": "", **found}


def _read_sound(form: Format, variant: int, folder: Path) -> tuple[Any, set[str]]:
    """Return the content of a sound file and what is said of it.

    It also compiles and loads whatever reading needs.
    """
    _clear(folder)
    content, said = form.read(form.write[variant](folder)[0])
    if any("damage" in line for line in said):
        raise RuntimeError(f"a sound file is called damaged: {said}")
    return content, {line.replace(str(folder), "") for line in said}


def _try(
    form: Format, name: str, seed: int, k: int, place: Path, sound: list[tuple[Any, set[str]]]
) -> dict:
    folder = place / "damaged"
    _clear(folder)
    path, target, damage = make_damaged(form, name, seed, k, folder)
    found, answer = _read(form, path, {path.name, target})
    about = {"damage": damage, "target": target, "words": "", **found}
    if "outcome" in found:
        return about
    content, said = answer
    sound_content, sound_said = sound[k % len(sound)]
    if content == sound_content:
        return {**about, "outcome": "whole"}
    said = tuple(line for line in said if line.replace(str(folder), "") not in sound_said)
    if said:
        return {**about, "outcome": "said", "words": _cut("; ".join(said))}
    is_noticeable = form.is_checked or (form.counts and damage == "cut")
    return {**about, "outcome": "silent" if is_noticeable else "altered"}


def _read(form: Format, path: Path, names: set[str]) -> tuple[dict, Any]:
    """Read a file; return what it took, with an outcome unless it could be read, and its content.

    Parameters
    ----------
    form : Format
    path : path
    names : set of str
        A refusal has to hold one of them.
    """
    answer: Any = None
    found: dict = {}
    start_s, start_bytes = _cpu_s(), _reset_peak()
    try:
        answer = form.read(path)
    except BaseException as error:
        found = _outcome_of(error, names)
    cpu_s, peak_bytes = _cpu_s() - start_s, _status_bytes("VmHWM") - start_bytes
    if peak_bytes > MEMORY_BYTES:
        found["outcome"] = "memory"
    elif cpu_s > CPU_LIMIT_S and found.get("outcome") != "memory":
        found["outcome"] = "slow"
    return {**found, "peak_mb": round(peak_bytes / 1e6, 1), "cpu_s": round(cpu_s, 2)}, answer


def _outcome_of(error: BaseException, names: set[str]) -> dict[str, str]:
    if _ran_out_of_memory(error):
        return {"outcome": "memory", "words": _cut("".join(traceback.format_exception(error)))}
    if not isinstance(error, UserError):
        return {"outcome": "exception", "words": _cut("".join(traceback.format_exception(error)))}
    is_named = any(name in str(error) for name in names)
    return {"outcome": "refused" if is_named else "unnamed", "words": _cut(str(error))}


def _ran_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether memory was asked for that is not there, whatever was made of it afterwards."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _cpu_s() -> float:
    """Return the CPU time of this process and its children so far [s]."""
    return sum(os.times()[:4])


def _reset_peak() -> int:
    """Begin to measure the peak of memory anew; return what is in use [bytes]."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status_bytes("VmRSS")


def _status_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:"))


def _limit_memory(room_bytes: int | None) -> None:
    """Let this process, and its children, take so much more than it has; all if None."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = hard
    if room_bytes is not None:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + room_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TOKENS else f"… {text[-_MAX_TOKENS:]}"


def _say(line: dict) -> None:
    assert sys.__stdout__ is not None
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # libraries print, too
        main(sys.argv[1:])
