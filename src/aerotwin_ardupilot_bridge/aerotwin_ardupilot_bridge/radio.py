# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Radio control of ArduPilot's SITL: positions of sticks as pulses, on its own UDP port.

Its JSON interface takes pulses, too, in versions newer than 4.7.0-dev: send both, they agree.

References: ArduPilot libraries/AP_RCProtocol/AP_RCProtocol_UDP.cpp (packets of 8 or 16 pulses,
which it repeats by itself), ArduCopter/radio.cpp and Parameters.cpp (FS_THR_VALUE 975 us: below it
the radio is lost).
"""

import socket
import struct
from collections.abc import Sequence

from aerotwin_ardupilot_bridge.ports import radio_port
from aerotwin_px4_bridge.hil_extras import stick_pulses_us

N_CHANNELS = 16
PITCH, THROTTLE = 1, 2
LOST_US = 950
"""Throttle of a receiver that has lost its transmitter."""
CENTRE_US = 1500
_PACKET = struct.Struct(f"<{N_CHANNELS}H")


def ardupilot_pulses_us(sticks: Sequence[float]) -> list[int]:
    """Return the pulses [us] of sticks and switches, each in [-1, 1], in ArduPilot's directions.

    The first are roll right, pitch forward, throttle up and yaw right; ArduPilot's pitch grows
    backward. Raises ValueError if there are more than 16, or a value is not finite.

    >>> ardupilot_pulses_us([1.0, 1.0, -1.0, 0.5])
    [2000, 1000, 1000, 1750]
    """
    turned = [-stick if k == PITCH else stick for k, stick in enumerate(sticks)]
    return stick_pulses_us(turned, at_most=N_CHANNELS)


def lost_pulses_us() -> list[int]:
    """Return the pulses of a receiver that has lost its transmitter: ArduPilot's failsafe acts."""
    pulses_us = [CENTRE_US] * N_CHANNELS
    pulses_us[THROTTLE] = LOST_US
    return pulses_us


class RadioSender:
    """Sends pulses to the radio input of ArduPilot number `instance` on the loopback."""

    def __init__(self, instance: int) -> None:
        self._address = "127.0.0.1", radio_port(instance)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, pulses_us: Sequence[int]) -> None:
        """Send pulses [us], 16 at most; ArduPilot repeats them until the next ones."""
        filled = [*pulses_us, *[CENTRE_US] * (N_CHANNELS - len(pulses_us))]
        try:
            self._socket.sendto(_PACKET.pack(*filled), self._address)
        except (BlockingIOError, ConnectionRefusedError):
            return  # it is not there yet, or not any more

    def close(self) -> None:
        """Free the socket."""
        self._socket.close()
