# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who drives a ground robot of a fleet: velocities from outside, until they cease."""

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_ground_dynamics import VelocityCommand
from aerotwin_px4_bridge.setpoint_stream import Target, VelocityTarget, checked_target
from aerotwin_simulator.controllers.backend import Motors
from aerotwin_simulator.simple_robot import SimpleController


class FleetDriver(SimpleController):
    """The controller of one ground robot; attributes are those of `Backend`.

    It takes velocities ahead and yaw rates: `cmd_vel`, or `command/velocity` in body axes.
    """

    def __init__(self) -> None:
        self.motors = Motors(np.zeros(0))
        self.command = VelocityCommand()
        self._is_new = False
        self.n_commands = 0
        self.progress = self.waypoint = self.failure = None
        self.estimate = self.setpoint = None
        self.is_finished = self.has_end = False

    @property
    def phase(self) -> str:
        """What it does, as text."""
        return "driving" if any(self.command) else "standing"

    def take_news(self) -> bool:
        """Return whether a command came since the last call."""
        is_new, self._is_new = self._is_new, False
        return is_new

    def stop(self) -> None:
        """Stop: no command came for too long."""
        self.command = VelocityCommand()

    def counters(self) -> dict[str, str]:
        """Return values for diagnostics."""
        return {"n_commands": str(self.n_commands)}

    # -- orders from outside -------------------------------------------------------------------

    @property
    def takes_setpoints(self) -> bool:
        """Whether velocities from outside are driven, always."""
        return True

    def set_target(self, target: Target) -> None:
        """Drive a velocity ahead and a yaw rate. Raises ValueError for any other set-point."""
        if not isinstance(target, VelocityTarget) or not target.is_body:
            raise ValueError(
                "a ground robot must get a velocity in its own axes (frame base_link), got a "
                "set-point in map"
            )
        checked = checked_target(target)
        assert isinstance(checked, VelocityTarget)
        self.command = VelocityCommand(float(checked.velocity[0]), float(checked.yaw_rate))
        self._is_new = True
        self.n_commands += 1

    def hold(self) -> None:
        """Stop."""
        self.stop()

    def arm(self, is_armed: bool) -> None:
        """Refuse with UserError, as a ground robot has nothing to arm."""
        self._refuse("arm")

    def take_off(self, height_m: float) -> None:
        """Refuse with UserError."""
        self._refuse("take-off")

    def land(self) -> None:
        """Refuse with UserError."""
        self._refuse("land")

    def return_home(self) -> None:
        """Refuse with UserError."""
        self._refuse("return")

    def resume(self) -> None:
        """Refuse with UserError."""
        self._refuse("resume")

    def _refuse(self, order: str) -> None:
        raise UserError(f"{order}: it is a ground robot; drive it by cmd_vel")
