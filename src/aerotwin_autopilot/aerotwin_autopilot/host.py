# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several autopilots in one process, each on its own ports, links and log.

A process of its own for each costs a start, 0.2 GB and two context switches in every step.
"""

import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_autopilot.arena import StepMemory
from aerotwin_autopilot.hil_connection import connect
from aerotwin_autopilot.kernel import step_together
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.session import RECEIVE_BYTES, Session, is_sent, receive
from aerotwin_autopilot.udp_links import UdpLinks
from aerotwin_px4_bridge.hil_kernels import ANSWER_BYTES, PART_HEAD_BYTES, read_sensor_parts
from aerotwin_px4_bridge.shared_lane import MOST_BYTES, pack_part


@dataclass(frozen=True, kw_only=True)
class HostedVehicle:
    """One vehicle of a host: its number, the file of its parameters, and its log."""

    instance: int
    parameters: Path
    log: Path


def run_host(
    vehicles: Sequence[HostedVehicle], connect_timeout_s: float, lane: socket.socket | None = None
) -> None:
    """Run the autopilots of several vehicles until the simulator has closed all links.

    Each answers a sample as soon as it arrives, on its link or on the `lane` that all share; the
    answers are those of an autopilot alone. Raises UserError if a port is taken, a file is wrong,
    or the simulator does not listen in time.
    """
    with ExitStack() as opened, select.epoll() as poll, select.epoll() as arrivals:
        served: dict[int, ServedVehicle] = {}
        memory = StepMemory(max(vehicle.instance for vehicle in vehicles))
        for vehicle in vehicles:
            log = opened.enter_context(vehicle.log.open("w", encoding="utf-8"))
            udp = UdpLinks(vehicle.instance)
            opened.callback(udp.close)
            arrivals.register(udp, select.EPOLLIN)
            parameters = load_autopilot_parameters(vehicle.parameters)
            session = Session(parameters, vehicle.instance, log, memory)
            link = opened.enter_context(connect(vehicle.instance, connect_timeout_s))
            poll.register(link, select.EPOLLIN)
            served[link.fileno()] = ServedVehicle(vehicle.instance, session, link, udp)
        if lane is not None:
            poll.register(lane, select.EPOLLIN)
            served_lane = ServedLane(lane, memory, arrivals)
        by_instance = {each.instance: each for each in served.values()}
        while served:
            for descriptor, _ in poll.poll():
                if lane is not None and descriptor == lane.fileno():
                    served_lane.serve(by_instance)
                elif not served[descriptor].answer():
                    left = served.pop(descriptor)
                    del by_instance[left.instance]
                    left.close()


@dataclass
class ServedVehicle:
    """One vehicle that is connected."""

    instance: int
    session: Session
    link: socket.socket
    udp: UdpLinks

    def answer(self) -> bool:
        """Answer what arrives next on its own link; False when the simulator has closed it."""
        data = receive(self.link, RECEIVE_BYTES)
        answers = b"".join(self.session.answers(data, self.udp))
        return bool(data) and (not answers or is_sent(self.link, answers))

    def close(self) -> None:
        """Close its ports; it leaves the poll."""
        self.link.close()
        self.udp.close()


_Prepared = tuple[ServedVehicle, int, int, bool, int, float]
"""Vehicle, time [us] and fields_updated of its sample, then as `Session.prepare` returns."""


class ServedLane:
    """The lane of several vehicles: those whose sample came alone are stepped in one call.

    `arrivals` tells of the UDP ports of all vehicles at once: a system call instead of one each.
    """

    def __init__(self, lane: socket.socket, memory: StepMemory, arrivals: select.epoll) -> None:
        self._lane, self._arrivals = lane, arrivals
        self._arenas, self._inboxes = memory.arenas, memory.inboxes
        self._words = memory.inboxes.view(np.float32)
        self._parts = np.empty((MOST_BYTES // PART_HEAD_BYTES, 5), np.int64)
        n = len(memory.inboxes)
        self._answers = np.empty((n, PART_HEAD_BYTES + ANSWER_BYTES), np.uint8)
        self._provided = np.empty(n, np.int64)

    def serve(self, by_instance: Mapping[int, ServedVehicle]) -> None:
        """Answer a packet with one; the links tell when the simulator is gone."""
        packet = receive(self._lane, MOST_BYTES)
        n = read_sensor_parts(packet, self._inboxes, self._parts)
        heard = {descriptor for descriptor, _ in self._arrivals.poll(0)}
        together: list[_Prepared] = []
        others = []
        for instance, begin, end, time_us, fields in self._parts[:n].tolist():
            if (vehicle := by_instance.get(instance)) is None:
                continue  # it left
            vehicle.udp.on_polled(is_readable=vehicle.udp.fileno() in heard)
            is_alone = time_us > 0
            prepared = vehicle.session.prepare(time_us, vehicle.udp) if is_alone else None
            if prepared is None:
                others.append((vehicle, packet[begin:end]))
            else:
                together.append((vehicle, time_us, fields, *prepared))
        answers = [self._step(together)] if together else []
        for vehicle, data in others:
            answer = b"".join(vehicle.session.answers(data, vehicle.udp))
            answers.append(pack_part(vehicle.instance, answer))
        if answers:
            is_sent(self._lane, b"".join(answers))

    def _step(self, together: list[_Prepared]) -> bytes:
        """Return the answers to samples for which all is prepared."""
        samples = [(vehicle.instance, *sample) for vehicle, *sample, _ in together]
        durations_s = np.array([duration_s for *_, duration_s in together])
        answers, provided = self._answers[: len(samples)], self._provided[: len(samples)]
        step_together(
            answers, provided, self._arenas, self._words, np.array(samples, np.int64), durations_s
        )
        for (vehicle, time_us, fields, *_), found in zip(together, provided.tolist(), strict=True):
            vehicle.session.complete(time_us, fields, vehicle.udp, is_read=found >= 0)
        return answers.tobytes()
