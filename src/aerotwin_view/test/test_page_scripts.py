# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Our scripts in a page that is not ours."""

import gzip

import pytest

from aerotwin_view.page_scripts import ScriptedPage, with_element, with_scripts

PAGE = b"<html><head><title>Viser</title></head><body></body></html>"
TITLE = "aerotwin <my bag>"
HTML = {"Content-Type": "text/html; charset=utf-8"}


def test_the_title_is_ours_and_scripts_stand_at_the_end_of_the_head():
    before, script, after = with_scripts(PAGE, TITLE).partition(b"<script>")
    assert before == b"<html><head><title>aerotwin &lt;my bag&gt;</title>"
    assert after.endswith(b"</script></head><body></body></html>") and script


def test_a_page_without_a_head_has_them_at_its_end():
    assert with_scripts(b"<p>x", TITLE).startswith(b"<p>x<script>")


def test_an_element_is_the_last_of_the_body():
    assert with_element(PAGE, b"<p>").endswith(b"<body><p></body></html>")
    assert with_element(b"x", b"<p>") == b"x<p>"


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_they_are_added_to_a_page_once_however_it_is_compressed(encoding):
    scripted = ScriptedPage(TITLE)
    body = gzip.compress(PAGE) if encoding == "gzip" else PAGE
    headers = HTML | {"Content-Encoding": encoding}
    made = scripted.body(headers, body)
    assert (gzip.decompress(made) if encoding == "gzip" else made) == with_scripts(PAGE, TITLE)
    assert scripted.body(headers, body) is made


@pytest.mark.parametrize(
    ("headers", "body"),
    [({"Content-Type": "image/png"}, b"\x89PNG"), (HTML | {"Content-Encoding": "br"}, b"..")],
)
def test_all_else_stays_as_it_is(headers, body):
    assert ScriptedPage(TITLE).body(headers, body) is body
