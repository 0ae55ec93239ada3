# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Help is quick because it imports nothing that computes: of every verb, in a process each."""

import importlib
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from aerotwin_core.cli import GROUP

VERBS = {entry.name: entry for entry in entry_points(group=GROUP)}
HEAVY = {
    *("PIL", "cv2", "kiss_icp", "matplotlib", "moderngl", "numba", "open3d", "pandas"),
    *("pymavlink", "rclpy", "rosbag2_py", "rosbags", "scipy", "tqdm"),
}
HELP_THEN_MODULES = """
import sys
from aerotwin_core.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as end:
    status = end.code
print("MODULES", *sys.modules)
sys.exit(status)
"""


def help_of(*words: str) -> tuple[str, set[str]]:
    """Return what a process prints as help and the top-level modules that it imported for it."""
    child = subprocess.run(
        [sys.executable, "-c", HELP_THEN_MODULES, *words, "--help"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert child.returncode == 0, child.stderr
    text, _, modules = child.stdout.partition("\nMODULES ")
    return text, {module.partition(".")[0] for module in modules.split()}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_help_of_a_verb_imports_nothing_that_computes(verb: str) -> None:
    text, modules = help_of(*verb.split("."))
    assert text.startswith(f"usage: aerotwin {verb.replace('.', ' ')}")
    assert not modules.intersection(HEAVY)


def test_list_of_verbs_imports_none_of_them_and_says_what_each_does() -> None:
    text, modules = help_of()
    assert not modules.intersection(HEAVY)
    assert {module for module in modules if module.startswith("aerotwin_")} == {"aerotwin_core"}
    for verb, entry in VERBS.items():
        summary = (importlib.import_module(entry.value).__doc__ or "").partition("\n")[0]
        assert summary
        assert f"  {verb.replace('.', ' '):22} {summary}\n" in f"{text}\n"
