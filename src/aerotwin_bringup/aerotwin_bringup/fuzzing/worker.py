# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The child process: damages and reads one file after the other, a line of JSON for each.

python -m aerotwin_bringup.fuzzing.worker SEED FOLDER '[["ply", 0, 500], …]'
"""

import json
import resource
import shutil
import sys
import traceback
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_bringup.fuzzing.formats import FORMATS, Format
from aerotwin_bringup.fuzzing.mutations import MUTATIONS
from aerotwin_core.errors import UserError

MEMORY_BYTES = 1 << 30
"""What reading a damaged file of a few kilobytes may take beyond what a sound one takes."""
_MAX_WORDS = 400


def main(arguments: list[str]) -> None:
    """Work through jobs, a JSON list of [format, first file, number of files]."""
    seed, folder, jobs = arguments
    for name, first, n_files in json.loads(jobs):
        _say({"format": name})
        form, place = FORMATS[name], Path(folder) / name
        _limit_memory(None)
        sound = [_read_sound(form, variant, place / "sound") for variant in range(len(form.write))]
        _limit_memory(MEMORY_BYTES)
        for k in range(first, first + n_files):
            _say({"format": name, "file": k})
            found = _try(form, name, int(seed), k, place, sound)
            _say({"format": name, "file": k, **found})


def make_damaged(form: Format, name: str, seed: int, k: int, folder: Path) -> tuple[Path, str, str]:
    """Write the k-th damaged file into an empty folder; return what to read, file and damage."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), k])
    files = form.write[k % len(form.write)](folder)
    targets = [file for file in files if file.is_file()]
    target = targets[0] if rng.random() < 0.7 else targets[int(rng.integers(len(targets)))]
    damage = list(MUTATIONS)[int(rng.integers(len(MUTATIONS)))]
    target.write_bytes(MUTATIONS[damage](rng, target.read_bytes()))
    return files[0], target.name, damage


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
    about = {"damage": damage, "target": target}
    try:
        content, said = form.read(path)
    except UserError as error:
        is_named = any(part in str(error) for part in (path.name, target))
        return {**about, "outcome": "refused" if is_named else "unnamed", "words": _cut(str(error))}
    except MemoryError:
        return {**about, "outcome": "memory", "words": _cut(traceback.format_exc())}
    except BaseException:
        return {**about, "outcome": "exception", "words": _cut(traceback.format_exc())}
    sound_content, sound_said = sound[k % len(sound)]
    if content == sound_content:
        return {**about, "outcome": "whole", "words": ""}
    said = tuple(line for line in said if line.replace(str(folder), "") not in sound_said)
    if said:
        return {**about, "outcome": "said", "words": _cut("; ".join(said))}
    is_noticeable = form.is_checked or (form.counts and damage == "cut")
    return {**about, "outcome": "silent" if is_noticeable else "altered", "words": ""}


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


def _cut(words: str) -> str:
    return words if len(words) <= _MAX_WORDS else f"… {words[-_MAX_WORDS:]}"


def _say(line: dict) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
