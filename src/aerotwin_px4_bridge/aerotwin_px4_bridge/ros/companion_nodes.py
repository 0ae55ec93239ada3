# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes `mavros_fleet` and `xrce_agent`: start programs of others, say what is missing."""

from collections.abc import Sequence

from aerotwin_core.ros.lockstep import create_wall_timer
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_px4_bridge.companions import (
    AgentParameters,
    MavrosParameters,
    agent_program,
    mavros_programs,
    missing_messages,
)
from aerotwin_px4_bridge.program import AutopilotProcess

CHECK_S = 0.5


class CompanionNode(ConfiguredNode):
    """Runs programs; it ends with the first of them, and they end with it."""

    _programs: Sequence[AutopilotProcess] = ()

    def _run(self, programs: Sequence[AutopilotProcess]) -> None:
        self._programs = programs
        for program in programs:
            program.start()
            command = " ".join(program.command)
            self.get_logger().info(f"{program.name}: {command}; its log is {program.log_path}")
        create_wall_timer(self, CHECK_S, self._check)

    def _check(self) -> None:
        for program in self._programs:
            program.check()

    def destroy_node(self) -> None:
        """End the programs with the node."""
        for program in self._programs:
            program.stop()
        super().destroy_node()


class MavrosFleetNode(CompanionNode):
    """One MAVROS for each vehicle."""

    def __init__(self) -> None:
        super().__init__("mavros_fleet")
        self._run(mavros_programs(declare_parameters(self, MavrosParameters)))


class XrceAgentNode(CompanionNode):
    """The agent to which every PX4 connects."""

    def __init__(self) -> None:
        super().__init__("xrce_agent")
        parameters = declare_parameters(self, AgentParameters)
        if missing := missing_messages():
            self.get_logger().warning(missing)
        self._run([agent_program(parameters)])


def mavros_fleet() -> int:
    """Run the node `mavros_fleet`."""
    return run_node(MavrosFleetNode)


def xrce_agent() -> int:
    """Run the node `xrce_agent`."""
    return run_node(XrceAgentNode)
