# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What ground stations ask for when they connect: each request has an answer."""

import json
import struct
import zlib

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from pyulog import ULog

from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.mavlink.codec import LAYOUTS
from aerotwin_autopilot.mavlink.server import DATAGRAM_BYTES
from aerotwin_autopilot.settings import PX4_NAMES
from aerotwin_px4_bridge.mavlink2 import UNFINISHED

GROUND = 2
ROUNDING = 1e-6
DOES_NOT_EXIST, READ_ONLY = 1, 5
LIST, OPEN, READ, WRITE, REMOVE, CHECKSUM, BURST = 3, 4, 5, 7, 8, 14, 15
ACK, NAK, END_OF_FILE, PROTECTED, NOT_FOUND = 128, 129, 6, 9, 10
START_OF_2026_US = 1767225600 * 1_000_000
"""2026-01-01T00:00:00Z, the default year of the magnetic model."""


class Asker:
    """A ground station on one link of a vehicle that stands."""

    def __init__(self, flight) -> None:
        self.flight = flight
        self.server = MavlinkServer(flight.autopilot)
        self._encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
        self._parser = common.MAVLink(None)
        self._parser.robust_parsing = True
        self.sequence = 0

    def listen(self) -> list:
        return self._parser.parse_buffer(b"".join(self.server.pop_datagrams(GROUND))) or []

    def send(self, message) -> list:
        self.server.on_datagram(GROUND, message.pack(self._encoder))
        return self.listen()

    def gather(self, name: str, seconds: float) -> list:
        found = []
        for _ in range(round(seconds / 0.004)):
            self.flight.step()
            self.server.write_telemetry()
            found += [m for m in self.listen() if m.get_type() == name]
        return found

    def read(self, name: str):
        (answer,) = self.send(common.MAVLink_param_request_read_message(1, 1, name.encode(), -1))
        return answer

    def set(self, name: str, value: float, kind: int = 9):
        (answer,) = self.send(common.MAVLink_param_set_message(1, 1, name.encode(), value, kind))
        return answer

    def ftp(self, operation: int, data: bytes = b"", *, offset: int = 0, size: int | None = None):
        """Return (opcode, data) of each answer."""
        self.sequence += 1
        size = len(data) if size is None else size
        header = struct.pack("<HBBBBBBI", self.sequence, 0, operation, size, 0, 0, 0, offset)
        payload = list((header + data).ljust(251, b"\0"))
        answers = self.send(common.MAVLink_file_transfer_protocol_message(0, 1, 1, payload))
        found = []
        for answer in answers:
            raw = bytes(answer.payload)
            assert raw[5] == operation
            found.append((raw[3], raw[12 : 12 + raw[4]]))
        return found


@pytest.fixture
def asker(flight) -> Asker:
    flight.make_ready()
    asker = Asker(flight)
    asker.gather("HEARTBEAT", 0.1)
    return asker


def as_integer(value: float) -> int:
    return int(struct.unpack("<i", struct.pack("<f", value))[0])


def test_parameters_are_listed_with_a_checksum_first(asker):
    asker.send(common.MAVLink_param_request_list_message(1, 1))
    listed = asker.gather("PARAM_VALUE", 0.1)
    assert listed[0].param_id == "_HASH_CHECK"
    assert [m.param_index for m in listed[1:]] == list(range(listed[0].param_count))
    assert {m.param_id for m in listed[1:]} >= {*PX4_NAMES, "MAV_SYS_ID", "CAL_GYRO0_ID"}
    again = asker.read("_HASH_CHECK")
    bits = [struct.pack("<f", m.param_value) for m in (listed[0], again)]
    assert bits[0] == bits[1]
    content = b"".join(m.param_id.encode() + struct.pack("<f", m.param_value) for m in listed[1:])
    assert struct.unpack("<I", bits[0]) == (zlib.crc32(content),)
    assert asker.set("MIS_TAKEOFF_ALT", 4.0).param_value == 4.0
    assert struct.pack("<f", asker.read("_HASH_CHECK").param_value) != bits[0]


