# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Addresses on servers: where a key is sent, what is carried on, what is shown to users.

A provider such as Google (Photorealistic 3D Tiles) requires the user's ``key`` with every request,
and the ``session`` that the addresses in its root document carry with every request below them.
"""

import re
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

CARRIED = ("key", "session")
"""Query parameters that a document's address hands on to those it refers to."""
_SECRET_NAMES = (
    "key|api[_-]?key|session|(?:access_?|auth_?)?token|sig|signature|"
    "x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)"
)
_SECRET = re.compile(rf"(?i)([?&;](?:{_SECRET_NAMES})=)[^&;#\s'\")]+")
_SECRET_NAME = re.compile(rf"(?i){_SECRET_NAMES}")
_USER = re.compile(r"(?i)(https?://)[^/@\s]+@")
_PORTS = {"http": 80, "https": 443}


def masked(text: str) -> str:
    """Return text with the values of keys, sessions and passwords in addresses replaced.

    Examples
    --------
    >>> masked("https://tiles.org/root.json?key=AIza&session=Cx#top failed")
    'https://tiles.org/root.json?key=***&session=***#top failed'
    """
    return _USER.sub(r"\1***@", _SECRET.sub(r"\1***", text))


def resolved(base: str, reference: str) -> str:
    """Return the absolute address of a reference, without fragment, with the parameters carried on.

    Raises `ValueError` if it is not http or https, or leads from https back to http.
    """
    address = urljoin(base, reference.strip().replace("\\", "/"))
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.hostname or parts.port == 0:
        raise ValueError("expected an http or https address")
    if urlsplit(base).scheme == "https" and parts.scheme == "http":
        raise ValueError("expected https as its document has, found http")
    query = parts.query
    if may_share(base, address):
        for name in CARRIED:
            value = parameter_of(base, name)
            if value and parameter_of(address, name) is None:
                query = _with(query, name, value)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def may_share(base: str, address: str) -> bool:
    """Tell whether secrets of one address may be sent to another: same host and port, no downgrade.

    The step from http to https on the usual ports is no change of host.
    """
    a, b = urlsplit(base), urlsplit(address)
    if a.hostname != b.hostname:
        return False
    ports = tuple(part.port or _PORTS.get(part.scheme, 0) for part in (a, b))
    if a.scheme == b.scheme:
        return ports[0] == ports[1]
    return a.scheme == "http" and ports == (80, 443)


def parameter_of(address: str, name: str) -> str | None:
    """Return the raw value of a query parameter of an address, or None."""
    for item in urlsplit(address).query.split("&"):
        key, _, value = item.partition("=")
        if key == name:
            return value
    return None


def with_parameter(address: str, name: str, value: str) -> str:
    """Return an address with a query parameter; an existing one stays."""
    if parameter_of(address, name) is not None:
        return address
    parts = urlsplit(address)
    return urlunsplit(parts._replace(query=_with(parts.query, name, quote(value, safe=""))))


def without_parameter(address: str, name: str) -> str:
    """Return an address without a query parameter."""
    parts = urlsplit(address)
    items = [item for item in parts.query.split("&") if item.partition("=")[0] != name]
    return urlunsplit(parts._replace(query="&".join(items)))


def without_secrets(address: str) -> tuple[str, tuple[str, ...]]:
    """Return an address as it may be written into a file, and the names of the removed parts.

    Examples
    --------
    >>> without_secrets("https://me:word@tiles.org/root.json?v=2&Access_Token=Cx")
    ('https://tiles.org/root.json?v=2', ('user and password', 'Access_Token'))
    """
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    removed = ["user and password"] if user else []
    retained = []
    for item in re.split("[&;]", parts.query):
        name = unquote(item.partition("=")[0])
        if _SECRET_NAME.fullmatch(name):
            removed.append(name)
        else:
            retained.append(item)
    query = (
        "&".join(retained) if len(retained) < len(re.split("[&;]", parts.query)) else parts.query
    )
    return urlunsplit((parts.scheme, host, parts.path, query, "")), tuple(removed)


def _with(query: str, name: str, value: str) -> str:
    return f"{query}{'&' if query else ''}{name}={value}"
