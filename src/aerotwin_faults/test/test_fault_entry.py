# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults as people write them, and faults that are ended."""

import math

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_faults import activated, read_fault_entry
from aerotwin_faults.entry import check_name, end_faults

SECOND = 1_000_000_000
TEXT = "{do: gnss_jump, parameters: {east_m: 5.0}, ramp_s: 2.0}"


def active(text=TEXT, begin_s=10):
    entry = read_fault_entry(text, where="jump")
    timing = entry.timing(begin_s * SECOND)
    return activated("jump", entry.fault("jump"), timing, np.random.default_rng(1))


def test_an_entry_is_a_fault_and_its_course():
    entry = read_fault_entry(TEXT, where="jump")
    assert entry.fault("jump").east_m == 5.0
    assert entry.timing(3).begin_ns == 3 and entry.timing(3).duration_s == math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{do: gnss_los}", "jump: no fault 'gnss_los'; did you mean gnss_loss"),
        ("{do: gnss_jump, parameters: {east_m: .inf}}", "east_m"),
        ("{do: gnss_loss, at_s: 5.0}", "at_s"),
        ("{do: gnss_loss, ramp_s: -1.0}", "ramp_s"),
        ("{do: [", "jump: no YAML"),
        ("gnss_loss", "jump"),
        ("", "do"),
    ],
)
def test_what_is_no_fault_is_refused_with_its_name(text, message):
    with pytest.raises(ParameterError, match=message.replace("[", r"\[")):
        read_fault_entry(text, where="jump").fault("jump")


@pytest.mark.parametrize("name", ["", "two words", "a" * 61, "1st", "x\n"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ParameterError, match="is no name"):
        check_name(name, where="set_faults")


def test_a_fault_that_is_ended_goes_as_it_came():
    faults = [active()]
    assert end_faults(faults, "jump", 15 * SECOND)
    levels = [faults[0].moment(int(t * SECOND)) for t in (14.9, 16.0, 17.0)]
    assert levels[0].level == 1.0 and levels[1].level == 0.5 and levels[2] is None
    assert not end_faults(faults, "jump", 16 * SECOND), "it ends already"


def test_a_fault_that_is_ended_while_it_grows_goes_from_where_it_is():
    faults = [active()]
    assert end_faults(faults, "jump", 11 * SECOND)
    assert faults[0].moment(11 * SECOND + SECOND // 2).level == 0.25
    assert faults[0].moment(12 * SECOND) is None


def test_another_fault_goes_on():
    faults = [active()]
    assert not end_faults(faults, "other", 15 * SECOND)
    assert faults[0].moment(100 * SECOND).level == 1.0
