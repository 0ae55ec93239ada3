# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a PX4 folder contains a usable SITL build."""

import os
import re
from pathlib import Path

from aerotwin_doctor.check import Check, fail, ok, warn

BUILD = Path("build/px4_sitl_default")
MODEL = "none_iris"
OLDEST = (1, 14)
_TAG = re.compile(r'PX4_GIT_TAG_STR\s+"v?(\d+)\.(\d+)[^"]*"')
_NAME = "px4.build"
_WAY_OUT = "make px4_sitl_default in it"


def px4_check(folder: str, model: str = MODEL) -> Check:
    """Return whether PX4 was built there, and its version and model."""
    root = Path(folder).expanduser()
    program, airframes = root / BUILD / "bin/px4", root / BUILD / "etc/init.d-posix/airframes"
    if not program.is_file() or not os.access(program, os.X_OK):
        return fail(_NAME, f"PX4_DIR: no program {program}", _WAY_OUT)
    if not any(airframes.glob(f"*_{model}")):
        return fail(_NAME, f"{airframes} has no airframe *_{model}", _WAY_OUT)
    text, version = _version(root)
    if version is None:
        return warn(_NAME, f"built in {root}, but its version is not known", _WAY_OUT)
    if version < OLDEST:
        return fail(_NAME, f"{text} in {root} is too old", "check out v1.14 or newer")
    return ok(_NAME, f"{text} with {model} in {root}")


def _version(root: Path) -> tuple[str, tuple[int, int] | None]:
    header = root / BUILD / "src/lib/version/build_git_version.h"
    try:
        match = _TAG.search(header.read_text(encoding="utf-8"))
    except OSError:
        return "PX4", None
    if match is None:
        return "PX4", None
    return f"PX4 {match[0].split(chr(34))[1]}", (int(match[1]), int(match[2]))
