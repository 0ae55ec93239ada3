# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""BATTERY_STATUS (147): the simulated battery's periodic report to an autopilot.

Reference: MAVLink common.xml, message 147, MAV_BATTERY_TYPE, MAV_BATTERY_FUNCTION.
"""

from math import isfinite

from aerotwin_px4_bridge.mavlink2 import BATTERY_STATUS, KNOWN, pack_frame
from aerotwin_px4_bridge.messages import SIMULATOR_COMPONENT_ID, SIMULATOR_SYSTEM_ID

_UNKNOWN_CELL_MV, _UNKNOWN_TEMPERATURE, _UNKNOWN = 65535, 32767, -1
_ALL, _LITHIUM_POLYMER = 1, 1
_MOST_CELLS = 10


def battery_payload(charge: float, voltage_v: float, current_a: float, *, cells: int) -> bytes:
    """Return the payload of a BATTERY_STATUS.

    The charge is the remaining share, 0 to 1; voltage and current are at the terminals. The voltage
    is divided among `cells` in series, ten at most. Raises ValueError if a value is not finite or
    does not fit its field.
    """
    if not isfinite(charge + voltage_v + current_a):
        raise ValueError(f"battery must be finite, got {charge}, {voltage_v} V, {current_a} A")
    n_cells = min(cells, _MOST_CELLS)
    cell_mv = round(1e3 * voltage_v / n_cells)
    unused = [_UNKNOWN_CELL_MV] * (_MOST_CELLS - n_cells)
    return KNOWN[BATTERY_STATUS].pack(
        _UNKNOWN, _UNKNOWN, _UNKNOWN_TEMPERATURE, *[cell_mv] * n_cells, *unused,
        round(100.0 * current_a), 0, _ALL, _LITHIUM_POLYMER, round(100.0 * charge), *[0] * 8,
    )  # fmt: skip


def pack_battery_status(charge: float, voltage_v: float, current_a: float, *, cells: int) -> bytes:
    """Return a BATTERY_STATUS frame of the simulator, with values as in `battery_payload`."""
    return pack_frame(
        BATTERY_STATUS,
        battery_payload(charge, voltage_v, current_a, cells=cells),
        system_id=SIMULATOR_SYSTEM_ID,
        component_id=SIMULATOR_COMPONENT_ID,
    )
