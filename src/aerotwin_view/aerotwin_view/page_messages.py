# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page may send: viser takes over what comes through a connection as it is."""

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, MsgspecError, Struct, msgpack
from websockets.asyncio.server import ServerConnection

MOST_BYTES = 1 << 20
"""Of one message; a page of ours sends no files."""
MOST_PER_S = 300
"""Messages of one page: a camera that is moved sends as many as the screen shows pictures."""

_Number = Annotated[float, Meta(ge=-1e15, le=1e15)]  # which leaves out what is not finite
_Name = Annotated[str, Meta(max_length=200)]
_Vector = tuple[_Number, _Number, _Number]
_Quaternion = tuple[_Number, _Number, _Number, _Number]
_Place = tuple[_Number, _Number]
_Modifier = Annotated[str, Meta(max_length=40)] | None
_Numbers = Annotated[tuple[_Number, ...], Meta(max_length=3)]
Value = bool | _Number | _Numbers | Annotated[str, Meta(max_length=10_000)]


class _Message(Struct, tag_field="type"):
    """A message as viser names it."""


class _Camera(_Message, tag="ViewerCameraMessage"):
    wxyz: _Quaternion
    position: _Vector
    fov: _Number
    near: _Number
    far: _Number
    image_height: Annotated[int, Meta(ge=0, le=100_000)]
    image_width: Annotated[int, Meta(ge=0, le=100_000)]
    look_at: _Vector
    up_direction: _Vector


class _Pointer(_Message, tag="ScenePointerMessage"):
    event_type: Literal["click"]
    ray_origin: _Vector
    ray_direction: _Vector
    screen_pos: tuple[_Place]
    modifier: _Modifier


class _Values(Struct, forbid_unknown_fields=True):
    value: Value


class _Control(_Message, tag="GuiUpdateMessage"):
    uuid: _Name
    updates: _Values


class _Hold(_Message, tag="GuiButtonHoldMessage"):
    uuid: _Name
    frequency: _Number


class _Command(_Message, tag="CommandTriggerMessage"):
    uuid: _Name


class _Arrows(_Message, tag="TransformControlsUpdateMessage"):
    name: _Name
    wxyz: _Quaternion
    position: _Vector
    owner: _Name = ""


class _ArrowsBegin(_Message, tag="TransformControlsDragStartMessage"):
    name: _Name
    owner: _Name = ""


class _ArrowsEnd(_ArrowsBegin, tag="TransformControlsDragEndMessage"):
    pass


class _Saved(_Message, tag="FileTransferPartAck"):
    source_component_uuid: _Name | None
    transfer_uuid: _Name
    transferred_bytes: Annotated[int, Meta(ge=0)]
    total_bytes: Annotated[int, Meta(ge=0)]


_DECODER = msgpack.Decoder(
    _Camera | _Pointer | _Control | _Hold | _Command | _Arrows | _ArrowsBegin | _ArrowsEnd | _Saved
)


class CheckedConnection:
    """A connection to a page that hands over only what a page may send.

    All else is dropped, also a value that its control does not take: the choices may have changed
    since. Who sends too much is heard no more until the second is over. `accepts` says whether a
    control, by its UUID, takes a value; `on_refused` is told what no page should have sent.
    """

    def __init__(
        self,
        connection: ServerConnection,
        accepts: Callable[[str, Value], bool],
        on_refused: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._accepts, self._on_refused = accepts, on_refused
        self._n_heard, self._since_s = 0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """Return the next message; raises ConnectionClosed as that of the connection does."""
        while True:
            await self._rest()
            raw = await self._connection.recv()
            try:
                raw = raw.encode() if isinstance(raw, str) else raw
                message = _DECODER.decode(raw)
            except (MsgspecError, UnicodeError) as error:
                self._on_refused(str(error))
                continue
            if not isinstance(message, _Control) or self._takes(message):
                return raw

    def _takes(self, message: _Control) -> bool:
        return self._accepts(message.uuid, message.updates.value)

    async def _rest(self) -> None:
        now_s = time.monotonic()
        if now_s > self._since_s + 1.0:
            self._n_heard, self._since_s = 0, now_s
        self._n_heard += 1
        if self._n_heard > MOST_PER_S:
            await asyncio.sleep(self._since_s + 1.0 - now_s)


def takes(control: Any, value: Value) -> bool:
    """Return whether one of viser's controls could have been set to a value by hand."""
    if control.disabled:
        return False
    if hasattr(control, "options"):
        return value in control.options
    before = control.value
    if isinstance(before, tuple):
        return isinstance(value, tuple) and len(value) == len(before)
    if isinstance(before, (bool, str)):
        return isinstance(value, type(before))
    if isinstance(value, (bool, str, tuple)):
        return False
    lowest, highest = getattr(control, "min", None), getattr(control, "max", None)
    return (lowest is None or value >= lowest) and (highest is None or value <= highest)
