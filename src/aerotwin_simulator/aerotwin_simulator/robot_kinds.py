# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What makes the robots of a simulation, by the parameter `dynamics`: packages add theirs."""

from importlib.metadata import entry_points

from aerotwin_core.errors import ParameterError
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.parameters import MULTIROTOR
from aerotwin_simulator.robot import MakeRobot, SimulatedRobot
from aerotwin_simulator.surroundings import Surroundings
from aerotwin_simulator.vehicle import SimulatedVehicle

GROUP = "aerotwin.robot_kinds"
"""Entry points named as `dynamics`: functions without arguments that return a `MakeRobot`."""


class RobotKinds:
    """Makes the robots of one simulation; those of a kind may share what computes them."""

    def __init__(self) -> None:
        self._makers: dict[str, MakeRobot] = {MULTIROTOR: SimulatedVehicle}

    def make(self, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int) -> SimulatedRobot:
        """Return the robot of a plan, which begins at an instant [ns].

        Raises
        ------
        UserError
            If it cannot be made, or no installed package makes its kind.
        """
        kind = plan.parameters.dynamics
        if kind not in self._makers:
            found = [*entry_points(group=GROUP, name=kind)]
            if not found:
                raise ParameterError(
                    f"dynamics: no installed package makes a {kind}; install "
                    f"aerotwin_{kind.replace('_robot', '')}_simulator"
                )
            self._makers[kind] = found[0].load()()
        return self._makers[kind](plan, surroundings, stamp_ns)
