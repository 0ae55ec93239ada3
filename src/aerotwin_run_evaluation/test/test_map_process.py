# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps are evaluated in a process of their own, which leaves nothing behind."""

import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_run_evaluation.map_job import BareMesh, MapJob
from aerotwin_run_evaluation.map_process import MapProcess
from aerotwin_run_evaluation.run_map import MapJudge

PATIENCE_S = 60.0
QUICK = "map: {voxel_m: 1.0, sensitivity_m: []}"


def height(x, y):
    return np.sin(0.4 * x) + np.cos(0.5 * y)


def hill():
    """Return a world of 20 m by 20 m."""
    x, y = np.meshgrid(*[np.linspace(-10.0, 10.0, 41)] * 2, indexing="ij")
    i = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    mesh = BareMesh(
        vertices_map=np.column_stack([x.ravel(), y.ravel(), height(x, y).ravel()]),
        triangles=np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
    )
    return SimpleNamespace(name="hill", meshes=(mesh,))


@pytest.fixture
def job(tmp_path):
    """Return what is evaluated: points on the hill, by a quick protocol."""
    (tmp_path / "quick.yaml").write_text(QUICK)
    x, y = np.random.default_rng(1000).uniform(-9.0, 9.0, (2, 2000))
    return MapJob(
        points_odom=np.column_stack([x, y, height(x, y)]),
        T_map_odom=np.eye(4),
        camera=None,
        protocol=str(tmp_path / "quick.yaml"),
        name="map_of_test",
    )


@pytest.fixture(scope="module")
def process():
    """Yield a process for maps of the hill."""
    begun = MapProcess(hill())
    yield begun
    begun.end()


def wait_until(is_so, what):
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, f"{what} within {PATIENCE_S:g} s"
        time.sleep(0.05)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_map_has_the_same_result_in_a_process_of_its_own(process, job):
    steps, steps_here = [], []
    found = process.judge(job, steps.append)
    here = MapJudge(hill().meshes).judge(job, steps_here.append)
    assert steps == steps_here
    assert steps[0] == "map: reference"
    assert [s.name for s in found.sections] == ["map_of_test"]
    for one, other in zip(found.sections, here.sections, strict=True):
        assert one.metrics == other.metrics
        assert one.tables == other.tables
        assert [f.svg for f in one.figures] == [f.svg for f in other.figures]
    np.testing.assert_array_equal(found.points_map, here.points_map)
    np.testing.assert_array_equal(found.distances, here.distances)
    assert found.voxels_map.keys() == {1.0}


def test_what_cannot_be_evaluated_says_why_and_the_next_map_is_evaluated(process, job):
    empty = MapJob(**{**vars(job), "points_odom": np.empty((0, 3))})
    with pytest.raises(UserError, match="the map is empty"):
        process.judge(empty, lambda step: None)
    assert len(process.judge(job, lambda step: None).distances) == 2000


def test_a_process_that_is_killed_while_it_works_is_an_error_with_a_way_out(job):
    process = MapProcess(hill())

    def kill(step):
        os.kill(process.pid, signal.SIGKILL)

    for _ in range(2):  # and so is every further map
        with pytest.raises(UserError) as caught:
            process.judge(job, kill)
        assert "was killed by SIGKILL" in str(caught.value)
        assert "aerotwin evaluate bag BAG --slam none --world hill" in str(caught.value)


def test_no_process_is_left_when_it_is_ended_while_it_prepares():
    begun = MapProcess(hill())
    assert is_alive(begun.pid)
    begun.end()
    assert not is_alive(begun.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_process_ends_with_the_one_that_began_it_however_that_ends(number):
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); "
        "from test_map_process import MapProcess, hill; "
        "print(MapProcess(hill()).pid, flush=True); time.sleep(600)"
    )
    command = python_command("-c", program, str(Path(__file__).parent))
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert is_alive(pid)
        starter.send_signal(number)
        starter.wait(PATIENCE_S)
        wait_until(lambda: not is_alive(pid), "the process of the maps ends")
