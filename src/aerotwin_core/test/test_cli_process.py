# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `aerotwin` as a process: signals, closed and full outputs, negative numbers."""

import argparse
import re
import signal
import subprocess
import sys
import time

import pytest

from aerotwin_core import cli
from aerotwin_core.output_lock import locked_output

VERB = """
import ctypes, os, signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from types import ModuleType
from aerotwin_core import cli

def lose():
    def hear():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    ctypes.CFUNCTYPE(None)(hear)()
    time.sleep(60.0)

def pool():
    work = ThreadPoolExecutor().submit(time.sleep, 20.0)
    print("working", flush=True)
    work.result()

def sing():
    print("2 × ☃ 😀")
    sys.stderr.write("2 × ☃ 😀\\n")

def talk():
    print("to nobody")
    sys.stderr.write("neither\\n")

verb = sys.modules["verb"] = ModuleType("verb", "Work.")
verb.configure = lambda parser: None
verb.run = lambda args: globals()[os.environ["WORK"]]() or 0
cli.entry_points = lambda group: [EntryPoint(name="work", value="verb", group=group)]
sys.argv = ["aerotwin", "work"]
sys.exit(cli.main())
"""


START = "import sys; from aerotwin_core import start; sys.exit(start.run('json'))"


def environment(work):
    return {"WORK": work, "PYTHONPATH": ":".join(sys.path)}


def start(work, **options):
    return subprocess.Popen(
        [sys.executable, "-c", VERB],
        env={"WORK": work, "PYTHONPATH": ":".join(sys.path)},
        **options,
    )


PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def test_an_interrupt_that_a_callback_lost_ends_the_verb():
    process = start("lose", **PIPES)
    out, errors = process.communicate(timeout=30.0)
    assert (process.returncode, out, errors) == (130, "", "aerotwin work: interrupted\n")


def test_a_second_ctrl_c_while_threads_end_is_silent():
    process = start("pool", **PIPES)
    try:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "aerotwin work: interrupted\n"
        time.sleep(0.3)
        assert process.poll() is None  # the thread is waited for
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=5.0) == ("", "")
        assert process.returncode == 130
    finally:
        process.kill()


def test_nothing_is_written_to_closed_outputs():
    command = f'exec {sys.executable} -c "$0" >&- 2>&-'
    done = subprocess.run(
        ["bash", "-c", command, VERB],
        env=environment("talk"),
        check=False,
    )
    assert done.returncode == 0


def test_a_full_disk_under_the_lock_is_left_to_who_writes(tmp_path, monkeypatch):
    def full(descriptor, data, offset):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("aerotwin_core.output_lock.os.pwrite", full)
    with locked_output(tmp_path / "a"):
        assert (tmp_path / ".a.lock").exists()
    assert not (tmp_path / ".a.lock").exists()


@pytest.mark.parametrize("text", ["-1", "-.5", "-1.", "-1e-3", "-1E9", "-2.5e+7", "-inf", "-NaN"])
def test_a_negative_number_in_any_spelling_is_a_value(text):
    parser = argparse.ArgumentParser()
    parser._negative_number_matcher = cli._NEGATIVE
    parser.add_argument("--at-m", type=float, nargs=2)
    assert parser.parse_args(["--at-m", text, "1"]).at_m == pytest.approx(
        [float(text), 1.0], nan_ok=True
    )


@pytest.mark.parametrize("text", ["-e", "-o1", "-1x", "--1", "-", "-1e", "-infinite"])
def test_what_is_no_number_stays_an_option(text):
    assert not re.match(cli._NEGATIVE, text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding_gets_every_letter_or_its_escape(encoding):
    done = subprocess.run(
        [sys.executable, "-c", VERB],
        env={**environment("sing"), "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = "2 × ☃ 😀\n".encode(encoding, "backslashreplace")
    assert (done.stdout, done.stderr) == (shown, shown)


@pytest.mark.parametrize("text", ["0", "-1", "abc", "", "1.5", "9" * 30])
def test_a_number_of_threads_that_numba_fails_at_is_refused(text):
    for code, fatal in ((VERB, "aerotwin work:"), (START, "fatal:")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**environment("talk"), "NUMBA_NUM_THREADS": text},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (2 if code == VERB else 78)
        assert done.stderr.startswith(f"{fatal} NUMBA_NUM_THREADS: expected a number of threads")
        assert done.stderr.count("\n") == 1


def test_a_back_end_of_matplotlib_in_the_environment_is_left_alone():
    code = (
        "import os; from aerotwin_core.plots import new_figure, render_svg; "
        "print(render_svg(new_figure(), 'a')[:4], os.environ['MPLBACKEND'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment(""), "MPLBACKEND": "no such"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("<svg no such\n", "")
