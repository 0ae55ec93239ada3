# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Identity and capabilities of this vehicle: payloads that clients request once, and metadata.

MAVLink developer guide, "Component Metadata Protocol": a general file, and the parameters with
their texts and ranges, both from the one declaration in `TunableParameters`.
"""

import dataclasses
import json
import zlib
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.settings import INTEGERS, PX4_NAMES

FOLDER = "/etc/extras"
GENERAL, PARAMETERS = f"{FOLDER}/component_general.json", f"{FOLDER}/parameters.json"
TYPE_PARAMETERS = 1  # COMP_METADATA_TYPE_PARAMETER


def metadata_files() -> dict[str, bytes]:
    """Return path -> content of the metadata files."""
    fields = {field.name: field for field in dataclasses.fields(TunableParameters)}
    parameters = []
    for name, attribute in sorted(PX4_NAMES.items()):
        field = fields[attribute]
        entry = {
            "name": name,
            "type": "Int32" if name in INTEGERS else "Float",
            "group": "Flight",
            "default": field.default,
            "shortDesc": field.metadata["text"],
            "units": field.metadata["unit"],
            "min": field.metadata["minimum"],
            "max": field.metadata["maximum"],
        }
        parameters.append({key: value for key, value in entry.items() if value not in (None, "")})
    content = json.dumps({"version": 1, "parameters": parameters}).encode()
    general = {
        "version": 1,
        "metadataTypes": [
            {"type": TYPE_PARAMETERS, "uri": uri(PARAMETERS), "fileCrc": zlib.crc32(content)}
        ],
    }
    return {GENERAL: json.dumps(general).encode(), PARAMETERS: content}


def uri(path: str) -> str:
    """Return the address of a file of this component in MAVLink FTP."""
    return f"mftp:/{path}"


# MAV_PROTOCOL_CAPABILITY: float missions and parameters, MISSION_ITEM_INT, COMMAND_INT, parameters
# encoded bytewise, FTP, set attitude target, local and global position targets, flight termination,
# MAVLink 2, fences, rally points. PX4 1.14 says so, too, but for the global targets, and claims
# terrain.
CAPABILITIES = 0x00FF | 0x0100 | 0x0800 | 0x2000 | 0x4000 | 0x8000
FIRMWARE_VERSION = 1 << 24 | 14 << 16 | 3 << 8 | 255
"""Says PX4 1.14.3 (release): clients read behaviour from it, and that is the one met here."""
MAVLINK_2 = 200
MEBIBYTE = float(1 << 20)
STORAGE_READY = 2


def _milliseconds(a: Autopilot) -> int:
    return a.time_us // 1000 & 0xFFFFFFFF


def _autopilot_version(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return (
        CAPABILITIES, a.instance + 1, FIRMWARE_VERSION, FIRMWARE_VERSION, 0, 0, 0, 0,
        *[0] * 8, *[0] * 8, *[0] * 8, a.instance + 1, *[0] * 17,
    )  # fmt: skip


def _protocol_version(_: Autopilot, __: Any) -> tuple[Any, ...]:
    return MAVLINK_2, MAVLINK_2, MAVLINK_2, b"", b""


def _component_metadata(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return _milliseconds(a), zlib.crc32(metadata_files()[GENERAL]), uri(GENERAL).encode()


def _component_information(a: Autopilot, _: Any) -> tuple[Any, ...]:
    time_ms, crc, address = _component_metadata(a, None)
    return time_ms, crc, 0, address, b""


def _flight_information(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return 0, 0, len(a.log.files), _milliseconds(a), 0


def _storage_information(a: Autopilot, _: Any) -> tuple[Any, ...]:
    """Return what the flight logs take; there is nothing else to store."""
    used = sum(len(file) for file in a.log.files) / MEBIBYTE
    return _milliseconds(a), used, used, 0.0, 0.0, 0.0, 1, 1, STORAGE_READY, 0, b"", 0


IDENTITY_BUILDERS = {
    "AUTOPILOT_VERSION": _autopilot_version,
    "PROTOCOL_VERSION": _protocol_version,
    "COMPONENT_METADATA": _component_metadata,
    "COMPONENT_INFORMATION": _component_information,
    "FLIGHT_INFORMATION": _flight_information,
    "STORAGE_INFORMATION": _storage_information,
}