def test_a_client_that_knows_the_checksum_stops_the_list(asker):
    asker.send(common.MAVLink_param_request_list_message(1, 1))
    first = asker.gather("PARAM_VALUE", 0.004)
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    stop = common.MAVLink_param_set_message(1, 1, b"_HASH_CHECK", first[0].param_value, 5)
    asker.server.on_datagram(GROUND, stop.pack(encoder))
    assert asker.gather("PARAM_VALUE", 0.1) == []


def test_parameters_are_set_within_their_range_and_read_by_name_or_number(asker):
    assert asker.set("MIS_TAKEOFF_ALT", 4.0).param_value == 4.0
    assert asker.set("MIS_TAKEOFF_ALT", 1e6).param_value == 4.0
    by_name = asker.read("MIS_TAKEOFF_ALT")
    (by_number,) = asker.send(
        common.MAVLink_param_request_read_message(1, 1, b"", by_name.param_index)
    )
    assert (by_number.param_id, by_number.param_value) == ("MIS_TAKEOFF_ALT", 4.0)
    assert asker.flight.modes.settings.values.takeoff_altitude_m == 4.0
    assert as_integer(asker.read("MAV_SYS_ID").param_value) == 1


def test_a_parameter_that_is_not_there_is_refused_by_name(asker):
    for answer in (asker.read("NO_SUCH"), asker.set("NO_SUCH", 1.0)):
        assert answer.get_type() == "PARAM_ERROR"
        assert (answer.param_id, answer.error) == ("NO_SUCH", DOES_NOT_EXIST)
        assert (answer.target_system, answer.target_component) == (255, 190)
    assert asker.set("SYS_AUTOSTART", 1.0).error == READ_ONLY
    (answer,) = asker.send(common.MAVLink_param_request_read_message(1, 1, b"", 30000))
    assert (answer.param_index, answer.error) == (30000, DOES_NOT_EXIST)


def test_time_is_that_of_gnss_and_nothing_before_a_fix(flight):
    asker = Asker(flight)
    assert asker.gather("SYSTEM_TIME", 0.05) == []
    flight.make_ready()
    time = asker.gather("SYSTEM_TIME", 1.1)[-1]
    assert time.time_unix_usec == START_OF_2026_US + time.time_boot_ms * 1000


@pytest.mark.parametrize("name", list(UNFINISHED))
def test_messages_that_pymavlink_leaves_out_come_on_request(asker, name):
    layout = LAYOUTS[name]
    request = common.MAVLink_command_long_message(1, 1, 512, 0, layout.id, 0, 0, 0, 0, 0, 0)
    answers = asker.send(request)
    assert [m.result for m in answers if m.get_type() == "COMMAND_ACK"] == [0]
    (other,) = [m for m in answers if m.get_type() != "COMMAND_ACK"]
    assert other.get_type() == f"UNKNOWN_{layout.id}"


def test_metadata_describes_the_parameters_and_is_fetched_by_ftp(asker):
    general = fetch(asker, b"/etc/extras/component_general.json")
    (entry,) = json.loads(general)["metadataTypes"]
    content = fetch(asker, entry["uri"].removeprefix("mftp:/").encode())
    assert zlib.crc32(content) == entry["fileCrc"]
    parameters = {p["name"]: p for p in json.loads(content)["parameters"]}
    assert set(parameters) == set(PX4_NAMES)
    assert parameters["GF_ACTION"]["type"] == "Int32"
    assert (parameters["MIS_TAKEOFF_ALT"]["min"], parameters["MIS_TAKEOFF_ALT"]["units"]) == (
        0.5, "m",
    )  # fmt: skip


def fetch(asker, path: bytes) -> bytes:
    """Open and read a file piece by piece, as a client does; then by bursts."""
    ((code, size),) = asker.ftp(OPEN, path)
    assert code == ACK
    content = b""
    while len(content) < int.from_bytes(size, "little"):
        ((code, piece),) = asker.ftp(READ, offset=len(content), size=239)
        assert code == ACK
        content += piece
    assert asker.ftp(READ, offset=len(content), size=239) == [(NAK, bytes((END_OF_FILE,)))]
    burst = b"".join(piece for _, piece in asker.ftp(BURST, size=239))
    assert content.startswith(burst)
    assert asker.ftp(CHECKSUM, path) == [(ACK, struct.pack("<I", zlib.crc32(content)))]
    return content


