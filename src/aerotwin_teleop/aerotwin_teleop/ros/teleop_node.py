# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `teleop`: keys of a terminal and joysticks in; cmd_vel and services of vehicles out."""

import sys
import time
from contextlib import ExitStack

from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import Joy
from std_msgs.msg import String

from aerotwin_core.cli import say
from aerotwin_core.errors import UserError
from aerotwin_core.ros.lockstep import OVERRIDABLE, create_wall_timer
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import reliable
from aerotwin_teleop.joystick import Joystick
from aerotwin_teleop.key_maps import Formation, Request
from aerotwin_teleop.key_pilot import KeyPilot
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.outgoing import OutgoingMotion
from aerotwin_teleop.parameters import TeleopParameters
from aerotwin_teleop.ros.vehicles import CommandedVehicles
from aerotwin_teleop.status import command_line
from aerotwin_teleop.terminal import StatusScreen, key_by_key, waiting_keys

PERIOD_S, SHOW_EVERY = 0.05, 4
DEPTH = 10


class TeleopNode(ConfiguredNode):
    """Connects a terminal, read key by key from its descriptor, and a joystick to vehicles.

    `parameters`: those of this node if None. `descriptor`: None for no keys.
    """

    def __init__(self, descriptor: int | None, parameters: TeleopParameters | None = None) -> None:
        super().__init__("teleop")
        p = parameters or declare_parameters(self, TeleopParameters)
        if descriptor is None and not p.joy:
            raise UserError("there is no terminal for keys, and joy is false: nothing would steer")
        self._descriptor = descriptor
        self._keys, self._joystick = KeyPilot(p), Joystick(p)
        self._outgoing, self._screen = OutgoingMotion(), StatusScreen()
        self._notice, self._n_ticks = "", 0
        self._vehicles = CommandedVehicles(self, p.vehicles, p.commands_all, self._notify)
        self._publish_formation = self.create_publisher(
            String, "formation/pattern", reliable(DEPTH), qos_overriding_options=OVERRIDABLE
        ).publish
        if p.joy:
            self.create_subscription(
                Joy, "joy", self._on_joy, reliable(DEPTH), qos_overriding_options=OVERRIDABLE
            )
        create_wall_timer(self, PERIOD_S, self._on_tick)

    def destroy_node(self) -> None:
        """Stop what moves by this node, then end it."""
        self._rest()
        self._vehicles.wait_until_received()
        super().destroy_node()

    def _on_tick(self) -> None:
        """Read keys and send the motion; twenty times a second, and ask for news now and then."""
        now_s = time.monotonic()
        if self._descriptor is not None:
            for request in self._keys.on_keys(waiting_keys(self._descriptor), now_s):
                self._on_request(request)
        motion = self._motion(now_s)
        if self._outgoing.is_due(motion, now_s):
            self._vehicles.send(motion)
        if self._n_ticks % SHOW_EVERY == 0:
            self._vehicles.refresh()
            self._show(motion)
        self._n_ticks += 1

    def _motion(self, now_s: float) -> SteeredMotion:
        motion = self._keys.motion(now_s)
        return motion if motion != AT_REST else self._joystick.motion(now_s)

    def _on_joy(self, message: Joy) -> None:
        try:
            state = message.axes.tolist(), message.buttons.tolist()
            for request in self._joystick.on_state(*state, time.monotonic()):
                self._on_request(request)
        except ValueError as error:
            self._notify(f"joy: {error}")

    def _on_request(self, request: Request | Formation) -> None:
        if isinstance(request, Formation):
            self._publish_formation(String(data=request.pattern))
            self._notify(f"formation: {request.pattern}")
            return
        self._keys.stop()
        if request is Request.END:
            raise ExternalShutdownException
        if request is Request.STOP:
            return  # rest is sent as after letting go
        if request is Request.OFFBOARD:
            self._outgoing.is_offboard = True
            self._notify("offboard: rest is sent until another mode is asked for")
            return
        self._rest()
        if request is Request.LEADER_OR_ALL:
            self._notify(self._vehicles.toggle())
        else:
            self._vehicles.request(request)

    def _rest(self) -> None:
        """Send no more motions, a last one of rest if one is still to be sent."""
        if self._outgoing.end(time.monotonic()):
            self._vehicles.stop()

    def _notify(self, notice: str) -> None:
        self._notice = notice

    def _show(self, motion: SteeredMotion) -> None:
        lines = self._vehicles.lines(motion, self._notice)
        self._screen.show(lines, " | ".join(filter(None, [command_line(motion), self._notice])))


def run_teleop(parameters: TeleopParameters | None = None) -> int:
    """Steer until the pilot has had enough; return the exit code.

    With None the parameters are those that the node is started with.
    """
    descriptor = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    if parameters is not None and descriptor is not None:
        say(parameters.key_map.help)
    with ExitStack() as stack:
        if descriptor is not None:
            stack.enter_context(key_by_key(descriptor))
        return run_node(lambda: TeleopNode(descriptor, parameters))


def main() -> None:
    """Run the node."""
    sys.exit(run_teleop())


if __name__ == "__main__":
    main()
