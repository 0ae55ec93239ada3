# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Foreign text: counts, and what a terminal may get."""

import pytest

from aerotwin_core.foreign_text import listed, printable, shown, whole_number


@pytest.mark.parametrize("text", ["", "-1", "+1", "1_0", " 1", "1.0", "٣", "²", "9" * 19])
def test_what_is_no_count_is_none(text):
    assert whole_number(text) is None


def test_every_int64_of_18_digits_is_a_count():
    assert whole_number("0") == 0
    assert whole_number("9" * 18) == 10**18 - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, äöü 日本", "plain text, äöü 日本"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\nb\rc", r"a\nb\rc"),
        ("\x9b31m", r"\x9b31m"),  # the one-byte form of ESC [
        ("\u202egnp.exe", r"\u202egnp.exe"),  # right-to-left override
        ("\udcff", r"\udcff"),  # a byte of a path that is not UTF-8
    ],
)
def test_what_controls_a_terminal_is_escaped(text, expected):
    assert printable(text) == expected
    assert printable(text).isprintable()


def test_long_text_keeps_its_start_and_its_end():
    text = printable("a" * 1000 + "b" * 1000, 30)
    assert text == "a" * 20 + " … " + "b" * 10


def test_intended_line_breaks_stay():
    assert printable("a\n\x1bb", keep="\n") == "a\n\\x1bb"


def test_a_value_is_shown_with_its_type():
    assert shown([1, "a"]) == "[1, 'a'] (list)"
    assert shown(None) == "None (NoneType)"
    assert len(shown("x" * 10_000)) < 80


def test_a_long_list_is_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(1000)), 3) == "0, 1, 2 and 997 more"
    assert listed([]) == ""
