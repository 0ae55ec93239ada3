# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who commanded a vehicle: lines of a log, commands of a ULog, texts of a report."""

import struct

from aerotwin_px4_bridge.commanders import (
    Commander,
    command_name,
    commanders_in_log,
    commanders_in_ulogs,
    find_commanders,
    outside_commands,
)

INSTANCE = 3
FIELDS = (
    "uint64_t timestamp;uint32_t command;uint8_t source_system;uint8_t source_component;"
    "bool from_external;"
)


def commander(order: str, time_s: float, address: str = "127.0.0.1:5000") -> Commander:
    return Commander(system_id=245, component_id=190, address=address, order=order, time_s=time_s)


def write_ulog(path, rows) -> None:
    """A ULog of vehicle_command, written by hand after the format's specification."""

    def message(kind: bytes, content: bytes) -> bytes:
        return struct.pack("<H", len(content)) + kind + content

    parts = [b"ULog\x01\x12\x35\x01", bytes(8), message(b"B", bytes(40))]
    parts.append(message(b"F", b"vehicle_command:" + FIELDS.encode()))
    parts.append(message(b"A", bytes(3) + b"vehicle_command"))
    for time_us, number, system, component, is_external in rows:
        row = struct.pack("<HQIBB?", 0, time_us, number, system, component, is_external)
        parts.append(message(b"D", row))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(parts))


def test_what_an_autopilot_writes_is_read_back(tmp_path):
    written = [commander("COMPONENT_ARM_DISARM", 12.3), commander("PARAM_SET", 13.004)]
    path = tmp_path / f"autopilot_{INSTANCE}.log"
    path.write_text("hello\n" + "".join(f"{c.line()}\n" for c in written) + "commanded by x\n")
    assert commanders_in_log(path) == written
    assert find_commanders(tmp_path, INSTANCE, "embedded") == written
    assert commanders_in_log(tmp_path / "none.log") == []


def test_of_px4_the_senders_of_commands_are_reported_without_itself_and_the_scenario(tmp_path):
    rows = [
        (1_000_000, 400, INSTANCE + 1, 191, True),  # the scenario's client
        (2_000_000, 21, INSTANCE + 1, 1, False),  # PX4 itself
        (3_500_000, 400, 245, 190, True),
        (4_000_000, 400, 245, 190, True),
        (4_500_000, 176, 255, 190, True),
    ]
    write_ulog(tmp_path / f"px4_{INSTANCE}" / "log" / "day" / "a.ulg", rows)
    found = find_commanders(tmp_path, INSTANCE, "px4")
    assert [(c.system_id, c.component_id, c.order, c.time_s, c.address) for c in found] == [
        (245, 190, "COMPONENT_ARM_DISARM", 3.5, "an unknown address"),
        (255, 190, "DO_SET_MODE", 4.5, "an unknown address"),
    ]
    assert commanders_in_ulogs([], INSTANCE) == []
    assert find_commanders(tmp_path, INSTANCE, "python:a:B") == []


def test_the_report_names_each_client_and_its_first_orders():
    orders = ["COMPONENT_ARM_DISARM", "DO_SET_MODE", "PARAM_SET", "MISSION_COUNT", "SET_MODE"]
    many = [commander(order, 10.0 + k) for k, order in enumerate(orders)]
    other = commander("NAV_LAND", 20.0, "127.0.0.1:5001")
    first, second = outside_commands([*many, other])
    assert first == (
        "an outside client commanded the vehicle: system 245 component 190 from 127.0.0.1:5000: "
        "COMPONENT_ARM_DISARM at 10.0 s, DO_SET_MODE at 11.0 s, PARAM_SET at 12.0 s "
        "and 2 kinds more"
    )
    assert "127.0.0.1:5001: NAV_LAND at 20.0 s" in second
    assert outside_commands([]) == []


def test_a_command_without_a_name_keeps_its_number():
    assert command_name(64999) == "command 64999"
