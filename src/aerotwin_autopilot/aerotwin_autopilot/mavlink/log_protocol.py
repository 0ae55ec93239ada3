# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The log messages of MAVLink: list the flight logs, download one, erase them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.streams import MavlinkChannel, MavlinkProtocol

CHUNK = 90  # bytes in a LOG_DATA
PER_STEP = 10  # LOG_DATA per step and link: 225 kB per simulated second


@dataclass
class Transfer:
    """The rest of a log to send on a link."""

    number: int
    offset: int
    end: int


class LogProtocol(MavlinkProtocol):
    """Serves the logs of past flights; the present one is listed when it has ended."""

    def __init__(self, autopilot: Autopilot, send: Callable[..., None]) -> None:
        super().__init__(autopilot, send)
        self._transfers: dict[int, tuple[MavlinkChannel, Transfer]] = {}

    @property
    def is_busy(self) -> bool:
        """True while a client downloads a log."""
        return bool(self._transfers)

    @property
    def _files(self) -> list[bytearray]:
        return self._autopilot.finished_logs

    def _on_log_request_list(self, link: MavlinkChannel, message: Any) -> None:
        files = self._files
        requested = range(message.start, min(message.end + 1, len(files)))
        for number in requested:
            size, utc_s = len(files[number]), self._autopilot.unix_us // 1_000_000
            last = len(files) - 1
            self._send(link, "LOG_ENTRY", utc_s, size, number, len(files), last)
        if not requested:
            self._send(link, "LOG_ENTRY", 0, 0, 0, len(files), max(len(files) - 1, 0))

    def _on_log_request_data(self, link: MavlinkChannel, message: Any) -> None:
        files = self._files
        size = len(files[message.id]) if message.id < len(files) else 0
        if message.ofs >= size:
            self._send(link, "LOG_DATA", message.ofs, message.id, 0, *bytes(CHUNK))
            return
        end = min(message.ofs + message.count, size)
        self._transfers[id(link)] = link, Transfer(message.id, message.ofs, end)

    def _on_log_request_end(self, link: MavlinkChannel, _: Any) -> None:
        self._transfers.pop(id(link), None)

    def _on_log_erase(self, _: MavlinkChannel, __: Any) -> None:
        self._transfers.clear()
        self._autopilot.log.erase()

    def send_next(self) -> None:
        """Send the next pieces of each download."""
        for key, (link, transfer) in list(self._transfers.items()):
            content = self._files[transfer.number]
            for _ in range(PER_STEP):
                stop = min(transfer.offset + CHUNK, transfer.end)
                piece = bytes(content[transfer.offset : stop])
                self._send(
                    link, "LOG_DATA", transfer.offset, transfer.number, len(piece),
                    *piece.ljust(CHUNK, b"\0"),
                )  # fmt: skip
                transfer.offset = stop
                if stop >= transfer.end:
                    del self._transfers[key]
                    break
