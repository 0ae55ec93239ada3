# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.gate import EXIT_GATE
from aerotwin_trajectory_evaluation import (
    ResourceRecorder,
    ResourceUsage,
    resource_section,
    resources_command,
)
from aerotwin_trajectory_evaluation.measured_program import MeasuredProgram
from aerotwin_trajectory_evaluation.resources import next_due

# Pages that other processes share may come and go between the two readings.
INTERPRETER_BYTES = 25_000_000  # of a Python that imported nothing
SHARED = 0.02

# A child whose own child burns the processor; it reports the CPU time of both. The grandchild lives
# longer than the second that may pass between two looks for new processes.
BURN = """
import subprocess, sys, time
def burn():
    while time.process_time() < 0.4: pass
if "child" in sys.argv:
    burn()
    time.sleep(1.5)
else:
    child = subprocess.Popen([sys.executable, "-c", sys.argv[1], "", "child"])
    burn()
    child.wait()
    time.sleep(0.3)
"""


def test_cpu_time_of_a_tree_contains_that_of_its_children():
    process = subprocess.Popen([sys.executable, "-c", BURN, BURN])
    try:
        with ResourceRecorder(pid=process.pid, interval_s=0.02) as recorder:
            process.wait(timeout=60)
    finally:
        process.kill()
    usage = recorder.usage
    # 0.8 s are burnt, half by each. The first sight of the root may come late, never the child's.
    assert 0.42 < usage.cpu_s[-1] < 3.0
    assert usage.n_processes.max() == 2
    assert usage.rss_bytes.max() > 5e6
    assert (np.diff(usage.cpu_s) >= 0).all()


def test_a_pattern_finds_a_process_by_its_command_line():
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(30)", "aerotwin-pattern-test"]
    )
    try:
        with ResourceRecorder(pattern="aerotwin-pattern-tes[t]", interval_s=0.02) as recorder:
            end = time.monotonic() + 10.0
            while not recorder.usage.n_processes.any() and time.monotonic() < end:
                time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    assert recorder.usage.n_processes.max() == 1


def test_a_process_that_is_not_there_is_a_warning_and_not_a_zero():
    with ResourceRecorder(pattern="no-such-program-[x]", interval_s=0.01) as recorder:
        time.sleep(0.03)
    section = resource_section(recorder.usage, n_frames=10)
    assert "never seen" in section.warnings[0]


def three_samples():
    unknown = np.full(3, np.nan)
    return ResourceUsage(
        time_s=np.array([0.0, 1.0, 2.0]),
        cpu_s=np.array([0.0, 0.5, 1.5]),
        rss_bytes=np.array([100, 300, 200]),
        pss_bytes=np.array([np.nan, 250.0, 150.0]),
        peak_bytes=np.array([np.nan, 320.0, 320.0]),
        read_bytes=unknown,
        write_bytes=np.array([0.0, 10.0, 40.0]),
        n_threads=np.array([1, 4, 3]),
        n_processes=np.array([1, 1, 1]),
        frame_time_s=np.array([0.5, 1.5]),
        latency_s=np.array([0.04, 0.06]),
        frame_stamps_ns=np.array([10_000_000_000, 12_000_000_000]),
        overhead=0.004,
    )


def test_numbers_follow_from_the_samples():
    usage = three_samples()
    numbers = usage.metrics(n_frames=30, simulated_s=4.0)
    assert numbers["cpu_s_per_frame"] == pytest.approx(0.05)
    assert numbers["cpu_cores_mean"] == pytest.approx(0.75)
    assert numbers["real_time_factor"] == pytest.approx(2.0)
    assert numbers["latency_s"]["median"] == pytest.approx(0.05)
    assert (numbers["pss_bytes_max"], numbers["pss_bytes_mean"]) == (250.0, 200.0)
    assert numbers["rss_bytes_max"] == 320.0
    assert (numbers["read_bytes"], numbers["write_bytes"]) == (None, 40.0)
    assert numbers["cpu_cores_max"] == pytest.approx(1.0)
    section = resource_section(usage, n_frames=30, simulated_s=4.0)
    assert section.figures[0].svg.startswith("<svg")
    assert not section.warnings
    (table,) = section.tables
    assert [row[1] for row in table.rows].count("–") == 1  # read_bytes: no path is misspelt
    assert all(table.hints)
    (ms,) = [row for row in table.rows if row[0] == "CPU time per frame"]
    assert ms[1:3] == ("50.0", "ms")
    assert all(tile.computed for tile in section.headline)


def test_this_process_can_watch_itself():
    with ResourceRecorder(pid=os.getpid(), interval_s=0.01) as recorder:
        recorder.frame_done(0.02, 7)
        time.sleep(0.05)
    assert recorder.usage.latency_s.tolist() == [0.02]
    assert recorder.usage.frame_stamps_ns.tolist() == [7]


