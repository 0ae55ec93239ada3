# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Patterns from outside: the same matches as Python's `re`, and never its backtracking."""

import random
import re

import pytest

from aerotwin_simulation_interfaces.posix_regex import MAX_PATTERN, PatternError, PosixRegex

PIECES = ["a", "b", "(", ")", "|", "[ab]", "[^a]", ".", "^", "$", "*", "+", "?", "{2}", "{1,3}"]
STACKED = re.compile(r"[*+?}][*+?{]")  # lazy or possessive in Python, plain repetitions in POSIX


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^uav[0-9]+$", "uav12", "uav"),
        ("[[:alpha:]_]+[[:digit:]]{2}", "robot_07", "robot7"),
        ("^(left|right)(_wheel)?$", "left_wheel", "left_arm"),
        (r"a\.b", "a.b", "acb"),
        ("[]x]", "]", "y"),
        ("^a{0}b$", "b", "ab"),
        ("^[^[:space:]]*$", "ab", "a b"),
        ("^(ab?){2,}$", "abab", "ab"),
        ("^a{2}{2}$", "aaaa", "aaa"),
    ],
)
def test_a_pattern_matches_what_posix_says(pattern, matching, other):
    regex = PosixRegex(pattern)
    assert regex.search(matching)
    assert not regex.search(other)


def test_random_patterns_agree_with_an_independent_implementation():
    rng = random.Random(5)
    n_compared = 0
    for _ in range(3000):
        pattern = "".join(rng.choices(PIECES, k=rng.randint(1, 7)))
        if STACKED.search(pattern):
            continue
        try:
            ours, theirs = PosixRegex(pattern), re.compile(pattern)
        except (PatternError, re.error):
            continue
        for _ in range(5):
            text = "".join(rng.choices("abc", k=rng.randint(0, 6)))
            assert ours.search(text) == bool(theirs.search(text)), (pattern, text)
            n_compared += 1
    assert n_compared > 1000


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)", "[", "[a", "*", "a|*", "a{", "a{2", "a{3,1}", "a{999}", "\\", "[[:no:]]",
     "[b-a]", "a" * (MAX_PATTERN + 1), "(" * 200 + ")" * 200, "((((a{255}){255}){255}){255})"],
)  # fmt: skip
def test_a_wrong_or_too_large_pattern_is_refused(pattern):
    with pytest.raises(PatternError):
        PosixRegex(pattern)


def test_a_pattern_that_makes_backtracking_explode_ends():
    regex = PosixRegex("^(a+)+(b|a*)*$")
    assert regex.search("a" * 300)
    assert not regex.search("a" * 300 + "c")
