# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several autopilots in one process answer as each would alone, on their own ports."""

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.arena import StepMemory
from aerotwin_autopilot.embedded_autopilot import main
from aerotwin_autopilot.host import ServedLane, ServedVehicle
from aerotwin_autopilot.injected_failures import MOTOR, OFF
from aerotwin_autopilot.parameters import load_autopilot_parameters, parameters_text
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import LOCAL_PORTS, UdpLinks
from aerotwin_px4_bridge import AutopilotLost, HilLink, hil_port
from aerotwin_px4_bridge.messages import read_lone_answer
from aerotwin_px4_bridge.process import embedded_host_process, embedded_process
from aerotwin_px4_bridge.shared_lane import MOST_BYTES, SharedLane, lane_pair, pack_part

INSTANCES = (63, 64, 65)
COMMAND = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
N_STEPS = 500
"""So many that the estimators are aligned."""
N_FLOWN = 2000
STARTS_S = 60.0


def exchanged(links, vehicles) -> list[list[tuple]]:
    """Return the answers of each link: all are sent to before the first is waited for."""
    answers: list[list[tuple]] = [[] for _ in links]
    for _ in range(N_STEPS):
        for link, vehicle in zip(links, vehicles, strict=True):
            vehicle.step((0.0,) * 4, is_armed=False)
            link.send(vehicle.time_us, vehicle.frames())
        for link, got in zip(links, answers, strict=True):
            answer = link.answer()
            got.append((answer.time_us, *answer.controls))
    assert not any(link.n_missed for link in links)
    return answers


@pytest.fixture
def lane() -> Iterator[SharedLane]:
    lane = SharedLane()
    yield lane
    lane.close()


@pytest.mark.parametrize("by_lane", [False, True])
def test_each_answers_as_it_would_alone(by_lane, lane, tmp_path, simulated_vehicle):
    """Links close one after the other, and the process ends with the last."""
    paths = {instance: tmp_path / f"{instance}.yaml" for instance in INSTANCES}
    for path in paths.values():
        path.write_text(parameters_text(load_autopilot_parameters().airframe))
    with ExitStack() as stack:
        links = []
        for i in INSTANCES:
            carry = partial(lane.carry, i) if by_lane else None
            links.append(stack.enter_context(HilLink(hil_port(i), free_run=False, lane=carry)))
        far_end = lane.far_end if by_lane else None
        host = embedded_host_process(paths, tmp_path, command=COMMAND, lane=far_end)
        with host:
            lane.far_end.close()
            for link in links:
                link.accept(STARTS_S, lambda _: host.check())
            vehicles = [simulated_vehicle(seed=i) for i in INSTANCES]
            together = exchanged(links, vehicles)
            links[0].close()
            vehicles[1].step((0.0,) * 4, is_armed=False)
            assert links[1].exchange(vehicles[1].time_us, vehicles[1].frames()) is not None
    assert {path.name for path in tmp_path.glob("*.log")} == {
        "autopilots.log", *(f"autopilot_{i}.log" for i in INSTANCES)
    }  # fmt: skip
    with HilLink(hil_port(INSTANCES[1]), free_run=False) as link:
        alone = embedded_process(INSTANCES[1], tmp_path, command=COMMAND)
        with alone:
            link.accept(STARTS_S, lambda _: alone.check())
            assert exchanged([link], [simulated_vehicle(seed=INSTANCES[1])]) == [together[1]]


@pytest.fixture
def two_by_lane(lane, tmp_path):
    """The process of two autopilots that share a lane, and their links."""
    paths = {i: tmp_path / f"{i}.yaml" for i in INSTANCES[:2]}
    for path in paths.values():
        path.write_text(parameters_text(load_autopilot_parameters().airframe))
    with ExitStack() as stack:
        links = [
            stack.enter_context(HilLink(hil_port(i), free_run=False, lane=partial(lane.carry, i)))
            for i in paths
        ]
        with embedded_host_process(paths, tmp_path, command=COMMAND, lane=lane.far_end) as host:
            lane.far_end.close()
            for link in links:
                link.accept(STARTS_S, lambda _: host.check())
            yield host, links


