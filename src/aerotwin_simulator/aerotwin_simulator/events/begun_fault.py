# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A fault begins at vehicles: by an event, or by a client that asks for the same."""

from collections.abc import Iterable

from aerotwin_core.seeds import seed_sequence
from aerotwin_faults import Fault, FaultTiming, activated
from aerotwin_simulator.robot import SimulatedRobot


def begin_fault(
    robots: Iterable[SimulatedRobot], name: str, fault: Fault, timing: FaultTiming
) -> None:
    """Begin a fault; what is random in it follows from the seed of each robot and the name."""
    for robot in robots:
        own = robot.parameters
        rng = seed_sequence(own.seed, own.fleet.instance, f"event {name}")
        robot.faults.add(activated(name, fault, timing, rng))
