# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The one process of the embedded autopilots of a fleet."""

import os
from collections.abc import Sequence
from pathlib import Path

from aerotwin_px4_bridge import AutopilotProcess
from aerotwin_px4_bridge.hil_socket import SocketConnection
from aerotwin_px4_bridge.process import embedded_host_process
from aerotwin_px4_bridge.shared_lane import CarriedConnection, SharedLane


class EmbeddedHost:
    """Starts embedded autopilots together: all that were added, in one process, with the last.

    It stays off `loop_cpu`, the processor of the loop, if there is another: it computes the answer
    of one vehicle while the loop prepares the readings of the next.
    """

    def __init__(self, folder: Path, command: Sequence[str], loop_cpu: int | None) -> None:
        self._folder, self._command, self._loop_cpu = folder, command, loop_cpu
        self._added: list[HostedAutopilot] = []
        self._ready: set[HostedAutopilot] = set()

    def add(self, instance: int, parameters_path: Path) -> "HostedAutopilot":
        """Return the autopilot of a vehicle, not yet started."""
        lane = self._added[0].lane if self._added else SharedLane()
        self._added.append(HostedAutopilot(self, instance, parameters_path, lane))
        return self._added[-1]

    def start(self, member: "HostedAutopilot") -> None:
        """Start the process if this was the last of the added ones to be started."""
        self._ready.add(member)
        if len(self._ready) < len(self._added):
            return
        paths = {each.instance: each.parameters_path for each in self._added}
        lane = member.lane
        process = embedded_host_process(
            paths, self._folder, command=self._command, lane=lane.far_end
        )
        process.start()
        lane.far_end.close()  # so that the end of the process closes the lane
        others = os.sched_getaffinity(0) - {self._loop_cpu}
        if others and process.pid is not None:
            os.sched_setaffinity(process.pid, others)
        users = {*self._added}
        for each in self._added:
            each.run_in(process, users)
        self._added, self._ready = [], set()

    def withdraw(self, member: "HostedAutopilot") -> None:
        """Forget an autopilot that has not been started."""
        self._added = [each for each in self._added if each is not member]
        self._ready.discard(member)
        if member.process is None and not self._added:
            member.lane.close()


class HostedAutopilot:
    """One autopilot of a host, to be used as a process of its own.

    Once it runs, `process` is that of all its `users`, and `lane` carries the frames of them all.
    """

    def __init__(
        self, host: EmbeddedHost, instance: int, parameters_path: Path, lane: SharedLane
    ) -> None:
        self._host, self.instance, self.parameters_path = host, instance, parameters_path
        self.lane = lane
        self.process: AutopilotProcess | None = None
        self.users: set[HostedAutopilot] = set()

    @property
    def pid(self) -> int | None:
        """Process id, None before the start."""
        return None if self.process is None else self.process.pid

    def run_in(self, process: AutopilotProcess, users: "set[HostedAutopilot]") -> None:
        """Be one of the users of a process that runs."""
        self.process, self.users = process, users

    def carry(self, connection: SocketConnection) -> CarriedConnection:
        """Return its connection by the lane."""
        return self.lane.carry(self.instance, connection)

    def start(self) -> None:
        """Start it; the process starts with the last."""
        self._host.start(self)

    def check(self) -> None:
        """Raise UserError when the process has ended."""
        if self.process is not None:
            self.process.check()

    def stop(self) -> None:
        """End it: by itself when its HIL link closes, and the process with the last."""
        self._host.withdraw(self)
        self.users.discard(self)
        if self.process is not None and not self.users:
            self.process.stop()
            self.lane.close()
