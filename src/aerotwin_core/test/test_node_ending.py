# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that is asked to end: what it is busy with is finished, and saved."""

import signal
import subprocess

import pytest

from aerotwin_core.child_python import python_command
from aerotwin_core.stop_request import ONE_PRESS_S

pytestmark = pytest.mark.ros

LIMIT_S = 120.0
NODE = """
import sys
import numba
from rclpy.node import Node
from std_msgs.msg import String
from aerotwin_core.ros.node import run_node

@numba.njit
def count(n):
    total = 0
    for k in range(n):
        total += (k * k) % 7
    return total

class Busy(Node):
    def __init__(self):
        print("made", flush=True)
        super().__init__("busy")
        count(1)
        self.publisher = self.create_publisher(String, "counted", 1)
        self.create_timer(0.01, self.work)

    def work(self):
        print("begins", flush=True)
        total = count(500_000_000)
        self.publisher.publish(String(data=str(total)))
        print("counted", flush=True)

    def destroy_node(self):
        print("saves", flush=True)
        super().destroy_node()

{rest}
sys.exit(run_node(Busy))
"""


def started(rest=""):
    command = python_command("-c", NODE.replace("{rest}", rest))
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, line):
    for said in process.stdout:
        if said.strip() == line:
            return
    pytest.fail(f"no '{line}': {process.stderr.read()}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_compiled_function_in_a_callback_is_finished_and_the_node_saves(number):
    with started() as process:
        wait_for(process, "begins")
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT_S)
    assert out.splitlines() == ["counted", "saves"]
    assert err == ""
    assert process.returncode == 0


def test_a_node_that_is_still_made_ends_at_once():
    with started("import time; Busy.create_timer = lambda *_: time.sleep(600)") as process:
        wait_for(process, "made")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
    assert (out, err, process.returncode) == ("", "", 130)


SLOW = """
import time

def save(self):
    print("saves", flush=True)
    while True:
        time.sleep(0.01)

Busy.work = lambda self: print("spins", flush=True)
Busy.destroy_node = save
"""


def test_a_node_that_hears_both_signals_at_once_saves():
    with started() as process:
        wait_for(process, "begins")
        process.send_signal(signal.SIGSTOP)
        process.terminate()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.communicate(timeout=LIMIT_S)[0].splitlines() == ["counted", "saves"]
    assert process.returncode == 0


def test_a_second_ctrl_c_gives_up_what_is_saved_and_sigterm_does_not():
    with started(SLOW) as process:
        wait_for(process, "spins")
        process.send_signal(signal.SIGINT)
        wait_for(process, "saves")
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5 * ONE_PRESS_S)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
    assert err == "given up by a second Ctrl-C\n"
    assert process.returncode == 130
