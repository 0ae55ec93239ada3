# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How the command `aerotwin` ends when the system refuses something."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from importlib.metadata import EntryPoint
from types import ModuleType

import numba
import pytest

from aerotwin_core import cli
from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import raise_if_stopped


@pytest.fixture
def verb(monkeypatch):
    """Return a function that makes `aerotwin break` call something."""

    def make(action):
        module = ModuleType("breaking_verb", "Break.")
        module.configure = lambda parser: None
        module.run = lambda args: action()
        monkeypatch.setitem(sys.modules, "breaking_verb", module)
        entry = EntryPoint(name="break", value="breaking_verb", group=cli.GROUP)
        monkeypatch.setattr(cli, "entry_points", lambda group: [entry])

    return make


def test_what_the_system_refuses_is_one_line_and_exit_code_2(verb, tmp_path, capsys):
    file = tmp_path / "there"
    file.write_text("")
    verb(lambda: file.mkdir(parents=True, exist_ok=True))
    assert cli.main(["break"]) == cli.EXIT_USAGE
    assert capsys.readouterr().err == f"aerotwin break: {file}: File exists\n"


def test_an_error_without_a_file_says_what_it_knows(verb, capsys):
    def refuse():
        raise OSError("no such device")

    verb(refuse)
    assert cli.main(["break"]) == cli.EXIT_USAGE
    assert capsys.readouterr().err == "aerotwin break: no such device\n"


def test_the_first_line_of_the_examples_is_indented_as_the_others(verb, capsys):
    verb(lambda: 0)
    sys.modules["breaking_verb"].__doc__ = "Break.\n\n  aerotwin break a\n  aerotwin break b\n"
    with pytest.raises(SystemExit):
        cli.main(["break", "--help"])
    assert capsys.readouterr().out.endswith("\n\n  aerotwin break a\n  aerotwin break b\n")


@numba.njit
def count(n):
    total = 0
    for k in range(n):
        total += (k * k) % 7
    return total


def test_ctrl_c_in_a_compiled_function_is_one_line_and_exit_code_130(verb, capsys):
    count(1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        verb(lambda: signal.setitimer(signal.ITIMER_REAL, 0.1) and count(10**9))
        assert cli.main(["break"]) == 130
    finally:
        signal.signal(signal.SIGALRM, before)
    assert capsys.readouterr().err == "aerotwin break: interrupted\n"


@pytest.mark.parametrize("work", [lambda: time.sleep(60.0), lambda: count(10**9)])
def test_sigterm_ends_a_verb_as_ctrl_c_does_and_what_it_began_is_put_away(verb, capsys, work):
    """Also where it comes twice at once, as from `timeout` and a launcher."""
    count(1)
    put_away = []

    def begin():
        with subprocess.Popen(["sh", "-c", f"sleep 0.1; kill {os.getpid()}"]):
            try:
                work()
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                put_away.append(True)

    verb(begin)
    before = signal.getsignal(signal.SIGTERM)
    assert cli.main(["break"]) == 143
    assert capsys.readouterr().err == "aerotwin break: terminated\n"
    assert put_away == [True]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("code", "says"), [(130, "interrupted"), (143, "terminated"), (7, None)])
def test_a_verb_ends_as_the_scenario_ended_that_it_launched(verb, capsys, code, says):
    verb(lambda: raise_if_stopped(code) or 5)
    assert cli.main(["break"]) == (code if says else 5)
    assert capsys.readouterr().err == (f"aerotwin break: {says}\n" if says else "")


@pytest.mark.parametrize(("cause", "is_ctrl_c"), [(KeyboardInterrupt, True), (ValueError, False)])
def test_what_a_compiled_function_makes_of_ctrl_c_is_distinguished_from_a_fault(
    verb, cause, is_ctrl_c
):
    def fail():
        raise SystemError("returned a result with an exception set") from cause()

    verb(fail)
    if is_ctrl_c:
        assert cli.main(["break"]) == 130
    else:
        with pytest.raises(SystemError):
            cli.main(["break"])


HOSTILE = "topic \x1b]0;title\x07\x1b[2J\u202e"
ESCAPED = r"topic \x1b]0;title\x07\x1b[2J\u202e"


def test_foreign_text_in_an_error_is_escaped_and_one_line(verb, capsys):
    def refuse():
        raise UserError(f"{HOSTILE}\n{'x' * 100_000}")

    verb(refuse)
    assert cli.main(["break"]) == cli.EXIT_USAGE
    printed = capsys.readouterr().err
    assert printed.startswith(f"aerotwin break: {ESCAPED}\\nxxx")
    assert printed.endswith("x\n") and printed[:-1].isprintable() and len(printed) < 5000


def test_foreign_text_that_a_verb_prints_is_escaped_and_laid_out(verb, capsys):
    def talk():
        print(f"{HOSTILE}\n\tsecond line")
        sys.stderr.write(f"10 %\r20 % {HOSTILE}\n")
        cli.say(HOSTILE)
        return 0

    verb(talk)
    stdout = sys.stdout
    assert cli.main(["break"]) == 0
    assert sys.stdout is stdout
    printed = capsys.readouterr()
    assert printed.out == f"{ESCAPED}\n\tsecond line\n{ESCAPED}\n"
    assert printed.err == f"10 %\r20 % {ESCAPED}\n"


def test_why_a_node_ends_is_one_escaped_line(capsys):
    cli.say_fatal(UserError(f"{HOSTILE}\nmore"))
    assert capsys.readouterr().err == f"fatal: {ESCAPED}\\nmore\n"


@pytest.mark.ros
def test_the_version_is_one_line_with_that_of_ros(capsys):
    assert cli.main(["--version"]) == 0
    out, err = capsys.readouterr()
    rclpy = metadata.version("ros-rclpy" if is_wheel() else "rclpy")
    known = r"ROS 2 (Humble|Jazzy|Kilted)"
    assert re.fullmatch(rf"aerotwin \d\S+, Python 3\.\d+\.\d+, {known} \(rclpy {rclpy}\)\n", out)
    assert not err


def is_wheel() -> bool:
    return any(one.metadata["Name"] == "ros-rclpy" for one in metadata.distributions())


def test_an_argument_of_any_length_is_not_printed_whole(verb, capsys):
    verb(lambda: 0)
    with pytest.raises(SystemExit):
        cli.main(["break", "x" * 100_000])
    error = capsys.readouterr().err
    assert "unrecognized arguments" in error and len(error) < 3_000
