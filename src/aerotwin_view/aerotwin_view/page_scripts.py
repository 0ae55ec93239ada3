# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scripts of our own in viser's page, which is one HTML file and has no place for them."""

import gzip
import html
from collections.abc import Mapping
from functools import cache
from importlib import resources

_SCRIPTS = ("accessible_names.js", "sections.js")
_END_OF_HEAD, _END_OF_BODY, _TITLE = b"</head>", b"</body>", b"<title>Viser</title>"
GZIP, IDENTITY = "gzip", "identity"
_LEVEL = 4
"""Of gzip: the page is mostly compressed text, which gets no smaller."""


@cache
def _element() -> bytes:
    """Return the scripts as elements of a page."""
    folder = resources.files(__package__).joinpath("scripts")
    scripts = (folder.joinpath(name).read_bytes() for name in _SCRIPTS)
    return b"".join(b"<script>" + script + b"</script>" for script in scripts)


def with_scripts(page: bytes, title: str) -> bytes:
    """Return a page with our title, and our scripts at the end of its head, or of all without."""
    before, head, after = page.partition(_END_OF_HEAD)
    own = b"<title>" + html.escape(title).encode("utf-8", "replace") + b"</title>"
    return before.replace(_TITLE, own, 1) + _element() + head + after


def with_element(page: bytes, element: bytes) -> bytes:
    """Return a page with one more element at the end of its body."""
    before, body, after = page.rpartition(_END_OF_BODY)
    return before + element + body + after if body else page + element


class ScriptedPage:
    """The served page with title and scripts, made once for each way in which it is compressed."""

    def __init__(self, title: str) -> None:
        self._title = title
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
            made = gzip.compress(with_scripts(gzip.decompress(body), self._title), _LEVEL)
        elif encoding == IDENTITY:
            made = with_scripts(body, self._title)
        else:
            return body
        self._made[encoding] = body, made
        return made
