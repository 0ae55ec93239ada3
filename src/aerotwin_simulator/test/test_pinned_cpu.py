# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which processor the loop of a flight has and its autopilots, on a machine of four."""

import os

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_simulator import AutopilotSettings, FleetSettings, SimulatorParameters
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.pinned_cpu import pinned_cpu


@pytest.fixture(autouse=True)
def four_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5, 6, 7})


def test_simulators_beside_each_other_take_different_processors():
    chosen = [pinned_cpu(SimulatorParameters(fleet=FleetSettings(instance=k))) for k in range(5)]
    assert chosen == [7, 6, 5, 4, 7]


def test_autopilots_of_a_fleet_have_all_and_its_loop_one():
    fleet = SimulatorParameters(fleet=FleetSettings(instances=3, instance=1))
    assert {pinned_cpu(plan.parameters) for plan in plan_vehicles(fleet)} == {None}
    assert pinned_cpu(fleet) == 6


def test_a_named_one_is_shared_by_loop_and_fleet():
    settings = AutopilotSettings(pin_cpu=5)
    fleet = SimulatorParameters(fleet=FleetSettings(instances=3), autopilot=settings)
    assert (
        {pinned_cpu(plan.parameters) for plan in plan_vehicles(fleet)} == {pinned_cpu(fleet)} == {5}
    )


def test_one_can_be_named_or_none():
    assert pinned_cpu(SimulatorParameters(autopilot=AutopilotSettings(pin_cpu=5))) == 5
    assert pinned_cpu(SimulatorParameters(autopilot=AutopilotSettings(pin_cpu=-2))) is None


def test_one_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ParameterError, match=r"one of the processors \[4, 5, 6, 7\].* found 2"):
        pinned_cpu(SimulatorParameters(autopilot=AutopilotSettings(pin_cpu=2)))
