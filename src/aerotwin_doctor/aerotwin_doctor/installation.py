# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether imports, programs, compiled kernels and autopilots exist in the tested versions."""

import ctypes
import importlib
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, distributions, entry_points
from importlib.metadata import version as installed_version
from pathlib import Path

from aerotwin_ardupilot_bridge.ardupilot_install import VARIABLE as ARDUPILOT_VARIABLE
from aerotwin_ardupilot_bridge.ardupilot_install import find_ardupilot
from aerotwin_core.errors import UserError
from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_px4_bridge.process import PX4_MODEL
from aerotwin_px4_bridge.px4_install import VARIABLE, find_px4

SUPPORTED_PYTHON = ((3, 11), (3, 12))
SETUPTOOLS_LIMIT = 80
"""From setuptools 80 on, colcon's --symlink-install silently becomes a copy."""
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libusb-1.0.so.0": "libusb-1.0-0",
    "libgomp.so.1": "libgomp1",
}
"""What the wheels of Open3D and numba load from the system -> its Debian package."""
_PINNED = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?\s*(==|<)\s*([0-9][0-9a-zA-Z.+!-]*)\s*$")
_PREFIX = "aerotwin"
_MODULE_OF_ROSDEP_KEY = {"python3-opencv": "cv2", "python3-pil": "PIL", "python3-yaml": "yaml"}
SET_UP = "run make setup"
OLDEST_PX4 = (1, 14)
_PX4_CHECK = "px4.build"
_BUILD_PX4 = "make px4_sitl_default in its source tree"


