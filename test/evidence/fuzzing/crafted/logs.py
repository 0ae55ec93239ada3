# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile flights: ULog files, and tables of positions."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

Writer = Callable[[Path], list[Path]]
_LOCAL = "vehicle_local_position"


def ulog_record(kind: str, data: bytes) -> bytes:
    """Return a message of a ULog file."""
    return struct.pack("<HB", len(data), ord(kind)) + data


def write_ulog(folder: Path, formats: Sequence[str], topic: str, *records: bytes) -> list[Path]:
    """Write a log with formats, a subscription of a topic and further messages."""
    data = b"ULog\x01\x12\x35\x01" + bytes(8)
    data += b"".join(ulog_record("F", text.encode()) for text in formats)
    data += ulog_record("A", struct.pack("<BH", 0, 0) + topic.encode()) + b"".join(records)
    (folder / "log.ulg").write_bytes(data)
    return [folder / "log.ulg"]


def _nested_arrays(folder: Path) -> list[Path]:
    formats = [*(f"a{k}:a{k + 1}[65535] x;" for k in range(3)), "a3:uint8_t[65535] x;"]
    return write_ulog(folder, formats, "a0")


def _endless(folder: Path) -> list[Path]:
    return write_ulog(folder, [f"{_LOCAL}:uint64_t timestamp;{_LOCAL} x;"], _LOCAL)


def _many_subscriptions(folder: Path) -> list[Path]:
    more = (ulog_record("A", struct.pack("<BH", 0, k) + b"a") for k in range(1, 60_000))
    return write_ulog(folder, ["a:uint8_t[3] x;uint8_t[65000] y;"], "a", *more)


def _wrong_lengths(folder: Path) -> list[Path]:
    return write_ulog(folder, ["a:bool x;"], "a", b"\xff" * 8_000_000)


def _joined_text(folder: Path) -> list[Path]:
    """Data of topics without a subscription: pyulog says so for each."""
    tokens = (ulog_record("D", struct.pack("<H", k % 65536) + bytes(8)) for k in range(300_000))
    return write_ulog(folder, ["a:bool x;"], "a", *tokens)


def _csv(altitude: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        rows = "".join(f"{k},47.0,8.0,{altitude}\n" for k in range(10))
        (folder / "flight.csv").write_text("time_s,lat_deg,lon_deg,alt_m\n" + rows)
        return [folder / "flight.csv"]

    return write


def _times(name: str, row: str, head: str = "") -> Writer:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_text(head + "".join(row.format(k) + "\n" for k in range(20)))
        return [folder / name]

    return write


_TUM = "{} 1 2 3 0 0 0 1"
_EUROC = "{},1,2,3,1,0,0,0"
_HEAD = "time_s,x_m,y_m,z_m,qx,qy,qz,qw\n"
_POSE = ",1,2,3,0,0,0,1"

CRAFTED: dict[str, dict[str, Writer]] = {
    "ulog": {
        "nested arrays of 65,535": _nested_arrays,
        "format that holds itself": _endless,
        "60,000 subscriptions of 65,003 fields": _many_subscriptions,
        "8 MB of wrong lengths": _wrong_lengths,
        "300,000 data without a subscription": _joined_text,
    },
    "gnss-csv": {
        "altitude of 1e308 m": _csv("1e308"),
        "altitude of -1e308 m": _csv("-1e308"),
        "altitude of 1e30 m": _csv("1e30"),
    },
    "tum": {
        "stamps of 5,000 digits": _times("estimate.txt", _TUM.format("9" * 5000 + "{}")),
        "stamps of 1e999999": _times("estimate.txt", _TUM.format("{}e999999")),
        "stamps of 1e300": _times("estimate.txt", _TUM.format("{}e300")),
    },
    "euroc": {
        "stamps of 5,000 digits": _times("data.csv", _EUROC.format("9" * 5000 + "{}")),
        "stamps of 1e999999": _times("data.csv", _EUROC.format("1{}e999999")),
    },
    "csv-trajectory": {
        "stamps of 5,000 digits": _times("truth.csv", "9" * 5000 + "{}" + _POSE, _HEAD),
        "stamps of 1e999999": _times("truth.csv", "1{}e999999" + _POSE, _HEAD),
        "stamps of 1e999": _times("truth.csv", "1{}e999" + _POSE, _HEAD),
    },
}
