# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: answers, repeats itself, ends when it should, says what is wrong."""

import signal
import socket
import subprocess
import sys

import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.embedded_autopilot import main
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import LOCAL_PORTS
from aerotwin_px4_bridge.link import HIL_PORT
from aerotwin_px4_bridge.mavlink2 import HIL_SENSOR, FrameReader
from aerotwin_px4_bridge.messages import pack_hil_sensor, parse_hil_actuator_controls

INSTANCE = 62
COMMAND = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
ONBOARD = 1
ARM_AT_US, RECORD_US = 4_000_000, 9_000_000


def commands_at(time_us: int) -> bytes:
    """What a client sends at a simulated time: take off and arm, once."""
    encoder = common.MAVLink(None, srcSystem=1, srcComponent=191)
    if time_us != ARM_AT_US:
        return b""
    nan = float("nan")
    take_off = common.MAVLink_command_long_message(1, 1, 22, 0, nan, 0, 0, nan, nan, nan, nan)
    arm = common.MAVLink_command_long_message(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)
    return take_off.pack(encoder) + arm.pack(encoder)


def replay(recording: list[bytes]) -> tuple[bytes, list[bytes]]:
    """Return all answers and all datagrams of a fresh session to recorded sensor bytes."""
    session = Session(load_autopilot_parameters(), 0)
    answers, datagrams = [], []
    for data in recording:
        for message_id, payload in session.frames(data):
            if message_id != HIL_SENSOR:
                session.on_message(message_id, payload)
                continue
            time_us = int.from_bytes(payload[:8], "little")
            session.server.on_datagram(ONBOARD, commands_at(time_us))
            answers.append(session.answer(payload))
            datagrams += [b"".join(session.server.pop_datagrams(k)) for k in range(3)]
    return b"".join(answers), datagrams


@pytest.fixture
def recording(simulated_vehicle) -> list[bytes]:
    """Sensor bytes of a take-off, flown by the same autopilot."""
    vehicle, session = simulated_vehicle(seed=4), Session(load_autopilot_parameters(), 0)
    recorded, commands = [], (0.0,) * 4
    while vehicle.time_us < RECORD_US:
        vehicle.step(commands, is_armed=session.autopilot.modes.is_armed)
        recorded.append(b"".join(vehicle.frames()))
        for message_id, payload in session.frames(recorded[-1]):
            if message_id == HIL_SENSOR:
                session.server.on_datagram(ONBOARD, commands_at(vehicle.time_us))
                session.answer(payload)
            else:
                session.on_message(message_id, payload)
        commands = session.autopilot.commands.tolist()
    assert vehicle.body.state.p_map_body[2] > 2.0
    return recorded


def test_the_same_bytes_in_give_the_same_bytes_out(recording):
    first, second = replay(recording), replay(recording)
    assert first[0] == second[0]
    assert first[1] == second[1]
    # and other sensor noise would give others: the comparison can fail
    assert replay(recording[1:])[0] != first[0]


def test_every_sample_is_answered_with_its_own_time_over_tcp(autopilot, simulated_vehicle):
    link = autopilot(INSTANCE)
    vehicle = simulated_vehicle(seed=5)
    for _ in range(300):
        vehicle.step((0.0,) * 4, is_armed=False)
        answer = link.exchange(vehicle.time_us, vehicle.frames())
        assert answer.time_us == vehicle.time_us
        assert not answer.is_armed
        assert set(answer.controls) == {0.0}
    assert link.n_missed == 0


def test_a_sample_that_is_not_finite_is_answered_and_not_believed():
    session = Session(load_autopilot_parameters(), 0)
    good = pack_hil_sensor(4000, (0.0, 0.0, 9.8), (0.0, 0.0, 0.0))
    (frame,) = FrameReader().feed_bytes(good)
    bad = bytearray(frame.payload)
    bad[8:12] = b"\x00\x00\xc0\x7f"  # NaN
    (answer,) = FrameReader().feed_bytes(session.answer(bytes(bad)))
    assert parse_hil_actuator_controls(answer.payload).time_us == 4000
    assert session.n_bad == 1
    assert session.autopilot.time_us == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_quietly(number):
    with socket.create_server(("127.0.0.1", HIL_PORT + INSTANCE)) as server:
        process = subprocess.Popen(
            [*COMMAND, "--instance", str(INSTANCE)], stderr=subprocess.PIPE, text=True
        )
        server.settimeout(60.0)
        connection, _ = server.accept()
        with connection:
            process.send_signal(number)
            _, errors = process.communicate(timeout=60.0)
    assert process.returncode == 0
    assert errors == ""


def test_it_ends_when_the_simulator_closes_the_link(autopilot):
    link = autopilot(INSTANCE)
    link.close()  # the fixture checks the exit code


@pytest.fixture
def failed(capsys):
    """Return a function that runs the command to its failure and gives the one line it says."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments: str) -> str:
        assert main(arguments) == 2
        message = capsys.readouterr().err
        assert len(message.strip().splitlines()) == 1, message
        return message

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_no_simulator_is_said_with_the_port(failed):
    message = failed("--instance", str(INSTANCE), "--connect-timeout-s", "0.2")
    assert f"no simulator listens on TCP port {HIL_PORT + INSTANCE}" in message


def test_a_busy_udp_port_is_said(failed):
    port = LOCAL_PORTS["onboard"] + INSTANCE
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))
        assert f"UDP port {port} (onboard link)" in failed("--instance", str(INSTANCE))


def test_a_wrong_parameter_file_is_said(failed, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("airframe: {name: x, mass: 3}\n")
    assert "unknown key 'airframe.mass'" in failed("--parameters", str(path))
    assert "missing.yaml" in failed("--parameters", str(tmp_path / "missing.yaml"))