def test_each_of_a_lane_hears_its_own_client_before_its_next_answer(two_by_lane, simulated_vehicle):
    _, links = two_by_lane
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    ping = common.MAVLink_ping_message(1, 77, 0, 0).pack(encoder)
    vehicle = simulated_vehicle(seed=1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        for instance in INSTANCES[:2]:
            vehicle.step((0.0,) * 4, is_armed=False)
            client.sendto(ping, ("127.0.0.1", LOCAL_PORTS["ground"] + instance))
            for link in links:
                link.send(vehicle.time_us, vehicle.frames())
            for link in links:
                link.answer()
            heard = common.MAVLink(None).parse_buffer(client.recv(2048, socket.MSG_DONTWAIT))
            pings = [m.get_srcSystem() for m in heard if m.get_type() == "PING"]
            assert pings == [instance + 1]
    for link in links:
        link.close()


def test_frames_of_one_that_left_are_dropped(lane, two_by_lane, simulated_vehicle):
    """They may wait in the lane when its own connection ends."""
    _, (left, stays) = two_by_lane
    vehicle = simulated_vehicle(seed=1)
    left.close()
    for _ in range(3):
        vehicle.step((0.0,) * 4, is_armed=False)
        lane.send(INSTANCES[0], b"".join(vehicle.frames()))
        assert stays.exchange(vehicle.time_us, vehicle.frames()) is not None


def test_the_end_of_the_process_ends_every_link_of_its_lane(two_by_lane, simulated_vehicle):
    host, links = two_by_lane
    os.kill(host.pid, signal.SIGKILL)
    vehicle = simulated_vehicle(seed=1)
    vehicle.step((0.0,) * 4, is_armed=False)
    for link in links:
        with pytest.raises(AutopilotLost, match="closed the HIL link"):
            link.exchange(vehicle.time_us, vehicle.frames())


def test_it_ends_when_the_last_link_closes(tmp_path):
    paths = {i: tmp_path / f"{i}.yaml" for i in INSTANCES[:2]}
    for path in paths.values():
        path.write_text(parameters_text(load_autopilot_parameters().airframe))
    links = [HilLink(hil_port(i), free_run=False) for i in paths]
    command = embedded_host_process(paths, tmp_path, command=COMMAND).command
    with subprocess.Popen(command) as process:
        for link in links:
            link.accept(STARTS_S)
        for link in links:
            link.close()
        assert process.wait(STARTS_S) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vehicle", "300", "a.yaml", "a.log"], "instance must be a number in 0...250, got 300"),
        (["--vehicle", "x", "a.yaml", "a.log"], "got x"),
        (["--vehicle", "1", "a.yaml", "a.log", "--instance", "2"], "leave out the others"),
        (
            ["--vehicle", "1", "a.yaml", "a.log", "--magnetic-declination-deg", "2"],
            "--magnetic-declination-deg is for one vehicle",
        ),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


class Hosted:
    """Sessions of some vehicles behind one lane."""

    def __init__(self, stack: ExitStack, instances: tuple[int, ...]) -> None:
        parameters, memory = load_autopilot_parameters(), StepMemory(max(instances))
        self.near, far = map(stack.enter_context, lane_pair())
        self.served = {}
        arrivals = stack.enter_context(select.epoll())
        for i in instances:
            udp = UdpLinks(i)
            stack.callback(udp.close)
            arrivals.register(udp, select.EPOLLIN)
            link, _ = map(stack.enter_context, socket.socketpair())
            self.served[i] = ServedVehicle(i, Session(parameters, i, None, memory), link, udp)
        self._lane = ServedLane(far, memory, arrivals)

    def answers(self, frames: dict[int, bytes]) -> dict[int, tuple]:
        """Return time, controls and whether it is armed, by the instance that answered."""
        self.near.send(b"".join(pack_part(i, data) for i, data in frames.items()))
        self._lane.serve(self.served)
        packet, found = self.near.recv(MOST_BYTES), {}
        while packet:
            number, length = packet[0] + 256 * packet[1], packet[2] + 256 * packet[3]
            system_id, answer = read_lone_answer(packet[4 : 4 + length])
            assert system_id == number + 1
            found[number] = (answer.time_us, tuple(answer.controls), answer.is_armed)
            packet = packet[4 + length :]
        return found


def test_in_flight_each_is_commanded_as_it_would_be_alone(simulated_vehicle):
    """Until a motor fails, which no vehicle shares with others."""
    together, alone = INSTANCES[:2], INSTANCES[2]
    vehicles = [simulated_vehicle(seed=i) for i in together]
    most = 0.0
    with ExitStack() as stack:
        hosted = Hosted(stack, together)
        udp = UdpLinks(alone)
        stack.callback(udp.close)
        single = Session(load_autopilot_parameters(), alone)
        sessions = [single, *(each.session for each in hosted.served.values())]
        controls = [((0.0,) * 4, False)] * 2
        for n in range(N_FLOWN):
            frames = {}
            for i, vehicle, (throttles, is_armed) in zip(together, vehicles, controls, strict=True):
                vehicle.step(throttles[:4], is_armed=is_armed)
                frames[i] = b"".join(vehicle.frames())
            found = hosted.answers(frames)
            (answer,) = single.answers(frames[together[0]], udp)
            _, own = read_lone_answer(answer)
            assert found[together[0]] == (own.time_us, tuple(own.controls), own.is_armed)
            controls = [found[i][1:] for i in together]
            most = max(most, *own.controls)
            for session in sessions:
                modes = session.autopilot.modes
                if not modes.is_armed and n % 100 == 0 and modes.arm() == "":
                    modes.take_off(None)
            if n == N_FLOWN - 100:
                for session in sessions:
                    session.autopilot.failures.inject(MOTOR, OFF, 1)
    assert most > 0.4
    assert found[together[0]][1][0] == 0.0
    assert found[together[0]][2]
