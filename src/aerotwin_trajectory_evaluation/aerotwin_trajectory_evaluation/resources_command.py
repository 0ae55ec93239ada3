# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure what a program costs: CPU, memory, threads and I/O of its whole process tree.

Either start the program (after --), or name one that runs by its process number, its command line
or its ROS 2 node. Recording ends with the program, after --duration-s, or at Ctrl-C.

Examples
--------
  aerotwin evaluate resources -o result -- ros2 run my_slam slam_node
  aerotwin evaluate resources --node stereo_odometry --duration-s 60 --json -
  aerotwin evaluate resources --name orb_slam3 --fail-if "cpu_cores_mean > 1.5"
"""

import argparse
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from aerotwin_core.cli import progress, say, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import EXIT_GATE, add_gate_argument, exit_code_of_gates
from aerotwin_trajectory_evaluation.measured_program import MeasuredProgram
from aerotwin_trajectory_evaluation.process_tree import PROC

_MARK = "AEROTWIN_MEASURED"
_LOOK_S = 0.1
_FIND_S = 30.0
_PATIENCE_S = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--pid", type=int, metavar="N", help="number of the process at the root of the tree"
    )
    which.add_argument("--name", metavar="REGEX", help="found in the command line of the roots")
    which.add_argument(
        "--node", metavar="NODE", help="name of the ROS 2 node, as its launch file gives it"
    )
    which.add_argument("command", nargs="*", default=[], metavar="COMMAND", help="start this")
    parser.add_argument(
        "--duration-s", type=float, metavar="S", help="longest recording (default: to its end)"
    )
    parser.add_argument(
        "--rate-hz", type=float, default=10.0, metavar="HZ", help="samples per second (10)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="report and numbers")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")
    add_gate_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Record, print, report; returns the exit code of a program started here."""
    from aerotwin_trajectory_evaluation.resource_chapter import resource_section

    _check(args)
    with _ended_by_exceptions():
        usage, code = _record(args)
    if not usage.n_processes.any():
        if args.command:
            print(f"{args.command[0]} ended with code {code} before it could be sampled")
            return code or (EXIT_GATE if args.fail_if else 0)  # not scored is not passed
        sought_s = min(_FIND_S, args.duration_s or _FIND_S)
        raise UserError(
            f"no process {_requested_process(args)} was seen within {sought_s:g} s; is it running? "
            "`ps ax` lists the command lines that --name is sought in"
        )
    section = resource_section(usage, title="Cost of the program")
    numbers = dict(section.metrics)
    if args.json != "-":
        for label, value, unit, _ in section.tables[0].rows:
            print(f"{label:24} {value:>10} {unit}")
        for warning in section.warnings:
            print(f"note: {warning}")
    if args.output is not None:
        _write_report(args, section)
    write_json(args.json, numbers)
    return code or exit_code_of_gates(args.fail_if, numbers, {})


def _check(args: argparse.Namespace) -> None:
    if not (args.command or args.pid or args.name or args.node):
        raise UserError("say which program: --pid, --name, --node, or a command after --")
    try:
        re.compile(args.name or "")
    except re.error as error:
        raise UserError(f"--name {args.name!r} is no regular expression: {error}") from error
    if args.pid and not Path(PROC, str(args.pid)).exists():
        raise UserError(f"--pid {args.pid}: there is no such process; `ps ax` lists those that run")
    if not args.rate_hz > 0.0:
        raise UserError(f"--rate-hz must be positive, got {args.rate_hz:g}")
    if args.duration_s is not None and not args.duration_s > 0.0:
        raise UserError(f"--duration-s must be positive, got {args.duration_s:g}")


def _requested_process(args: argparse.Namespace) -> str:
    if args.pid:
        return f"with number {args.pid}"
    return f"of node {args.node}" if args.node else f"with {args.name!r} in its command line"


def _record(args: argparse.Namespace) -> tuple[Any, int]:
    """Return the usage, and the exit code of the program when it was started here."""
    if not args.command:
        return _measured(args, None), 0
    program = MeasuredProgram(args.command, mark=_MARK, patience_s=_PATIENCE_S)
    with program:
        usage = _measured(args, program.popen)
        has_ended = program.popen.poll() is not None
    if program.n_left:
        say(f"note: {args.command[0]} left processes running ({program.n_left}); they were ended")
    code = program.popen.returncode
    if not has_ended:  # its time was over
        return usage, 0
    return usage, code if code >= 0 else 128 - code  # as shells say that a signal ended it


def _measured(args: argparse.Namespace, child: subprocess.Popen | None) -> Any:
    from aerotwin_trajectory_evaluation.resources import ResourceRecorder

    recorder = ResourceRecorder(
        pid=child.pid if child is not None else args.pid,
        pattern=args.name,
        node=args.node,
        interval_s=1.0 / args.rate_hz,
    )
    # After Ctrl-C the samples so far are the result.
    bar = progress(args.duration_s or 0.0, "recording", unit="s")
    with suppress(KeyboardInterrupt), recorder, bar as shown:
        _wait(recorder, child, args.duration_s, shown)
    return recorder.usage


@contextmanager
def _ended_by_exceptions() -> Iterator[None]:
    """Let SIGTERM and SIGHUP also end the program that was started, not only this process."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, _leave) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _wait(recorder, child: subprocess.Popen | None, duration_s: float | None, bar) -> None:
    """Return when the program has ended, was never found, or the time is over."""
    start = time.monotonic()
    while (since := time.monotonic() - start) < (duration_s or float("inf")):
        has_ended = recorder.was_seen and recorder.n_alive == 0
        is_missing = not recorder.was_seen and since > _FIND_S
        if is_missing or (has_ended if child is None else child.poll() is not None):
            return
        bar.update(since - bar.n)
        time.sleep(_LOOK_S)


def _write_report(args: argparse.Namespace, section) -> None:
    from aerotwin_report import write_report

    chosen = {"pid": args.pid, "name": args.name, "node": args.node, "command": args.command}
    configuration = {k: v for k, v in chosen.items() if v} | {"rate_hz": args.rate_hz}
    write_report(args.output, title=section.title, sections=[section], configuration=configuration)
    print(f"report: {args.output / 'report.html'}")
