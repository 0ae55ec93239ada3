# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAV_CMD_INJECT_FAILURE: what is accepted is done, everything else is refused."""

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.injected_failures import SUPPORTED, InjectedFailures
from aerotwin_autopilot.kernel import FIELDS_BARO, FIELDS_IMU, FIELDS_MAG
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.px4_modes import Mode

GROUND = 2
ACCEPTED, DENIED, UNSUPPORTED = 0, 2, 3
ALL_FIELDS = FIELDS_IMU | FIELDS_MAG | FIELDS_BARO
UNITS = {
    name.removeprefix("FAILURE_UNIT_"): number
    for number, entry in common.enums["FAILURE_UNIT"].items()
    if (name := entry.name) != "FAILURE_UNIT_ENUM_END"
}
TYPES = {
    name.removeprefix("FAILURE_TYPE_"): number
    for number, entry in common.enums["FAILURE_TYPE"].items()
    if (name := entry.name) != "FAILURE_TYPE_ENUM_END"
}


class Client:
    """A ground station that sends one command after the other."""

    def __init__(self, flight) -> None:
        self._server = MavlinkServer(flight.autopilot)
        self._encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
        self._parser = common.MAVLink(None)

    def inject(self, unit: int, kind: int, instance: float = 0.0) -> int:
        """Return the result of the command."""
        message = common.MAVLink_command_long_message(
            1, 1, 420, 0, unit, kind, instance, 0, 0, 0, 0
        )
        self._server.on_datagram(GROUND, message.pack(self._encoder))
        datagrams = b"".join(self._server.pop_datagrams(GROUND))
        found = self._parser.parse_buffer(datagrams) or []
        return next(m.result for m in found if m.get_type() == "COMMAND_ACK")


@pytest.fixture
def client(flight):
    flight.modes.settings.set("SYS_FAILURE_EN", 1)
    return Client(flight)


def test_without_the_parameter_nothing_is_accepted(flight):
    assert Client(flight).inject(UNITS["SENSOR_GPS"], TYPES["OFF"]) == DENIED
    flight.step()
    assert "Failure injection denied: SYS_FAILURE_EN is 0" in flight.said


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", TYPES)
def test_every_unit_and_type_is_answered_as_the_table_says(client, unit, kind):
    is_supported = TYPES[kind] in SUPPORTED.get(UNITS[unit], ())
    expected = ACCEPTED if is_supported else UNSUPPORTED
    assert client.inject(UNITS[unit], TYPES[kind]) == expected


def test_an_instance_that_does_not_exist_is_refused(client):
    assert client.inject(UNITS["SENSOR_GPS"], TYPES["OFF"], 2) == UNSUPPORTED
    assert client.inject(UNITS["SYSTEM_MOTOR"], TYPES["OFF"], 5) == UNSUPPORTED
    assert client.inject(UNITS["SYSTEM_MOTOR"], TYPES["OFF"], -1) == UNSUPPORTED


def test_a_receiver_that_is_off_brings_the_vehicle_down_until_it_is_on_again(flight, client):
    flight.take_off()
    assert client.inject(UNITS["SENSOR_GPS"], TYPES["OFF"]) == ACCEPTED
    flight.run(lambda: flight.modes.mode is Mode.LAND, 7.0)
    assert client.inject(UNITS["SENSOR_GPS"], TYPES["OK"]) == ACCEPTED
    flight.run(lambda: "Position regained" in flight.said, 3.0)


def test_a_motor_that_is_off_gets_no_command(flight, client):
    flight.take_off()
    assert client.inject(UNITS["SYSTEM_MOTOR"], TYPES["OFF"], 3) == ACCEPTED
    flight.step()
    outputs = flight.autopilot.outputs
    assert outputs[2] == 0.0
    assert (outputs[[0, 1, 3]] > 0.1).all()
    assert client.inject(UNITS["SYSTEM_MOTOR"], TYPES["OK"]) == ACCEPTED
    assert (flight.autopilot.outputs > 0.1).all()


def test_an_empty_battery_lands(flight, client):
    flight.take_off()
    assert client.inject(UNITS["SYSTEM_BATTERY"], TYPES["OFF"]) == ACCEPTED
    flight.autopilot.on_battery(0.9, 15.0, 10.0)
    flight.run(lambda: flight.modes.mode is Mode.LAND, 1.0)


@pytest.mark.parametrize(
    ("unit", "place"),
    [("SENSOR_GYRO", slice(3, 6)), ("SENSOR_ACCEL", slice(0, 3)), ("SENSOR_MAG", slice(6, 9)),
     ("SENSOR_BARO", slice(9, 12))],
)  # fmt: skip
def test_a_stuck_sensor_repeats_what_it_read_first(unit, place):
    failures, rng = InjectedFailures(4), np.random.default_rng(2)
    assert failures.inject(UNITS[unit], TYPES["STUCK"], 1) == ""
    first, second = rng.standard_normal((2, 13))
    for values in (first.copy(), second.copy()):
        before = values.copy()
        assert failures.changed_sample(values, ALL_FIELDS) == ALL_FIELDS
        np.testing.assert_array_equal(values[place], first[place])
        others = np.ones(13, dtype=bool)
        others[place] = False
        np.testing.assert_array_equal(values[others], before[others])
    failures.inject(UNITS[unit], TYPES["OK"], 0)
    values = second.copy()
    failures.changed_sample(values, ALL_FIELDS)
    np.testing.assert_array_equal(values, second)


@pytest.mark.parametrize(
    ("unit", "bits"), [("SENSOR_MAG", FIELDS_MAG), ("SENSOR_BARO", FIELDS_BARO)]
)
def test_a_sensor_that_is_off_has_no_fields(unit, bits):
    failures = InjectedFailures(4)
    failures.inject(UNITS[unit], TYPES["OFF"], 0)
    assert failures.changed_sample(np.zeros(13), ALL_FIELDS) == ALL_FIELDS & ~bits
