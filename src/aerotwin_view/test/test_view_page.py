# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may open the page, and connect to it."""

import asyncio
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests
import viser
import websockets
from websockets.exceptions import InvalidStatus

from aerotwin_core.errors import UserError
from aerotwin_view import open_page

PROTOCOL = websockets.Subprotocol(f"viser-v{viser.__version__}")


@pytest.fixture
def address() -> Iterator[str]:
    page, address = open_page("a page", port=18090)
    yield address
    page.stop()


@pytest.fixture
def outside() -> Iterator[str]:
    """Return the address of a page that listens on all addresses."""
    page, address = open_page("a page", host="0.0.0.0", port=18190)
    yield address
    page.stop()


def _connects(address: str, origin: str | None, cookie: str = "") -> bool:
    """Return whether a connection is accepted and served; False if it is refused."""

    async def connect() -> bool:
        place = urlsplit(address)
        url = f"ws://{place.netloc}/?{place.query}"
        headers = {"Cookie": cookie} if cookie else {}
        try:
            async with websockets.connect(
                url,
                origin=None if origin is None else websockets.Origin(origin),
                subprotocols=[PROTOCOL],
                additional_headers=headers,
                max_size=None,
            ) as connection:
                return bool(await asyncio.wait_for(connection.recv(), 20.0))
        except InvalidStatus as refused:
            return refused.response.status_code != 403

    return asyncio.run(connect())


def test_the_page_is_served_on_loopback_and_needs_nothing_from_elsewhere(address):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    answer = requests.get(address, timeout=20.0)
    assert answer.ok and "<html" in answer.text[:500].lower()
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_its_own_page_connects(address):
    assert _connects(address, address.rstrip("/"))


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "file://", None]
)
def test_a_page_of_a_stranger_does_not_connect(address, origin):
    assert not _connects(address, origin)


def test_a_name_that_a_stranger_points_here_is_refused(address):
    answer = requests.get(address, headers={"Host": "evil.example:18090"}, timeout=20.0)
    assert answer.status_code == 403 and answer.text == "refused: it is for another host\n"


def test_beyond_loopback_the_token_is_needed_for_page_and_connection(outside):
    bare = outside.partition("?")[0]
    assert requests.get(bare, timeout=20.0).status_code == 403
    assert requests.get(f"{bare}?token=wrong", timeout=20.0).status_code == 403
    opened = requests.get(outside, timeout=20.0)
    assert opened.ok
    cookie = opened.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    origin = bare.rstrip("/")
    assert not _connects(bare, origin)
    assert not _connects(bare, origin, "aerotwin_view=wrong")
    assert _connects(bare, origin, cookie.partition(";")[0])


def test_two_pages_take_ports_of_their_own(address):
    page, other = open_page("another", port=18090)
    page.stop()
    assert other != address


def test_no_page_opens_a_way_to_the_outside(address):
    page, _ = open_page("another", port=18090)
    assert page.request_share_url() is None
    page.stop()


def test_an_address_of_another_machine_is_refused_at_once():
    with pytest.raises(UserError, match=r"--host 192\.0\.2\.1: .* expected an address of this"):
        open_page("a page", host="192.0.2.1")
