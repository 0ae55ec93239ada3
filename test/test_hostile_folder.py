# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A working folder full of modules that must not run, whatever is started in it."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.child_python import python_command, spawning_context

ROOT = Path(__file__).resolve().parents[1]
LAUNCH = ROOT / "launch" / "sitl_flight.launch.yaml"
AEROTWIN = python_command("-m", "aerotwin_core.cli")
MARKER = "executed.txt"
MODULE = f"""
with open({{folder!r}} + "/{MARKER}", "a") as file:
    file.write(__name__ + " ran as " + repr(__import__("sys").argv) + chr(10))
"""
INSTANCE = 93
LIMIT_S = 240.0


@pytest.fixture
def hostile_folder(tmp_path):
    """Return a folder with a module of every name that Python, or a package here, may import."""
    names = {*sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    for name in names:
        if name.isidentifier():
            (tmp_path / f"{name}.py").write_text(MODULE.format(folder=str(tmp_path)))
    # matplotlib would refuse its first line, and draw with what the second one asks for.
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 40\ntext.usetex: True\n")
    return tmp_path


def run(folder: Path, command: list[str], **variables: str) -> subprocess.CompletedProcess:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables},
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    marker = folder / MARKER
    assert not marker.exists(), marker.read_text()
    return done


def test_the_folder_is_hostile(hostile_folder, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # an earlier test may have spawned
    subprocess.run([sys.executable, "-c", "import json"], cwd=hostile_folder, check=False)
    assert "json ran" in (hostile_folder / MARKER).read_text()


def test_a_compressed_cloud_is_read(hostile_folder):
    laspy = pytest.importorskip("laspy")
    las = laspy.LasData(laspy.LasHeader(point_format=6, version="1.4"))
    las.x, las.y, las.z = np.arange(30.0).reshape(10, 3).T
    las.write(hostile_folder / "a.laz")
    tokens = ["voxels", "a.laz", "--resolution-m", "1", "-o", "voxels.ply"]
    done = run(hostile_folder, [*AEROTWIN, *tokens])
    assert done.returncode == 0, done.stderr


def test_a_driver_of_graphics_is_looked_for(hostile_folder):
    tokens = [
        "-c",
        "from aerotwin_rendering.rasteriser import gl_probe; gl_probe.opengl_renderer()",
    ]
    done = run(hostile_folder, python_command(*tokens))
    assert done.returncode == 0, done.stderr


def test_a_pool_of_processes_is_started(hostile_folder, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "")  # back to what it was, after the test
    monkeypatch.chdir(hostile_folder)
    process = spawning_context().Process(target=os.getpid)
    process.start()
    process.join(LIMIT_S)
    assert process.exitcode == 0
    assert not (hostile_folder / MARKER).exists()


def test_pictures_do_not_follow_the_folder(hostile_folder):
    code = (
        "from aerotwin_core.plots import new_figure, render_svg, style\n"
        "figure = new_figure()\n"
        "with style():\n"
        "    figure.add_subplot().plot([0, 1], label='a')\n"
        "print(render_svg(figure, 'a'))\n"
    )
    ours = run(hostile_folder, python_command("-c", code))
    clean = subprocess.run(
        python_command("-c", code), cwd=ROOT / "src", capture_output=True, text=True, check=True
    )
    assert ours.stdout == clean.stdout
    assert ours.stderr == ""


def test_settings_of_pictures_that_never_end_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "matplotlibrc")
    code = (
        "import aerotwin_core.plots as p; p.colour_table(), p.colours(9), p.style(); print('drawn')"
    )
    assert run(tmp_path, python_command("-c", code)).stdout == "drawn\n"


@pytest.mark.ros
@pytest.mark.slow
def test_a_flight_is_launched(hostile_folder, coarse_world):
    arguments = {
        "world": coarse_world, "camera": "false", "slam": "none", "duration_s": "3.0",
        "record": "inertial", "instance": INSTANCE,
    }  # fmt: skip
    tokens = [f"{name}:={value}" for name, value in arguments.items()]
    done = run(hostile_folder, [*AEROTWIN, "launch", str(LAUNCH), *tokens])
    assert "report: runs/" in done.stdout, done.stdout + done.stderr
    assert list(hostile_folder.glob(f"runs/*/autopilot_{INSTANCE}.log"))


@pytest.mark.ros
def test_the_bridge_starts_its_autopilot(hostile_folder):
    node = python_command("-m", "aerotwin_px4_bridge.ros.bridge_node", "--ros-args")
    values = ("-p", f"instance:={INSTANCE}", "-p", "input_timeout_s:=2.0")
    done = run(hostile_folder, [*node, *values])
    assert done.returncode == 1
    assert "nothing came on /imu/data_raw" in done.stderr


def test_empty_entries_of_paths_are_dropped(hostile_folder):
    script = ROOT / ".venv" / ".aerotwin" / "environment.sh"
    if not script.exists():
        pytest.skip("make setup writes the environment; this is another installation")
    libraries = f":{sys.prefix}/lib::"
    paths = {"PATH": f":{os.environ['PATH']}:", "PYTHONPATH": "::", "LD_LIBRARY_PATH": libraries}
    shown = run(hostile_folder, ["sh", "-c", f'. "{script}"; env'], **paths).stdout
    found = dict(line.partition("=")[::2] for line in shown.splitlines())
    for name in paths:
        assert all(found[name].split(":")), f"{name}={found[name]}"
    done = run(hostile_folder, [str(ROOT / ".venv" / "bin" / "aerotwin"), "--help"], **paths)
    assert done.returncode == 0, done.stderr


def test_settings_of_numba_in_the_working_folder_are_refused_by_name(tmp_path):
    """They could switch compilation off, or name a module to import."""
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    command = python_command("-m", "aerotwin_core.cli", "world", "info", "cliff")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert ".numba_config.yaml: the working folder holds settings of numba" in done.stderr


def test_kernels_of_the_working_folder_are_never_loaded(tmp_path):
    """They are pickles; a program that imports our packages is not refused, but reads none."""
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: kernels\n")
    program = "import aerotwin_core, numba.core.config as config; print(repr(config.CACHE_DIR))"
    command = python_command("-c", program)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "''\n"
