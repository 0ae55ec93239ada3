#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Build a wheel of each package, and of `aerotwin`, whose extras bring them.

    .ci/wheels.py [FOLDER]        FOLDER is build/wheels by default

Needs setuptools only, 70.1 at least. Copies are built, without tests: setuptools writes beside its
sources.
"""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(
    "test", "doc", "pictures", "__pycache__", "*.nb[ci]", "*.egg-info"
)
BUILD = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
N_AT_ONCE = 2


def build(source: Path, folder: Path) -> str:
    """Build one wheel into a folder; return what went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / source.name
        shutil.copytree(source, copy, ignore=LEFT_OUT)  # links become what they lead to
        command = [sys.executable, "-P", "-c", BUILD, str(folder)]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{source.name}: {done.stdout}{done.stderr}"


def main() -> int:
    """Build all; return the exit code."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "wheels").absolute()
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier version
    folder.mkdir(parents=True)
    sources = sorted(path.parent for path in ROOT.glob("src/*/setup.py"))
    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        failures = [text for text in pool.map(lambda each: build(each, folder), sources) if text]
    sys.stderr.write("".join(failures))
    size_mb = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    sys.stdout.write(f"{len(sources) - len(failures)} wheels, {size_mb:.1f} MB: {folder}\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
