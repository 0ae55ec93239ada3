# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scripts of our own in viser's page, which is one HTML file and has no place for them."""

import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources

_NAMES = "accessible_names.js"
_END_OF_HEAD = b"</head>"
GZIP, IDENTITY = "gzip", "identity"
_LEVEL = 4
"""Of gzip: the page is mostly compressed text, which gets no smaller."""


@cache
def _element() -> bytes:
    """Return the scripts as an element of a page."""
    script = resources.files(__package__).joinpath("scripts", _NAMES).read_bytes()
    return b"<script>" + script + b"</script>"


def with_scripts(page: bytes) -> bytes:
    """Return a page with our scripts at the end of its head, or of all if it has none."""
    before, head, after = page.partition(_END_OF_HEAD)
    return before + _element() + head + after


class ScriptedPage:
    """The served page with the scripts, made once for each way in which it is compressed."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[bytes, bytes]] = {}

    def body(self, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the body of an answer: with the scripts if it is a page that can be read."""
        if not headers.get("Content-Type", "").startswith("text/html"):
            return body
        encoding = headers.get("Content-Encoding", IDENTITY)
        before, after = self._made.get(encoding, (b"", b""))
        if before is body:  # the server sends the same object again and again
            return after
        if encoding == GZIP:
            made = gzip.compress(with_scripts(gzip.decompress(body)), _LEVEL)
        elif encoding == IDENTITY:
            made = with_scripts(body)
        else:
            return body
        self._made[encoding] = body, made
        return made
