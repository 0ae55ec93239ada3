# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The processor that a flight's loop and its autopilots share.

One processor for both is three times faster than two: the cost of a step is waking the other side.
"""

import os

from aerotwin_core.errors import ParameterError
from aerotwin_simulator.parameters import CHOSEN_CPU, NO_CPU, SimulatorParameters


def loop_cpu(parameters: SimulatorParameters) -> int | None:
    """Return the processor of a flight, None if not pinned; ParameterError if it is not allowed."""
    if parameters.pin_cpu == NO_CPU:
        return None
    if parameters.pin_cpu == CHOSEN_CPU:
        return cpu_of_instance(parameters.instance)
    allowed = sorted(os.sched_getaffinity(0))
    if parameters.pin_cpu not in allowed:
        raise ParameterError(
            f"pin_cpu: expected one of the processors {allowed}, {CHOSEN_CPU} (chosen by instance) "
            f"or {NO_CPU} (none), found {parameters.pin_cpu}"
        )
    return parameters.pin_cpu


def cpu_of_instance(instance: int) -> int:
    """Return the automatic choice: from the last allowed processor back by the instance."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1 - instance % len(allowed)]
