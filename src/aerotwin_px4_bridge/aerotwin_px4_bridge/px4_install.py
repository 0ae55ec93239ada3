# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a PX4 SITL is on this machine, and what it was built as."""

import mmap
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.home_path import expanded

VARIABLE = "PX4_DIR"
PX4_BUILD = Path("build/px4_sitl_default")
USUAL_PLACES = (
    "PX4-Autopilot",
    "~/PX4-Autopilot",
    "~/src/PX4-Autopilot",
    "/opt/px4",
    "/opt/px4-gazebo",
)
"""A clone beside the working folder or at home; the prefixes of PX4's Debian packages (1.18)."""
_PROGRAM, _SCRIPT = Path("bin/px4"), Path("etc/init.d-posix/rcS")
_VERSION_HEADER = Path("src/lib/version/build_git_version.h")
_TAG = re.compile(r'PX4_GIT_TAG_STR\s+"(v?(\d+)\.(\d+)[^"]*)"')
_NO_LOCKSTEP = re.compile(r"^CONFIG_BOARD_NOLOCKSTEP=y$", re.MULTILINE)
_LOCKSTEP_SYMBOL = b"LockstepScheduler"
"""PX4 1.14, platforms/posix/src/px4/common/lockstep_scheduler: built with lockstep only."""


@dataclass(frozen=True, kw_only=True)
class Px4Install:
    """A PX4 SITL; `build` holds `bin/px4` and `etc/`.

    `kind` is "source tree", "build folder" or "installed"; `origin` says why this one was chosen.
    """

    build: Path
    kind: str
    origin: str

    @property
    def program(self) -> Path:
        """The executable."""
        return self.build / _PROGRAM

    @property
    def version(self) -> tuple[str, tuple[int, int] | None]:
        """Its tag, and major and minor version; ("", None) where the build does not hold it."""
        try:
            match = _TAG.search((self.build / _VERSION_HEADER).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return "", None
        return ("", None) if match is None else (match[1], (int(match[2]), int(match[3])))

    @property
    def has_lockstep(self) -> bool | None:
        """Whether it waits for the simulator; None if a stripped program does not show it."""
        try:
            if _NO_LOCKSTEP.search((self.build / "boardconfig").read_text(encoding="utf-8")):
                return False
        except (OSError, UnicodeDecodeError):
            pass
        with self.program.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return True if data.find(_LOCKSTEP_SYMBOL) >= 0 else None


def find_px4(px4_dir: str = "", environment: Mapping[str, str] = os.environ) -> Px4Install:
    """Return the PX4 of a folder; without one that of PX4_DIR, else the first of the usual places.

    `px4_dir` is a source tree, a build folder or an installed prefix.

    Raises `UserError` if there is none.
    """
    if px4_dir:
        return _at(px4_dir, "px4_dir") or _refuse("px4_dir", px4_dir)
    if provided := environment.get(VARIABLE):
        return _at(provided, VARIABLE) or _refuse(VARIABLE, provided)
    for place in USUAL_PLACES:
        if found := _at(place, "found in a usual place, as px4_dir and PX4_DIR are not set"):
            return found
    raise UserError(
        f"px4_dir: found no PX4 in {', '.join(USUAL_PLACES)}; give its source folder, in which "
        "'make px4_sitl_default' was run, its build folder or its installed prefix"
    )


def _at(folder: str, origin: str) -> Px4Install | None:
    root = expanded(folder).resolve()
    for build, kind in ((root / PX4_BUILD, "source tree"), (root, "")):
        if (build / _PROGRAM).is_file() and (build / _SCRIPT).is_file():
            is_built_here = (build / "CMakeCache.txt").is_file()
            kind = kind or ("build folder" if is_built_here else "installed")
            return Px4Install(build=build, kind=kind, origin=origin)
    return None


def _refuse(name: str, folder: str) -> Px4Install:
    root = expanded(folder).resolve()
    raise UserError(
        f"{name}: looked for {root / PX4_BUILD / _PROGRAM} and {root / _PROGRAM} with "
        f"{_SCRIPT} beside it, found nothing; give the folder of PX4-Autopilot and run 'make "
        "px4_sitl_default' in it, or give a build folder or an installed prefix"
    )
