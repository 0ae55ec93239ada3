# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes ArduPilot's dataflash logs for tests: descriptions of the messages, then records.

Reference: ArduPilot libraries/AP_Logger/README.md and LogStructure.h.
"""

import struct
from pathlib import Path

HEAD = b"\xa3\x95"
FORMATS = {
    "FMT": (128, "BBnNZ", "Type,Length,Name,Format,Columns"),
    "MSG": (130, "QZ", "TimeUS,Message"),
    "MODE": (131, "QMBB", "TimeUS,Mode,ModeNum,Rsn"),
    "POS": (132, "QLLf", "TimeUS,Lat,Lng,Alt"),
    "XKF4": (133, "QBffffB", "TimeUS,C,SV,SP,SH,SM,PI"),
    "RCOU": (134, "Q" + "H" * 14, "TimeUS," + ",".join(f"C{k}" for k in range(1, 15))),
    "PARM": (136, "QNf", "TimeUS,Name,Value"),
    "MAVC": (135, "QBBHB", "TimeUS,SS,SC,Cmd,Res"),
}
STRUCT = {"B": "B", "n": "4s", "N": "16s", "Z": "64s", "Q": "Q", "M": "B", "L": "i", "f": "f",
          "H": "H"}  # fmt: skip


def record(name: str, *values: object) -> bytes:
    """Return a record of a message in `FORMATS`."""
    number, letters, _ = FORMATS[name]
    body = struct.pack("<" + "".join(STRUCT[letter] for letter in letters), *values)
    return HEAD + bytes([number]) + body


def write_log(path: Path, *records: bytes) -> Path:
    """Write the descriptions of all messages, and the records; return the path."""
    head = [
        record("FMT", number, 3 + struct.calcsize("<" + "".join(STRUCT[c] for c in letters)),
               name.encode(), letters.encode(), columns.encode())
        for name, (number, letters, columns) in FORMATS.items()
    ]  # fmt: skip
    path.write_bytes(b"".join([*head, *records]))
    return path
