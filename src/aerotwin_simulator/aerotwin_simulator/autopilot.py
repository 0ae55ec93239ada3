# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot process that the parameters name, and the processor it shares with the loop."""

import os
import sys
from pathlib import Path

from aerotwin_px4_bridge import AutopilotProcess, embedded_process, px4_process
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_worlds import World


def loop_cpu(parameters: SimulatorParameters) -> int | None:
    """Return the processor that loop and autopilot share, None if they are not pinned.

    One processor for both is three times faster than two: the cost of a step is waking the other
    side.
    """
    if parameters.pin_cpu == -2:
        return None
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1] if parameters.pin_cpu == -1 else parameters.pin_cpu


def make_autopilot(parameters: SimulatorParameters, world: World, folder: Path) -> AutopilotProcess:
    """Return PX4 or the embedded autopilot, ready to start; its log goes to the folder.

    Raises
    ------
    UserError
        If PX4 is asked for and its folder holds no built SITL.
    """
    cpu = loop_cpu(parameters)
    if parameters.autopilot == "px4":
        return px4_process(
            Path(parameters.px4_dir or "PX4-Autopilot"),
            parameters.instance,
            folder,
            home=world.origin,
            speed_factor=parameters.speed,
            model=parameters.px4_model,
            cpu=cpu,
        )
    command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
    return embedded_process(parameters.instance, folder, cpu=cpu, command=command)
