# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot process selected by the node's parameters."""

import importlib.util
from pathlib import Path

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.process import AutopilotProcess, embedded_process, px4_process
from aerotwin_px4_bridge.px4_files import read_px4_parameters
from aerotwin_px4_bridge.ros.parameters import BridgeParameters

EMBEDDED_MODULE = "aerotwin_autopilot.embedded_autopilot"


def make_autopilot(parameters: BridgeParameters) -> AutopilotProcess | None:
    """Return the process of the autopilot, not yet started; None for an external one.

    Raises
    ------
    UserError
        If it does not exist, or a file of parameters is wrong.
    """
    folder = Path(parameters.run_folder)
    if parameters.autopilot == "embedded":
        if importlib.util.find_spec(EMBEDDED_MODULE.partition(".")[0]) is None:
            raise UserError(
                "autopilot embedded: package aerotwin_autopilot is not on PYTHONPATH; build it "
                "and source the workspace, or set autopilot to px4 or external"
            )
        command = python_command("-m", EMBEDDED_MODULE)
        return embedded_process(parameters.instance, folder, command=command)
    if parameters.autopilot == "px4":
        return px4_process(
            Path(parameters.px4_dir or "PX4-Autopilot"),
            parameters.instance,
            folder,
            home=parameters.origin,
            gnss_delay_s=parameters.gnss_delay_s,
            parameters=read_px4_parameters(parameters.px4_parameters),
            model=parameters.px4_model,
        )
    return None
