# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients of a fleet are polled at different steps, from whenever they begin."""

from collections import Counter
from types import SimpleNamespace

import pytest

from aerotwin_simulator.controllers.commanded_autopilot import CommandedAutopilot

STEP_NS, N = 4_000_000, 100


class Client:
    def __init__(self):
        self.link = self
        self.polled_ns = []

    def delay(self, delay_s):
        pass

    def poll(self, stamp_ns):
        self.polled_ns.append(stamp_ns)


def autopilot(number):
    fleet = SimpleNamespace(instance=number, link_number=7)
    parameters = SimpleNamespace(
        fleet=fleet, mission=SimpleNamespace(landing_ends_flight=False)
    )  # fmt: skip
    setup = SimpleNamespace(
        parameters=parameters, airframe=SimpleNamespace(rotors=()), mission=None, link_faults=()
    )  # fmt: skip
    one = CommandedAutopilot(setup, None, most_sticks=0)
    one.client = Client()
    return one


@pytest.mark.parametrize("begin_ns", [0, 60_000_000_000, 61_236_000_000])
def test_polls_are_spread_over_the_steps_also_after_a_reset(begin_ns):
    fleet = [autopilot(number) for number in range(N)]
    for k in range(1, 101):
        for one in fleet:
            one.poll_client(begin_ns + k * STEP_NS)
    polls = [stamp for one in fleet for stamp in one.client.polled_ns]
    late = Counter(stamp for stamp in polls if stamp > begin_ns + 200_000_000)
    assert set(late.values()) == {N // 5}  # each is polled at every fifth step
    firsts = Counter(one.client.polled_ns[0] for one in fleet)
    assert set(firsts.values()) == {N // 25}  # what is requested then comes at different steps
    for one in fleet:
        gaps = {b - a for a, b in zip(one.client.polled_ns, one.client.polled_ns[1:], strict=False)}
        assert gaps == {20_000_000}


def test_the_first_of_a_fleet_is_polled_at_the_first_step():
    one = autopilot(0)
    assert one.poll_client(STEP_NS)
    assert not one.poll_client(2 * STEP_NS)
