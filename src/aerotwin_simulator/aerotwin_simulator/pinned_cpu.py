# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The processor of a flight's loop, which one autopilot alone shares.

One processor for both is three times faster than two: the cost of a step is waking the other side.
The autopilots of a fleet have all processors: they compute while the loop prepares the readings of
others.
"""

import os

from aerotwin_core.errors import ParameterError
from aerotwin_simulator.controller_settings import CHOSEN_CPU, NO_CPU
from aerotwin_simulator.parameters import SimulatorParameters


def pinned_cpu(parameters: SimulatorParameters) -> int | None:
    """Return the processor of a flight, None if not pinned; ParameterError if it is not allowed."""
    cpu = parameters.autopilot.pin_cpu
    if cpu == NO_CPU:
        return None
    if cpu == CHOSEN_CPU:
        return _of_instance(parameters.fleet.link_number)
    allowed = sorted(os.sched_getaffinity(0))
    if cpu not in allowed:
        raise ParameterError(
            f"autopilot.pin_cpu: expected one of the processors {allowed}, {CHOSEN_CPU} (chosen by "
            f"instance) or {NO_CPU} (none), found {cpu}"
        )
    return cpu


def _of_instance(instance: int) -> int:
    """Return the automatic choice: from the last allowed processor back by the instance."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1 - instance % len(allowed)]
