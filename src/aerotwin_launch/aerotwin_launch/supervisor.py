# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a plan, monitors them, and leaves none behind.

Exit code: that of the first required process (`on_exit: shutdown`) that failed, else of the
first other one that failed for good; 130 after Ctrl-C, 143 after SIGTERM; else 0. A process
ended by a signal counts as 128 + its number.
"""

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from aerotwin_core.foreign_text import printable
from aerotwin_core.process_guard import ProcessGuard
from aerotwin_core.stop_request import ONE_PRESS_S
from aerotwin_launch import kernel
from aerotwin_launch.child import POLL_S, Child
from aerotwin_launch.errors import LaunchError
from aerotwin_launch.plan import Plan, ProcessSpec
from aerotwin_launch.screen import Screen
from aerotwin_launch.written_command import written_command

EXIT_CANNOT_START = 126
_MOST_LETTERS = 120
"""Of the command of a process that died, as it is shown."""
MARK = "AEROTWIN_LAUNCH"
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Exit codes of a process after a stop request: its own, or that of the signal.
ENDED_AS_ASKED = {0, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM}
# Timeout of processes that left their session, after the others have ended.
STRAY_PATIENCE_S = 1.0


def run_plan(plan: Plan, log_folder: Path, *, name: str = "launch") -> int:
    """Run the processes of a plan to their end and return the exit code.

    Must be called from the main thread: it handles signals until it returns.
    """
    kernel.adopt_orphans()
    try:
        parameter_folder = tempfile.TemporaryDirectory(prefix="aerotwin_launch_")
    except OSError as error:
        message = f"no temporary folder for parameter files: {error.strerror}; set TMPDIR"
        raise LaunchError(None, message) from None
    with parameter_folder as folder, _handlers_restored():
        return asyncio.run(_Supervisor(plan, Path(folder), log_folder, name).run())


@contextmanager
def _handlers_restored() -> Iterator[None]:
    """Restore the caller's signal handlers, where asyncio leaves those of the system."""
    before = {number: signal.getsignal(number) for number in (*STOP_SIGNALS, signal.SIGWINCH)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Supervisor:
    def __init__(self, plan: Plan, folder: Path, log_folder: Path, name: str) -> None:
        self.plan = plan
        self.folder = folder
        self.log_folder = log_folder
        self.name = name
        self.screen = Screen()
        self.children: dict[str, Child] = {}
        self.required_code: int | None = None
        self.other_code: int | None = None
        self.signal_number: int | None = None
        self.first_signal = 0.0
        self.stopping = asyncio.Event()
        self.stop_tasks: set[asyncio.Task] = set()
        self.others = kernel.children(os.getpid(), kernel.process_table())
        """What the caller had started before; it is not the launch's to end."""

    async def run(self) -> int:
        """Start all processes, wait for the end, clean up."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        loop.add_signal_handler(signal.SIGWINCH, self._on_resize)
        self.guard = ProcessGuard(MARK, self.folder)
        self._say("INFO", self.name, f"All log files can be found below {self.log_folder}")
        for message in self.plan.messages:
            self._say("INFO", "launch.user", message)
        try:
            await asyncio.gather(*(self._live(spec) for spec in self.plan.processes))
            await asyncio.gather(*self.stop_tasks)
        finally:
            await self._sweep()
            self.guard.dismiss()
        return self._exit_code()

    def _exit_code(self) -> int:
        if self.required_code is not None:
            return self.required_code
        if self.other_code is not None:
            return self.other_code
        return 0 if self.signal_number is None else 128 + self.signal_number

    async def _live(self, spec: ProcessSpec) -> None:
        """Run one process, and restart it if it respawns."""
        with self._log_file(spec) as log:
            retries = 0
            while not self.stopping.is_set():
                code = await self._run_once(spec, log)
                again = spec.respawns and not 0 <= spec.respawn_max_retries <= retries
                self._judge(spec, code, again)
                if spec.is_required:
                    self._stop_all(f"[{spec.label}] is required and has ended")
                if not again:
                    return
                retries += 1
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.stopping.wait(), spec.respawn_delay_s)

    async def _run_once(self, spec: ProcessSpec, log: BinaryIO | None) -> int:
        try:
            command = written_command(spec, self.folder)
            child = Child(spec, command, self.screen, log, self.guard.mark)
        except (OSError, subprocess.SubprocessError) as error:
            self._say("ERROR", spec.label, f"cannot be started: {error}")
            self._stop_all(f"[{spec.label}] cannot be started")
            return EXIT_CANNOT_START
        self.children[spec.label] = child
        self.guard.started(child.pid)
        self._say("INFO", spec.label, f"process started with pid [{child.pid}]")
        code = await child.wait()
        if child.is_gone:
            self.guard.gone(child.pid)
        self._report_end(child, code, command)
        return code

    def _report_end(self, child: Child, code: int, command: list[str]) -> None:
        if code == 0:
            text = f"process has finished cleanly [pid {child.pid}]"
        elif self._is_as_asked(code):
            text = f"process was stopped [pid {child.pid}, exit code {code}]"
        else:
            shown = printable(" ".join(command), _MOST_LETTERS)
            text = f"process has died [pid {child.pid}, exit code {code}, cmd '{shown}']"
            self._say("ERROR", child.spec.label, text)
            return
        self._say("INFO", child.spec.label, text)

    def _is_as_asked(self, code: int) -> bool:
        return self.stopping.is_set() and code in ENDED_AS_ASKED

    def _judge(self, spec: ProcessSpec, code: int, again: bool) -> None:
        """Record the first failure of a required process, and of any other one."""
        if code == 0 or self._is_as_asked(code):
            return
        status = 128 - code if code < 0 else code
        if spec.is_required:
            self.required_code = self.required_code or status
        elif not again or self.stopping.is_set():
            self.other_code = self.other_code or status

    def _on_signal(self, number: int) -> None:
        if self.signal_number is not None:
            self._on_further_signal(number)
            return
        self.signal_number = number
        self.first_signal = asyncio.get_running_loop().time()
        self._stop_all(f"{signal.Signals(number).name} received")

    def _on_further_signal(self, number: int) -> None:
        """Print the processes still running; a second Ctrl-C is forwarded to them."""
        left = [child for child in self.children.values() if child.is_running]
        names = ", ".join(child.spec.label for child in left) or "none"
        self._say("WARNING", self.name, f"already stopping; still there: {names}")
        is_press = asyncio.get_running_loop().time() - self.first_signal > ONE_PRESS_S
        if number == signal.SIGINT and is_press:
            for child in left:
                child.hurry()

    def _on_resize(self) -> None:
        for child in self.children.values():
            child.fit_terminal()

    def _stop_all(self, reason: str) -> None:
        if self.stopping.is_set():
            return
        self.stopping.set()
        self._say("INFO", self.name, f"{reason}: stopping every process")
        for child in self.children.values():
            if child.is_running:
                self.stop_tasks.add(asyncio.ensure_future(self._stop(child)))

    async def _stop(self, child: Child) -> None:
        label = child.spec.label
        if await child.stop(lambda text: self._say("WARNING", label, text)):
            self.other_code = self.other_code or 128 + signal.SIGKILL

    async def _sweep(self) -> None:
        """End the remaining descendants: they left their session, or outlived their parent."""
        loop = asyncio.get_running_loop()
        strays = self._strays()
        if strays:
            listing = ", ".join(map(str, sorted(strays)))
            self._say("WARNING", self.name, f"stopping processes that were left behind: {listing}")
            until = loop.time() + STRAY_PATIENCE_S
            kernel.signal_processes(strays, signal.SIGTERM)
            while self._strays() and loop.time() < until:
                await asyncio.sleep(POLL_S)
            while strays := self._strays():
                kernel.signal_processes(strays, signal.SIGKILL)
                await asyncio.sleep(POLL_S)
        for child in self.children.values():
            child.release()

    def _strays(self) -> set[int]:
        table = kernel.process_table()
        own = kernel.children(os.getpid(), table) - self.others - {self.guard.pid}
        below = own | kernel.descendants(own, table)
        kernel.reap(pid for pid in below if table[pid][2])
        return {pid for pid in below if not table[pid][2]}

    def _log_file(self, spec: ProcessSpec) -> AbstractContextManager[BinaryIO | None]:
        path = self.log_folder / f"{spec.label.replace('/', '_')}.log"
        try:
            return open(path, "wb")
        except OSError as error:  # a full disk must not stop a flight
            self._say("WARNING", spec.label, f"its output is not saved: {error.strerror}")
            return nullcontext()

    def _say(self, level: str, name: str, text: str) -> None:
        self.screen.message(level, name, text)
