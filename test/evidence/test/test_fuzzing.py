# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The crafted files, and few damaged ones of each format; `make fuzz` reads 500 each."""

import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from aerotwin_campaign import RunContext, WorkerPlace, load_campaign
from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from evidence.child import environment
from evidence.fuzzing import FORMATS, campaign, run_fuzz, worker
from evidence.fuzzing.crafted import CRAFTED
from evidence.fuzzing.formats import Format
from evidence.fuzzing.mutations import MUTATIONS
from evidence.fuzzing.worker import _try, make_damaged
from evidence.verification.fuzz import read_format
from evidence.verify_command import CAMPAIGNS

N_FILES = 10
SEED = 7


@pytest.mark.slow
def test_no_reader_fails_on_the_crafted_and_a_few_damaged_files_of_every_format():
    rows = run_fuzz((), N_FILES, SEED)
    assert [row["name"] for row in rows] == [f"fuzz {name}" for name in FORMATS]
    for row in rows:
        assert row["met"], row["failures"]
        n_good = sum(row[outcome] for outcome in campaign.GOOD)
        assert n_good == row["n_files"] == campaign.count_files(row["name"].split()[1], N_FILES)
        assert [file["damage"] for file in row["crafted"]] == list(CRAFTED.get(row["name"][5:], ()))
    assert sum(row["refused"] for row in rows) > len(rows)


@pytest.mark.parametrize("name", MUTATIONS)
def test_damage_is_the_same_for_the_same_seed_and_keeps_files_small(name):
    data = b'{"count": 12, "x": [1.5, -2e3]}' * 40
    made = [MUTATIONS[name](np.random.default_rng(seed), data) for seed in (1, 1, 2, 3, 4, 5)]
    assert made[0] == made[1]
    assert any(other != data for other in made)
    assert max(map(len, made)) <= len(data) + 64


@pytest.mark.parametrize("name", ["ply", "xyz", "npy", "tum", "bag-mcap"])
def test_a_damaged_file_differs_in_one_place_only(tmp_path, name):
    form = FORMATS[name]
    for k in range(6):
        (tmp_path / f"{k}").mkdir()
        path, target, damage = make_damaged(form, name, SEED, k, tmp_path / f"{k}")
        assert path.exists() and damage in MUTATIONS
        assert target in {file.name for file in (tmp_path / f"{k}").rglob("*")}


def _format_with(read) -> Format:
    def write(folder):
        (folder / "a.bin").write_bytes(bytes(range(200)))
        return [folder / "a.bin"]

    return Format(write=(write,), read=read, is_checked=True)


def _outcomes(tmp_path, read, *, n_files=8) -> set[str]:
    """Return what is said of a reader of damaged files."""
    form = _format_with(read)
    sound = bytes(range(200))
    found = set()
    for k in range(n_files):
        found.add(_try(form, "x", SEED, k, tmp_path, [(sound, set())])["outcome"])
    return found


def test_every_way_to_fail_is_noticed(tmp_path):
    def crash(path):
        raise IndexError(path)

    def say_nothing_of_the_file(path):
        raise UserError("something is wrong")

    def take_all(path):
        raise MemoryError

    def hide_that_memory_ran_out(path):
        try:
            take_all(path)
        except MemoryError:
            raise UserError(f"{path.name}: damaged") from None

    assert _outcomes(tmp_path, crash) == {"exception"}
    assert _outcomes(tmp_path, say_nothing_of_the_file) == {"unnamed"}
    for read in (take_all, hide_that_memory_ran_out):
        assert _outcomes(tmp_path, read) == {"memory"}
    assert _outcomes(tmp_path, lambda path: (path.read_bytes(), ())) == {"silent"}
    assert _outcomes(tmp_path, lambda path: (path.read_bytes(), ("odd",))) == {"said"}
    assert _outcomes(tmp_path, lambda _: (bytes(range(200)), ())) == {"whole"}


def test_memory_beyond_the_limit_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "MEMORY_BYTES", 1 << 25)

    def take_much(path):
        return bytes(range(200)), (str(np.ones(1 << 27, dtype=np.uint8)[-1]),)

    assert _outcomes(tmp_path, take_much, n_files=1) == {"memory"}


def test_cpu_time_beyond_the_limit_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "CPU_LIMIT_S", 0.05)

    def work(path):
        start = time.process_time()
        while time.process_time() - start < 0.1:
            pass
        return bytes(range(200)), ()

    assert _outcomes(tmp_path, work, n_files=1) == {"slow"}


def test_every_crafted_file_is_of_a_known_format():
    assert set(CRAFTED) <= set(FORMATS)


def test_a_format_that_is_not_known_is_named():
    with pytest.raises(UserError, match="no format 'docx' to fuzz; known are ply"):
        run_fuzz(["docx"], 1)


def test_the_campaign_reads_every_format():
    campaign = load_campaign(CAMPAIGNS / "fuzz.yaml")
    assert campaign.axes["format"].values == tuple(FORMATS)


def test_a_format_is_a_run_of_the_campaign(tmp_path):
    place = WorkerPlace(number=0, cores=(0,), ros_domain_id=None, scratch=tmp_path)
    context = RunContext(seed=SEED, repeat=0, folder=tmp_path, place=place)
    found = read_format({"format": "ply", "files": 3}, context)
    assert found["is_success"] and found["metrics"]["n_files"] == 3 + len(CRAFTED["ply"])
    assert sum(found["metrics"][f"n_{each}"] for each in campaign.GOOD) == 3 + len(CRAFTED["ply"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_campaign_ends_with_its_children_when_it_is_asked_to(number, code, tmp_path):
    command = python_command("-m", "evidence", "verify", "fuzz", "--runs", str(tmp_path))
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        own = psutil.Process(process.pid)
        while len(children := own.children(recursive=True)) < 2:  # a worker, and what it reads in
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        process.communicate(timeout=30.0)  # all files would take minutes
    assert process.returncode == code
    _, alive = psutil.wait_procs(children, timeout=10.0)
    assert not alive
