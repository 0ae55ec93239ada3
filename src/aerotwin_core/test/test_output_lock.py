# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess

import pytest

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import locked_output, refuse_inputs_as_output

LIMIT_S = 60.0
HOLD = """
import sys
from aerotwin_core.output_lock import locked_output, refuse_inputs_as_output
with locked_output(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
VERB = """
import sys
from pathlib import Path
from aerotwin_core import cli
from importlib.metadata import EntryPoint
cli.entry_points = lambda group: [EntryPoint("draw", "draw_command", group)]
sys.path.insert(0, sys.argv.pop(1))
sys.exit(cli.main())
"""
DRAW_COMMAND = '''
"""Draw."""
import sys
from pathlib import Path

def configure(parser):
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--word")

def run(args):
    print("begins", flush=True)
    sys.stdin.read()
    args.out.mkdir(exist_ok=True)
    (args.out / "drawn").write_text(args.word)
    return 0
'''


def start(code, *tokens):
    return subprocess.Popen(
        python_command("-c", code, *map(str, tokens)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def end(process):
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_output_is_held_by_one_process_and_free_when_it_has_ended(tmp_path):
    output = tmp_path / "out"
    with start(HOLD, output) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"being written by process {holder.pid} .*another"):
            locked_output(tmp_path / "sub" / ".." / "out").__enter__()
        with locked_output(tmp_path / "other"):
            pass
        assert end(holder)[0] == 0
    with locked_output(output):
        pass
    assert names(tmp_path) == []


def test_a_killed_process_holds_nothing(tmp_path):
    with start(HOLD, tmp_path / "out") as holder:
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait(LIMIT_S)
    assert names(tmp_path) == [".out.lock"]
    with locked_output(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_a_child_writes_where_its_parent_does(tmp_path):
    with locked_output(tmp_path / "out"), start(HOLD, tmp_path / "out") as child:
        assert end(child)[:2] == (0, "held\n")


def test_folders_that_were_not_needed_are_gone(tmp_path):
    with locked_output(tmp_path / "a" / "b" / "out"):
        assert names(tmp_path / "a" / "b") == [".out.lock"]
    assert names(tmp_path) == []
    with locked_output(tmp_path / "a" / "out"):
        (tmp_path / "a" / "out").write_text("x")
    assert names(tmp_path / "a") == ["out"]


def test_what_cannot_be_locked_is_left_to_who_writes_it(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (os.devnull, "/", tmp_path / "file" / "out"):
        with locked_output(path):
            pass
    assert names(tmp_path) == ["file"]


def test_a_lock_that_is_a_link_to_something_else_does_not_write_it(tmp_path):
    (tmp_path / "precious").write_text("x")
    (tmp_path / ".out.lock").symlink_to(tmp_path / "precious")
    with locked_output(tmp_path / "out"):
        pass
    assert (tmp_path / "precious").read_text() == "x"


def test_two_verbs_do_not_write_one_folder_at_once(tmp_path):
    (tmp_path / "draw_command.py").write_text(DRAW_COMMAND)
    out = tmp_path / "out"
    with start(VERB, tmp_path, "draw", "-o", out, "--word", "first") as first:
        assert first.stdout.readline() == "begins\n"
        with start(VERB, tmp_path, "draw", "-o", out, "--word", "second") as second:
            code, said, error = end(second)
        assert (code, said) == (2, "")
        assert f"{out}: is being written by process {first.pid}" in error
        assert "draw -o" in error and "--word first" in error
        assert end(first)[0] == 0
    assert (out / "drawn").read_text() == "first"


def test_an_output_that_is_an_input_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.json").touch()
    (tmp_path / "link").symlink_to("run")
    for output, given in (
        ("run", "run"),
        ("run/", tmp_path / "run"),
        ("link", "run"),
        ("run", "link"),
        ("run", "run/metrics.json"),
        ("run/../run", "run"),
    ):
        with pytest.raises(UserError, match="name another place with -o"):
            refuse_inputs_as_output(output, "other", given)
    for output, given in ((None, "run"), ("new", "run"), ("cliff", "cliff"), ("run", "x" * 9999)):
        refuse_inputs_as_output(output, given)
