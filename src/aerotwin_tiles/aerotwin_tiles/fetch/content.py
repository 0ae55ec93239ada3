# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Check content for completeness by its own headers, and unpack compressed content."""

import codecs
import re
import struct
import zlib

_GZIP = b"\x1f\x8b\x08"
_LENGTH_AT_8 = (b"b3dm", b"i3dm", b"pnts", b"cmpt", b"glTF")
"""Magics of 3D Tiles 1.0 content and of glTF 2.0: the whole length is the uint32 at byte 8."""
_SUBTREE = b"subt"
_BLANKS = b" \t\r\n\0"
_JSON_OBJECT = re.compile(r"\ufeff?[ \t\r\n]*\{[ \t\r\n]*(?:$|[\"}])")
_LOOKED_AT_BYTES = 64


class UnpacksToMore(ValueError):
    """Packed content is larger than its limit."""


def missing_part(data: bytes) -> str:
    """Return as text what content lacks by its own header; empty if nothing is known to be missing.

    A server that states too small a length cuts a file without any protocol noticing: the lengths
    in the headers of 3D Tiles content, glTF and subtrees, and the last brace of JSON, reveal it.

    Examples
    --------
    >>> missing_part(b'{"asset": {"version": "1.1"}, "root"')
    'JSON without its end'
    >>> missing_part(b"no header that is known")
    ''
    """
    if data[:4] in _LENGTH_AT_8 and len(data) >= 12:
        declared = struct.unpack_from("<I", data, 8)[0]
    elif data[:4] == _SUBTREE and len(data) >= 24:
        declared = 24 + sum(struct.unpack_from("<2Q", data, 8))
    elif _begins_as_json(data):
        return "" if data.rstrip(_BLANKS).endswith(b"}") else "JSON without its end"
    else:
        return ""
    return f"its header says {declared} bytes" if declared > len(data) else ""


def _begins_as_json(data: bytes) -> bool:
    """Tell whether data begins as an object of JSON; a first byte 0x7B alone may be of a number."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(
            data[:_LOOKED_AT_BYTES].rstrip(_BLANKS)
        )
    except UnicodeDecodeError:
        return False
    is_text = all(character >= " " or character in "\t\r\n" for character in text)
    return is_text and _JSON_OBJECT.match(text) is not None


def unpacked(data: bytes, *, max_bytes: int) -> bytes:
    """Return gzip content unpacked, and any other as it is.

    Some tilers store every tile packed and rely on the server's headers; folders have none. Raises
    `ValueError` if it is packed and broken, `UnpacksToMore` if it has more than ``max_bytes``.
    """
    if not data.startswith(_GZIP):
        return data
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"gzip data is broken ({error})") from None
    if len(content) > max_bytes:
        raise UnpacksToMore(f"expected at most {max_bytes} bytes, it unpacks to more")
    if not unpacker.eof:
        raise ValueError("gzip data ends too early")
    return content