def test_ftp_lists_refuses_to_write_and_repeats_a_lost_answer(asker):
    ((code, listing),) = asker.ftp(LIST, b"/")
    assert (code, listing) == (ACK, b"Detc\0")
    assert asker.ftp(LIST, b"/", offset=1) == [(NAK, bytes((END_OF_FILE,)))]
    ((_, files),) = asker.ftp(LIST, b"/etc/extras")
    assert files.startswith(b"Fcomponent_general.json\t")
    assert asker.ftp(LIST, b"/nothing") == [(NAK, bytes((NOT_FOUND,)))]
    assert asker.ftp(OPEN, b"/../etc/passwd") == [(NAK, bytes((NOT_FOUND,)))]
    assert asker.ftp(REMOVE, b"/nothing") == [(NAK, bytes((NOT_FOUND,)))]
    assert asker.ftp(REMOVE, b"/etc/extras/parameters.json") == [(NAK, bytes((PROTECTED,)))]
    assert asker.ftp(WRITE, b"x") == [(NAK, bytes((PROTECTED,)))]
    assert asker.ftp(READ, size=10) == [(NAK, b"\x04")]  # nothing is open
    assert asker.ftp(77) == [(NAK, b"\x07")]
    first = asker.ftp(OPEN, b"/etc/extras/parameters.json")
    asker.sequence -= 1
    assert asker.ftp(OPEN, b"/etc/extras/parameters.json") == first


def test_without_a_flight_there_is_no_log(asker):
    (entry,) = asker.send(common.MAVLink_log_request_list_message(1, 1, 0, 0xFFFF))
    assert (entry.num_logs, entry.size) == (0, 0)
    (data,) = asker.send(common.MAVLink_log_request_data_message(1, 1, 3, 0, 90))
    assert data.count == 0


def test_a_flight_leaves_a_log_that_pyulog_reads(asker, tmp_path):
    flight = asker.flight
    flight.take_off()
    truth = [flight.vehicle.body.state.p_map_body[2]]
    flight.wait(1.0)
    flight.modes.disarm(force=True)
    flight.step()
    (entry,) = asker.send(common.MAVLink_log_request_list_message(1, 1, 0, 0xFFFF))
    assert (entry.num_logs, entry.last_log_num) == (1, 0)
    asker.send(common.MAVLink_log_request_data_message(1, 1, 0, 0, 0xFFFFFFFF))
    pieces = asker.gather("LOG_DATA", 5.0)
    content = b"".join(bytes(m.data[: m.count]) for m in pieces)
    assert len(content) == entry.size
    assert content == fetch(asker, b"/log/log_0.ulg")
    path = tmp_path / "flight.ulg"
    path.write_bytes(content)
    log = ULog(str(path))
    assert not log.file_corruption
    position = log.get_dataset("vehicle_local_position").data
    seconds = np.diff(position["timestamp"]) * 1e-6
    assert seconds == pytest.approx(0.1, abs=0.021)  # decided at 50 Hz
    estimate_error = 0.5
    assert -position["z"][-1] == pytest.approx(truth[0] - flight.modes.home[2], abs=estimate_error)
    q = np.array([log.get_dataset("vehicle_attitude").data[f"q[{k}]"] for k in range(4)])
    assert np.linalg.norm(q, axis=0) == pytest.approx(1.0, abs=ROUNDING)
    states = log.get_dataset("vehicle_status").data["nav_state"]
    assert [k for k, last in zip(states, [-1, *states], strict=False) if k != last] == [17, 4]
    assert any("Takeoff detected" in message.message for message in log.logged_messages)
    asker.send(common.MAVLink_log_erase_message(1, 1))
    (entry,) = asker.send(common.MAVLink_log_request_list_message(1, 1, 0, 0xFFFF))
    assert entry.num_logs == 0


def test_no_datagram_is_longer_than_clients_receive(flight):
    """MAVSDK reads into 2048 bytes; a second of telemetry at once is more."""
    flight.make_ready()
    server = MavlinkServer(flight.autopilot)
    sizes = []
    for _ in range(300):
        flight.step()
        server.write_telemetry()
        sizes += [len(datagram) for link in range(3) for datagram in server.pop_datagrams(link)]
    assert max(sizes) <= DATAGRAM_BYTES
    assert max(sizes) > 500  # frames still travel together
