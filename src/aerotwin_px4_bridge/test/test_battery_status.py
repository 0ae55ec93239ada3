# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_px4_bridge.battery_status import pack_battery_status

ROUNDING_V = 2e-3  # a millivolt per cell, halved, times four cells


def test_pymavlink_reads_charge_voltage_and_current():
    frame = pack_battery_status(0.42, 15.1, 12.34, cells=4)
    message = mavlink.MAVLink(None).parse_buffer(frame)[0]
    assert message.get_type() == "BATTERY_STATUS"
    cells = [v for v in message.voltages if v != 65535]
    assert len(cells) == 4
    assert sum(cells) * 1e-3 == pytest.approx(15.1, abs=ROUNDING_V)
    assert message.current_battery == 1234
    assert message.battery_remaining == 42
    assert message.get_srcComponent() == 200


def test_more_than_ten_cells_still_add_up():
    message = mavlink.MAVLink(None).parse_buffer(pack_battery_status(1.0, 50.4, 0.0, cells=12))[0]
    assert sum(message.voltages) * 1e-3 == pytest.approx(50.4, abs=10 * 0.5e-3)


@pytest.mark.parametrize("values", [(float("nan"), 15.0, 0.0), (0.5, 15.0, 1e6)])
def test_what_is_not_finite_or_does_not_fit_is_refused(values):
    with pytest.raises(ValueError, match=r"battery|BATTERY_STATUS"):
        pack_battery_status(*values, cells=4)
