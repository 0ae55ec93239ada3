# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults as the page asks for them, and the events that repeat them."""

import dataclasses

import pytest

from aerotwin_core.parameters import flat_parameters
from aerotwin_faults import KINDS, read_fault_entry
from aerotwin_simulator.events.plan import load_events
from aerotwin_view.injected_faults import (
    HeardFault,
    entry_text,
    events_text,
    fault_lines,
    free_name,
)

GUST = HeardFault(
    name="gust_1",
    kind="gust",
    is_active=True,
    values={"east_m_s": "6.0", "north_m_s": "0.0", "up_m_s": "0.0", "at_s": "12.004",
            "ramp_s": "2.0", "duration_s": "inf", "vehicle": "uav0"},
)  # fmt: skip
BIAS = HeardFault(
    name="imu_bias_1",
    kind="imu_bias",
    is_active=False,
    values={"accelerometer_m_s2": "[0.1, 0.0, 0.0]", "gyroscope_rad_s": "[0.0, 0.0, 0.0]",
            "at_s": "20.0", "ramp_s": "0.0", "duration_s": "3.5", "vehicle": "uav1"},
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_for_as_the_service_takes_it(kind):
    values = {
        name: (field.metadata["minimum"] or 0) if default is dataclasses.MISSING else default
        for name, field, default in flat_parameters(KINDS[kind])
    }
    text = entry_text(kind, {**values, "ramp_s": 0.0, "duration_s": 5.0, "vehicle": ""})
    entry = read_fault_entry(text, where="a test")
    assert isinstance(entry.fault("a test"), KINDS[kind])
    assert entry.duration_s == 5.0 and entry.vehicle == ""


def test_what_was_injected_is_repeated_by_events(tmp_path):
    path = tmp_path / "events.yaml"
    other = dataclasses.replace(GUST, values={**GUST.values, "vehicle": "uav1"})
    path.write_text(events_text([GUST, other, BIAS]))
    gust, bias = load_events(path, vehicles=["uav0", "uav1"])
    assert gust.at_s == 12.004 and gust.action.east_m_s == 6.0 and gust.ramp_s == 2.0
    assert gust.vehicle == "" and gust.duration_s == float("inf")
    assert bias.vehicle == "uav1" and bias.action.accelerometer_m_s2 == (0.1, 0.0, 0.0)
    assert bias.duration_s == 3.5


def test_names_are_free():
    assert free_name("gust", {"gust_1", "gust_3"}) == "gust_2"


def test_those_that_act_are_listed():
    assert [*fault_lines([GUST, BIAS])] == ["gust_1 of uav0 since 12.0 s"]
