# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A connection to a page of the view as a browser makes it, without one.

msgspec and zstandard come with viser.
"""

from typing import Any

import msgspec
import viser
import zstandard
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (-80.0, -40.0, 30.0),
    "fov": 1.0,
    "near": 0.1,
    "far": 1000.0,
    "image_height": 900,
    "image_width": 1100,
    "look_at": (-60.0, -14.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}
"""What a browser says once it shows the page: only then is it one that watches."""
_SIZES = 8
"""Bytes of the lengths that a packet of the page begins with."""


def connect_to_page(port: int) -> ClientConnection:
    """Return a connection to the page on a port of loopback, as a page of its own makes it."""
    return connect(
        f"ws://127.0.0.1:{port}",
        origin=Origin(f"http://127.0.0.1:{port}"),
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
        max_size=None,
    )


def packed(message: Any) -> bytes:
    """Return a message as a page sends it."""
    return msgspec.msgpack.encode(message)


def messages_of(packet: bytes) -> list[dict[str, Any]]:
    """Return the messages of a packet that a page receives, without their arrays."""
    length = int.from_bytes(packet[_SIZES : 2 * _SIZES], "little")
    inner = packet[2 * _SIZES : 2 * _SIZES + length]
    unpacked = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(inner))
    return list(unpacked["messages"])