def test_samples_lie_on_the_time_of_the_data():
    """Outputs at 0.5 and 1.5 s wall belong to data 2 s apart: a second of wall is two of data."""
    assert three_samples().stamps_ns().tolist() == [10e9, 11e9, 12e9]
    error = np.array([10_000_000_000, 12_000_000_000]), np.array([0.0, 0.5])
    (figure,) = resource_section(three_samples(), error=error).figures
    assert figure.title.startswith("Error")
    assert "time of the data" in figure.caption


def wait_for_a_sample(recorder):
    end = time.monotonic() + 10.0
    while not len(recorder.usage.time_s) and time.monotonic() < end:
        time.sleep(0.01)


def test_memory_threads_and_storage_are_those_that_psutil_reads(tmp_path):
    """psutil reads the same kernel counters by code of its own."""
    script = (
        "import os, threading, time\n"
        "block = bytearray(os.urandom(1)) * 40_000_000\n"
        "for _ in range(3): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "with open('out', 'wb') as f: f.write(block[:8_000_000]); f.flush(); os.fsync(f.fileno())\n"
        "print('ready', flush=True)\n"
        "input()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline().strip() == b"ready"
        with ResourceRecorder(pid=process.pid, interval_s=0.01) as recorder:
            wait_for_a_sample(recorder)
        other = psutil.Process(process.pid)
        memory, n_threads = other.memory_full_info(), other.num_threads()
    finally:
        process.kill()
        process.communicate()
    usage = recorder.usage
    assert usage.n_threads[-1] == n_threads == 4
    assert usage.rss_bytes[-1] == pytest.approx(memory.rss, rel=SHARED)
    assert usage.pss_bytes[-1] == pytest.approx(memory.pss, rel=SHARED)
    assert usage.pss_bytes[-1] > 40e6


def cost_of(script):
    """Run a script to its end; return its memory tile and the numbers."""
    process = subprocess.Popen([sys.executable, "-S", "-c", script])
    with ResourceRecorder(pid=process.pid) as recorder:
        process.wait()
    found = resource_section(recorder.usage, n_frames=1)
    (tile,) = [tile for tile in found.headline if tile.label == "Memory"]
    return tile, found.metrics


def test_the_memory_of_a_short_program_is_its_peak_between_samples():
    block = 60_000_000
    script = f"import time; time.sleep(0.3); bytearray({block}); time.sleep(0.3)"
    for _ in range(3):
        tile, numbers = cost_of(script)
        assert block < numbers["rss_bytes_max"] < block + INTERPRETER_BYTES
        assert float(tile.value) == round(numbers["rss_bytes_max"] * 1e-6)
        assert tile.meaning.endswith("resident")


def test_a_program_that_is_over_at_once_has_no_memory_and_not_none_of_it():
    tile, numbers = cost_of("pass")
    assert (tile.value, tile.unit) == ("–", "")
    assert tile.meaning == "the program was too short to measure"
    assert numbers["pss_bytes_max"] is numbers["rss_bytes_max"] is None


def test_a_launch_node_is_found_by_its_name():
    process = subprocess.Popen(
        [sys.executable, "-c", "input('ready')", "--ros-args", "-r", "__node:=some_slam"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout.read(5) == b"ready"
        for node, expected in (("some_slam", 1), ("some", 0)):
            recorder = ResourceRecorder(node=node, interval_s=0.01).start()
            wait_for_a_sample(recorder)
            assert recorder.stop().n_processes[0] == expected
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("provided", [{}, {"pid": 1, "node": "slam"}])
def test_exactly_one_program_is_named(provided):
    with pytest.raises(ValueError, match="exactly one of pid, pattern and node"):
        ResourceRecorder(**provided)


def run_verb(*tokens):
    parser = argparse.ArgumentParser()
    resources_command.configure(parser)
    return resources_command.run(parser.parse_args(tokens))


def test_the_verb_runs_a_program_and_reports_its_cost(tmp_path, capfd):
    burn = "import time\nwhile time.process_time() < 0.6: pass"
    report = tmp_path / "result"
    code = run_verb("--json", str(tmp_path / "a.json"), "-o", str(report), "--", sys.executable,
                    "-c", burn)  # fmt: skip
    numbers = json.loads((tmp_path / "a.json").read_text())
    assert code == 0
    assert 0.3 < numbers["cpu_s"] < 1.5
    assert (report / "report.html").is_file()
    assert "CPU time" in capfd.readouterr().out


def test_the_verb_fails_with_the_program_and_by_its_conditions():
    sleep = "import time; time.sleep(0.5); raise SystemExit({})"
    assert run_verb("--", sys.executable, "-c", sleep.format(5)) == 5
    assert run_verb("--fail-if", "n_threads_max >= 1", "--", sys.executable, "-c",
                    sleep.format(0)) == EXIT_GATE  # fmt: skip


# A shell that starts another program and waits for it, as `ros2 run` does.
TREE = ["sh", "-c", "sleep 600 & echo $! >PIDS; wait"]


def tree_in(folder):
    tokens = [token.replace("PIDS", str(folder / "pids")) for token in TREE]
    return ["--", *tokens]


def is_alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_what_the_program_started_ends_with_its_time(tmp_path):
    assert run_verb("--duration-s", "1", *tree_in(tmp_path)) == 0
    assert not is_alive(int((tmp_path / "pids").read_text()))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 0)]
)
def test_a_signal_ends_the_whole_program(number, code, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "evaluate", "resources", *tree_in(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = tmp_path / "pids"
    try:
        while not (pids.exists() and pids.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30.0)
        assert process.returncode == code
        assert "Traceback" not in errors
        assert not is_alive(int(pids.read_text()))
    finally:
        process.kill()


def test_the_measured_program_ends_when_the_recorder_is_killed(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "evaluate", "resources", *tree_in(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    pids = tmp_path / "pids"
    try:
        while not (pids.exists() and pids.read_text().endswith("\n")):
            assert process.poll() is None
            time.sleep(0.05)
        pid = int(pids.read_text())
        assert is_alive(pid)
        process.kill()
        process.wait()
        end = time.monotonic() + 60.0
        while is_alive(pid) and time.monotonic() < end:
            time.sleep(0.05)
        assert not is_alive(pid)
    finally:
        process.kill()
        process.wait()
        if pids.exists() and is_alive(pid := int(pids.read_text())):
            os.kill(pid, signal.SIGKILL)


def test_what_a_program_leaves_running_at_its_end_is_ended_and_said(tmp_path, capfd):
    daemon = "sleep 600 & echo $! > PID; sleep 600 & echo $! >> PID; sleep 0.3"
    script = "setsid sh -c 'DAEMON'".replace("DAEMON", daemon).replace("PID", str(tmp_path / "pid"))
    assert run_verb("--", "sh", "-c", script) == 0
    pids = (tmp_path / "pid").read_text().split()
    assert len(pids) == 2
    assert not any(is_alive(int(pid)) for pid in pids)
    assert "sh left processes running (2); they were ended" in "".join(capfd.readouterr())


def test_the_code_of_a_program_that_a_signal_ended_is_as_shells_say_it():
    assert run_verb("--", "sh", "-c", "sleep 0.5; kill -SEGV $$") == 139


def test_a_number_of_no_process_is_refused_at_once():
    with pytest.raises(UserError, match="--pid 4194305: there is no such process"):
        run_verb("--pid", "4194305")  # above the largest number that Linux gives (proc(5))


def test_what_is_sought_in_vain_is_named():
    with pytest.raises(UserError, match="no process with 'no_such_slam_x' in its command line"):
        run_verb("--name", "no_such_slam_x", "--duration-s", "0.2")


def test_the_verb_says_what_it_cannot_do():
    with pytest.raises(UserError, match="say which program"):
        run_verb()
    with pytest.raises(UserError, match="no-such-program-x: cannot be started"):
        run_verb("no-such-program-x")
    with pytest.raises(UserError, match="--rate-hz must be positive"):
        run_verb("--pid", "1", "--rate-hz", "0")
    with pytest.raises(UserError, match=r"--name '\(' is no regular expression: .*position 0"):
        run_verb("--name", "(")
    with pytest.raises(ValueError, match=r"pattern '\(' is no regular expression"):
        ResourceRecorder(pattern="(")


@pytest.mark.parametrize("code", [0, 7])
def test_a_program_that_ends_before_a_sample_keeps_its_code(monkeypatch, capsys, code):
    """It is waited for here, so that the first sample is surely too late."""
    enter = MeasuredProgram.__enter__

    def ended(program):
        enter(program).popen.wait()
        return program

    monkeypatch.setattr(MeasuredProgram, "__enter__", ended)
    assert run_verb("--", "sh", "-c", f"exit {code}") == code
    assert f"sh ended with code {code} before it could be sampled" in capsys.readouterr().out
    gated = run_verb("--fail-if", "cpu_s > 1", "--", "sh", "-c", f"exit {code}")
    assert gated == (code or EXIT_GATE)  # not judged is not passed


def test_whether_a_program_was_seen_is_known_without_the_whole_recording():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    recorder = ResourceRecorder(pid=process.pid, interval_s=0.01)
    assert (recorder.was_seen, recorder.n_alive) == (False, 0)
    try:
        recorder.start()
        assert (recorder.was_seen, recorder.n_alive) == (True, 1)  # the first sample is taken
    finally:
        process.kill()
        process.communicate()
    end = time.monotonic() + 10.0
    while recorder.n_alive and time.monotonic() < end:
        time.sleep(0.01)
    recorder.stop()
    assert (recorder.was_seen, recorder.n_alive) == (True, 0)


@pytest.mark.parametrize(
    ("now_s", "due_s"),
    [(5.0, 5.1), (5.04, 5.1), (5.09, 5.1), (5.13, 5.2), (7.01, 7.1)],
)
def test_samples_stay_on_their_grid_whatever_one_took(now_s, due_s):
    assert next_due(5.0, now_s, 0.1) == pytest.approx(due_s, abs=1e-9)