def workspace_root() -> Path | None:
    """Return the source workspace that this package is linked to; None in a copied installation."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "requirements.txt").is_file() and (folder / "src").is_dir():
            return folder
    return None


def python_check(version: tuple[int, int] | None = None) -> Check:
    """Return whether this Python version is tested."""
    found = version or sys.version_info[:2]
    name = "python.version"
    text = f"Python {found[0]}.{found[1]} ({sys.executable})"
    if tuple(found) in SUPPORTED_PYTHON:
        return ok(name, text)
    requested = " or ".join(f"{major}.{minor}" for major, minor in SUPPORTED_PYTHON)
    return fail(
        name, f"{text}; aerotwin needs {requested}", "make distclean, make PYTHON=python3.12"
    )


def pinned_versions(text: str) -> dict[str, tuple[str, str]]:
    """Return distribution -> (operator, version) of a file; other lines are ignored."""
    matches = (_PINNED.match(line.partition("#")[0].strip()) for line in text.splitlines())
    return {m[1]: (m[2], m[3]) for m in matches if m}


def find_version(name: str) -> str | None:
    """Return the version of an installed distribution."""
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return None


def version_check(
    requirements: Mapping[str, tuple[str, str]], find: Callable[[str], str | None] = find_version
) -> Check:
    """Compare the installed versions with those of a requirements file."""
    name = "python.versions"
    missing, other = [], []
    for package, (operator, requested) in requirements.items():
        found = find(package)
        if found is None:
            missing.append(package)
        elif not _meets(found, operator, requested):
            other.append(f"{package} {found} (required {operator}{requested})")
    if missing:
        return fail(name, f"not installed: {', '.join(missing)}", SET_UP)
    if other:
        return warn(name, f"not the versions that were tested: {', '.join(other)}", SET_UP)
    return ok(name, f"{len(requirements)} packages have the versions of the requirements file")


def _meets(found: str, operator: str, requested: str) -> bool:
    if operator == "==":
        return found.partition("+")[0] == requested
    numbers = [
        [int(part) for part in re.findall(r"\d+", version)][:3] for version in (found, requested)
    ]
    return numbers[0] < numbers[1]


def setuptools_check(found: str | None) -> Check:
    """Return whether colcon links sources."""
    name = "python.setuptools"
    if found is None:
        return warn(name, "setuptools is not installed here", "colcon needs it to build")
    if int(found.partition(".")[0]) >= SETUPTOOLS_LIMIT:
        return fail(
            name,
            f"setuptools {found}: colcon build --symlink-install copies instead of linking",
            f"pip install 'setuptools<{SETUPTOOLS_LIMIT}' and build again",
        )
    return ok(name, f"setuptools {found}")


def needed_modules(prefix_path: str) -> list[str]:
    """Return the imports of the installed packages of aerotwin, from their manifests."""
    prefixes = [Path(prefix) for prefix in prefix_path.split(":")]
    modules: set[str] = set()
    for manifest in (m for p in prefixes for m in p.glob(f"share/{_PREFIX}_*/package.xml")):
        root = ElementTree.parse(manifest).getroot()
        names = [(e.text or "").strip() for e in root.iter("exec_depend")]
        names += [name for e in root.iter("aerotwin_python") for name in (e.text or "").split()]
        modules |= {_MODULE_OF_ROSDEP_KEY.get(n, n.removeprefix("python3-")) for n in names}
    return sorted(modules)


def import_check(
    names: Sequence[str],
    load: Callable[[str], object] = importlib.import_module,
) -> Check:
    """Import every module once, and report failures with their reason."""
    if not names:
        return fail("python.imports", "no package of aerotwin is on AMENT_PREFIX_PATH", SET_UP)
    broken = []
    for name in names:
        try:
            load(name)
        except Exception as error:
            broken.append(f"{name} ({' '.join(str(error).split())[:80]})")
    if broken:
        return fail("python.imports", f"cannot be imported: {'; '.join(broken)}", SET_UP)
    return ok("python.imports", f"{len(names)} modules load")


def library_check(load: Callable[[str], object] = ctypes.CDLL) -> Check:
    """Return whether the system libraries that wheels do not include are installed."""
    missing = []
    for library, package in LIBRARIES.items():
        try:
            load(library)
        except OSError:
            missing.append(package)
    if shutil.which("g++") is None and not _has("tf2_msgs"):
        missing.append("g++")
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists() and not _has("tf2_msgs"):
        missing.append(f"python{sys.version_info[0]}.{sys.version_info[1]}-dev")
    if missing:
        line = f"sudo apt-get install {' '.join(missing)}"
        return fail("system.libraries", f"missing: {', '.join(missing)}", line)
    return ok("system.libraries", f"{len(LIBRARIES)} shared libraries load")


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def commands_check(commands: Iterable[EntryPoint] | None = None) -> Check:
    """Return whether every verb of `aerotwin` can be loaded."""
    found = list(entry_points(group="aerotwin.commands") if commands is None else commands)
    broken = []
    for command in found:
        try:
            importlib.import_module(command.value)
        except Exception as error:
            broken.append(f"{command.name} ({error})")
    if broken or not found:
        said = f"cannot be loaded: {'; '.join(broken)}" if broken else "no verb is registered"
        return fail("packages.commands", said, SET_UP)
    return ok("packages.commands", f"{len(found)} verbs of aerotwin load")


def nodes_check(prefix_path: str) -> Check:
    """Return whether every node that the packages declare is installed as a program."""
    name = "packages.nodes"
    prefixes = [Path(prefix) for prefix in prefix_path.split(":")]
    missing, n_nodes = [], 0
    for package, program in _declared_programs():
        n_nodes += 1
        places = (f"lib/{package}/{program}", f"bin/{program}")
        if not any((prefix / place).is_file() for prefix in prefixes for place in places):
            missing.append(f"{package}/{program}")
    if not n_nodes:
        return fail(name, "no package of aerotwin is installed", SET_UP)
    if missing:
        return fail(
            name,
            f"declared, but not installed: {', '.join(missing)}",
            f"{SET_UP}; on a ROS machine: colcon build --symlink-install, . install/setup.bash",
        )
    return ok(name, f"{n_nodes} nodes are installed")


def _declared_programs() -> list[tuple[str, str]]:
    programs = {
        (package, entry.name)
        for distribution in distributions()
        if (package := (distribution.metadata["Name"] or "").replace("-", "_")).startswith(_PREFIX)
        for entry in distribution.entry_points
        if entry.group == "console_scripts"
    }
    return sorted(programs)


def kernels_check(source: Path) -> Check:
    """Return whether machine code is cached beside the sources; changed kernels are recompiled."""
    name = "kernels.cache"
    n_kernels = sum(1 for _ in source.rglob("*.nbc"))
    if n_kernels == 0:
        return warn(name, "no kernel is compiled yet", "the first start takes half a minute longer")
    return ok(name, f"{n_kernels} compiled kernels")


def px4_check(folder: str = "") -> Check:
    """Return whether PX4 is there, or in a usual place; its version, model, and lockstep."""
    try:
        found = find_px4(folder)
    except UserError as error:
        if folder or VARIABLE in os.environ:
            return fail(_PX4_CHECK, str(error), _BUILD_PX4)
        return ok(_PX4_CHECK, "none found; the embedded autopilot flies without it")
    place = f"{found.kind} {found.build} ({found.origin})"
    if not os.access(found.program, os.X_OK):
        return fail(_PX4_CHECK, f"{found.program} may not be run", _BUILD_PX4)
    if not any((found.build / "etc/init.d-posix/airframes").glob(f"*_{PX4_MODEL}")):
        return fail(_PX4_CHECK, f"no airframe *_{PX4_MODEL} in {place}", _BUILD_PX4)
    if found.has_lockstep is False:
        return fail(_PX4_CHECK, f"built without lockstep in {place}", _BUILD_PX4)
    lockstep = "with lockstep" if found.has_lockstep else "lockstep not known"
    tag, version = found.version
    if version is None:
        return warn(_PX4_CHECK, f"version not known, {lockstep}, {place}", _BUILD_PX4)
    if version < OLDEST_PX4:
        return fail(_PX4_CHECK, f"PX4 {tag} is too old: {place}", "check out v1.14 or newer")
    return ok(_PX4_CHECK, f"PX4 {tag} with {PX4_MODEL}, {lockstep}, {place}")


def ardupilot_check(path: str = "") -> Check:
    """Return whether an ArduCopter is there, or in a usual place."""
    name = "ardupilot.build"
    try:
        found = find_ardupilot(path)
    except UserError as error:
        if path or ARDUPILOT_VARIABLE in os.environ:
            return fail(name, str(error), "./waf configure --board sitl and ./waf copter in it")
        return ok(name, "none found; the embedded autopilot flies without it")
    return ok(name, f"{found.program} ({found.origin})")
