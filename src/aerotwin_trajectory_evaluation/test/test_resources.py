# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from aerotwin_trajectory_evaluation import ResourceRecorder, ResourceUsage, resource_section

# A child whose own child burns the processor; it reports the CPU time of both.
BURN = """
import subprocess, sys, time
def burn():
    while time.process_time() < 0.4: pass
if "child" in sys.argv:
    burn()
    time.sleep(0.5)
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
    # 0.8 s are burnt, half by each; what interpreters need before the first sample is part of it.
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


def test_numbers_follow_from_the_samples():
    usage = ResourceUsage(
        time_s=np.array([0.0, 1.0, 2.0]),
        cpu_s=np.array([0.0, 0.5, 1.5]),
        rss_bytes=np.array([100, 300, 200]),
        n_processes=np.array([1, 1, 1]),
        frame_time_s=np.array([0.5, 1.5]),
        latency_s=np.array([0.04, 0.06]),
    )
    numbers = usage.metrics(n_frames=30, simulated_s=4.0)
    assert numbers["cpu_s_per_frame"] == pytest.approx(0.05)
    assert numbers["cpu_cores_mean"] == pytest.approx(0.75)
    assert numbers["real_time_factor"] == pytest.approx(2.0)
    assert numbers["latency_s"]["median"] == pytest.approx(0.05)
    section = resource_section(usage, n_frames=30, simulated_s=4.0)
    assert section.figures[0].svg.startswith("<svg")
    assert not section.warnings


def test_this_process_can_watch_itself():
    with ResourceRecorder(pid=os.getpid(), interval_s=0.01) as recorder:
        recorder.frame_done(0.02)
        time.sleep(0.05)
    assert recorder.usage.latency_s.tolist() == [0.02]
