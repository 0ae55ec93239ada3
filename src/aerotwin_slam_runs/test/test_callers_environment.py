# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs made by others have the environment of the user's shell, not that of this workspace."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from aerotwin_slam_runs.program import callers_environment, run_program


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """An interpreter in a virtual environment, with what the shell and the workspace have set."""
    own = tmp_path / "venv"
    for folder in (own / "bin", tmp_path / "other" / "bin", tmp_path / "mine"):
        folder.mkdir(parents=True)
    for place in (own, tmp_path / "other"):
        (place / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (tmp_path / "build" / "aerotwin_core").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(own))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    return {
        "PATH": f"{own}/bin:/usr/bin:/bin",
        "PYTHONPATH": f"{tmp_path}/build:{tmp_path}/mine",
        "LD_LIBRARY_PATH": f"{own}/lib",
        "VIRTUAL_ENV": str(own),
        "HOME": str(tmp_path),
    }


def test_what_the_workspace_added_is_left_out_for_a_program_of_others(workspace, tmp_path):
    found = callers_environment(str(tmp_path / "other" / "bin" / "python"), workspace)
    assert found == {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{tmp_path}/mine",
        "HOME": str(tmp_path),
    }


def test_another_virtual_environment_of_the_shell_stays(workspace, tmp_path):
    workspace["VIRTUAL_ENV"] = f"{tmp_path}/other"
    found = callers_environment("/bin/sh", workspace)
    assert found["VIRTUAL_ENV"] == f"{tmp_path}/other"


@pytest.mark.parametrize("program", ["python", "{venv}/bin/python"])
def test_a_program_of_the_workspaces_python_has_all(workspace, tmp_path, program):
    program = program.format(venv=tmp_path / "venv")
    assert callers_environment(program, workspace) == workspace


def test_without_a_virtual_environment_the_systems_folders_stay(workspace, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/usr")
    found = callers_environment("/bin/sh", workspace)
    assert found["PATH"] == workspace["PATH"]


def test_a_program_is_run_so(tmp_path, monkeypatch):
    (tmp_path / "build" / "aerotwin_core").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/build", prepend=os.pathsep)
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    log = tmp_path / "log"
    system = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin")
    if system is None or Path(system).is_relative_to(sys.prefix):
        pytest.skip("needs a Python outside of the virtual environment")
    end = run_program(
        [system, "-c", code], tmp_path, log, environment={"MINE": "1"}, timeout_s=60.0,
        largest_output_bytes=1e9, on_wait=lambda wall_s: None,
    )  # fmt: skip
    assert end.problem == ""
    seen = json.loads(log.read_text())
    assert seen["MINE"] == "1"
    assert f"{tmp_path}/build" not in seen.get("PYTHONPATH", "").split(os.pathsep)
