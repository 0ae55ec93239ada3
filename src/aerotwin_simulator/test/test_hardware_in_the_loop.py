# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight controller at the end of a serial line: here the embedded autopilot, on a pty."""

import sys

import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_px4_bridge import embedded_process, hil_port
from aerotwin_simulator import (
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    SimulatorParameters,
)
from aerotwin_simulator.preflight import check_before_flight

INSTANCE = 87
EMBEDDED = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]


def test_a_flight_controller_on_a_serial_line_is_stepped_and_not_started_or_stopped(
    fly, serial_line, tmp_path
):
    line = serial_line(hil_port(INSTANCE))
    with embedded_process(INSTANCE, tmp_path, command=EMBEDDED) as controller:
        simulation, bag = fly(
            controller=ControllerSettings(kind=line.endpoint),
            speed=1.0,
            fleet=FleetSettings(instance=INSTANCE),
            duration_s=2.0,
        )
        assert simulation.outcome == "2 s are over"
        assert controller.is_running
    counters = simulation.vehicles[0].backend.link.counters
    # At real time a busy machine may let an answer come after its step: late, not lost.
    assert counters.n_answered + counters.n_late == counters.n_sent == 500
    assert counters.n_answered > 450
    assert bag.counts["/imu/data_raw"] == 500
    assert not list((tmp_path / "flight").glob("autopilot_*"))


@pytest.mark.parametrize("changes", [{}, {"speed": 1.0, "mission": MissionSettings(file="a")}])
def test_a_flight_controller_goes_at_real_time_and_takes_commands_elsewhere(changes):
    with pytest.raises(ParameterError, match=r"needs speed 1\.0 and mission\.file none"):
        SimulatorParameters(
            controller=ControllerSettings(kind="serial:/dev/ttyACM0:921600"), **changes
        )


def test_a_wrong_line_is_reported_before_anything_begins():
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="serial:/dev/ttyACM0:12345"), speed=1.0
    )
    with pytest.raises(UserError, match="baud rate 12345 is not known"):
        check_before_flight(parameters)


def test_a_line_that_is_not_there_ends_the_start_at_once(fly):
    with pytest.raises(UserError, match="/dev/no_such_line cannot be opened"):
        fly(
            controller=ControllerSettings(kind="serial:/dev/no_such_line"),
            speed=1.0,
            fleet=FleetSettings(instance=INSTANCE),
        )
