# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink FTP, read only: the flight logs and the metadata of this component.

MAVLink developer guide, "File Transfer Protocol". There is no disk behind it; write operations are
answered by FileProtected.
"""

import struct
import zlib
from collections.abc import Callable
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.identity import metadata_files
from aerotwin_autopilot.mavlink.streams import MavlinkChannel, MavlinkProtocol

_HEADER = struct.Struct("<HBBBBBBI")
PAYLOAD_BYTES = 251
DATA_BYTES = PAYLOAD_BYTES - _HEADER.size
BURST_PACKETS = 20  # packets to one request for a burst; the client asks for the next

NONE, TERMINATE, RESET, LIST, OPEN, READ, CREATE, WRITE, REMOVE = range(9)
MAKE_FOLDER, REMOVE_FOLDER, OPEN_TO_WRITE, TRUNCATE, RENAME, CHECKSUM, BURST = range(9, 16)
ACK, NAK = 128, 129
INVALID_SIZE, INVALID_SESSION, NO_SESSION_LEFT, END_OF_FILE = 3, 4, 5, 6
UNKNOWN_COMMAND, FILE_PROTECTED, FILE_NOT_FOUND = 7, 9, 10
"""Opcodes and error codes of the protocol."""
ON_EXISTING = (REMOVE, REMOVE_FOLDER, OPEN_TO_WRITE, TRUNCATE, RENAME)
WRITING = (CREATE, WRITE, MAKE_FOLDER, *ON_EXISTING)


class Refused(Exception):
    """An operation answered by NAK, with its error code."""


class FileProtocol(MavlinkProtocol):
    """Serves metadata and flight logs by name; one session per link."""

    def __init__(self, autopilot: Autopilot, send: Callable[..., None]) -> None:
        super().__init__(autopilot, send)
        self._metadata = metadata_files()
        self._open: dict[int, bytes] = {}
        self._last: dict[int, tuple[bytes, list[bytes]]] = {}

    def _files(self) -> dict[str, bytes | bytearray]:
        logs = self._autopilot.finished_logs
        return {**self._metadata, **{f"/log/log_{k}.ulg": log for k, log in enumerate(logs)}}

    def _on_file_transfer_protocol(self, link: MavlinkChannel, message: Any) -> None:
        request = bytes(message.payload)
        if self._last.get(id(link), (b"", []))[0] != request:  # a repeated one gets the same answer
            self._last[id(link)] = request, self._answers(link, request)
        for payload in self._last[id(link)][1]:
            self._send(
                link, "FILE_TRANSFER_PROTOCOL",
                0, message.get_srcSystem(), message.get_srcComponent(), *payload,
            )  # fmt: skip

    def _answers(self, link: MavlinkChannel, request: bytes) -> list[bytes]:
        sequence, session, operation, size, _, _, _, offset = _HEADER.unpack_from(request)
        data = request[_HEADER.size : _HEADER.size + size]
        try:
            if size > DATA_BYTES:
                raise Refused(INVALID_SIZE)
            if operation == BURST:
                pieces = self._burst(link, offset, size)
            else:
                pieces = [(offset, self._do(link, operation, data, offset, size))]
        except Refused as refusal:
            code = bytes(refusal.args)
            header = (sequence + 1 & 0xFFFF, session, NAK, len(code), operation, 1, 0, offset)
            return [(_HEADER.pack(*header) + code).ljust(PAYLOAD_BYTES, b"\0")]
        return [
            (
                _HEADER.pack(
                    sequence + 1 + k & 0xFFFF, 0, ACK, len(piece), operation,
                    int(k == len(pieces) - 1), 0, at,
                )
                + piece
            ).ljust(PAYLOAD_BYTES, b"\0")
            for k, (at, piece) in enumerate(pieces)
        ]  # fmt: skip

    def _do(
        self, link: MavlinkChannel, operation: int, data: bytes, offset: int, size: int
    ) -> bytes:
        path = "/" + data.split(b"\0")[0].decode("ascii", "replace").strip("/")
        if operation in (NONE, TERMINATE, RESET):
            self._open.pop(id(link), None)
            return b""
        if operation == LIST:
            return self._list(path, offset)
        if operation == READ:
            return self._read(link, offset, size)
        if operation in WRITING:
            is_missing = operation in ON_EXISTING and path not in self._files()
            raise Refused(FILE_NOT_FOUND if is_missing else FILE_PROTECTED)
        if operation not in (OPEN, CHECKSUM):
            raise Refused(UNKNOWN_COMMAND)
        content = self._files().get(path)
        if content is None:
            raise Refused(FILE_NOT_FOUND)
        if operation == CHECKSUM:
            return struct.pack("<I", zlib.crc32(content))
        self._open[id(link)] = bytes(content)
        return struct.pack("<I", len(content))

    def _list(self, folder: str, offset: int) -> bytes:
        start = folder.rstrip("/") + "/"
        below = {p[len(start) :]: len(c) for p, c in self._files().items() if p.startswith(start)}
        if not below:
            raise Refused(FILE_NOT_FOUND)
        folders = sorted({f"D{name.split('/')[0]}" for name in below if "/" in name})
        entries = folders + [f"F{n}\t{size}" for n, size in sorted(below.items()) if "/" not in n]
        if offset >= len(entries):
            raise Refused(END_OF_FILE)
        listed = b""
        for entry in entries[offset:]:
            encoded = entry.encode() + b"\0"
            if len(listed) + len(encoded) > DATA_BYTES:
                break
            listed += encoded
        return listed

    def _read(self, link: MavlinkChannel, offset: int, size: int) -> bytes:
        content = self._open.get(id(link))
        if content is None:
            raise Refused(INVALID_SESSION)
        if offset >= len(content):
            raise Refused(END_OF_FILE)
        return content[offset : offset + min(size or DATA_BYTES, DATA_BYTES)]

    def _burst(self, link: MavlinkChannel, offset: int, size: int) -> list[tuple[int, bytes]]:
        pieces = [(offset, self._read(link, offset, size))]
        content = self._open[id(link)]
        while len(pieces) < BURST_PACKETS:
            at = pieces[-1][0] + len(pieces[-1][1])
            if at >= len(content):
                break
            pieces.append((at, self._read(link, at, size)))
        return pieces
