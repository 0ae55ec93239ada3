# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Multirotors of a fleet that are computed together: what each would do alone, in fewer calls.

They move, and read the sensors of their controllers, in compiled code; their messages go to the
sinks in blocks. What is rare, or differs between them, each does itself.
"""

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from aerotwin_core.time import Schedule
from aerotwin_multirotor_body.inertial_block import InertialBlock
from aerotwin_multirotor_dynamics.truth_messages import motions
from aerotwin_sensor_models import layout as sensed
from aerotwin_simulator import topics
from aerotwin_simulator.inertial_sensors import SENT
from aerotwin_simulator.robot import Stepped
from aerotwin_simulator.topics import Outlet, OutletBlock, SinkGroup
from aerotwin_simulator.vehicle import SimulatedVehicle

_TRUTH = 8
"""Beside the bits of `aerotwin_sensor_models.layout`: the truth is published."""
_SENSORS = sensed.IMU, sensed.MAGNETOMETER, sensed.BAROMETER


class AlikeVehicles:
    """Steps vehicles of equal `likeness`, from an instant [ns] on."""

    def __init__(
        self, vehicles: Sequence[SimulatedVehicle], sinks: SinkGroup, stamp_ns: int
    ) -> None:
        first = vehicles[0]
        self.robots = tuple(vehicles)
        self._sinks = sinks
        self._block = InertialBlock([vehicle.mover for vehicle in vehicles])
        self._in_step = first.sensors.in_step
        rates_hz = [(_TRUTH, first.parameters.truth_rate_hz)]
        for bit, rate_hz in zip(_SENSORS, first.sensors.rates_hz, strict=True):
            if not self._in_step & bit:
                rates_hz.append((bit, rate_hz))
        self._dues = [(bit, Schedule(rate_hz, stamp_ns)) for bit, rate_hz in rates_hz]
        self._bias_due = Schedule(topics.TRUTH_IMU_BIAS.rate_hz, stamp_ns)
        self._speeds = first.rotor_speeds
        of_sensors = zip(*(vehicle.sensors.outlets for vehicle in vehicles), strict=True)
        of_truth = zip(*(vehicle.truth_outlets.outlets for vehicle in vehicles), strict=True)
        self._outlets = [sinks.block(outlets) for outlets in of_sensors]
        self._truth = [sinks.block(outlets) for outlets in of_truth]
        self._unsent: list[tuple[int, Outlet | OutletBlock, int, np.ndarray]] = []
        """Rank of the topic, as of one alone; where it goes, stamp [ns], numbers."""

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """States of all before and after the step, (n, k); the next one overwrites them."""
        return self._block.before, self._block.after

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move all by one step."""
        for vehicle in self.robots:
            try:
                vehicle.prepare(begin_ns, end_ns)
            except ValueError as error:
                vehicle.leave_model(error)
        self._block.step()
        self._attend()
        return True

    def measure(self) -> None:
        """Read the inertial sensors; each reads its others when it sends them."""
        step = self.robots[0].step
        for vehicle in self.robots:
            vehicle.readings.forget()
        for k, bit in enumerate(_SENSORS):
            if self._in_step & bit:
                self._collect(k, step.end_ns)
        due: dict[int, int] = defaultdict(int)
        for bit, schedule in self._dues:
            for stamp_ns in schedule.until(step.end_ns):
                due[stamp_ns] |= bit
        for stamp_ns in sorted(due):
            self._sample(stamp_ns, due[stamp_ns])

    def _sample(self, stamp_ns: int, due: int) -> None:
        """Read the sensors that are due at an instant within the step, and the truth."""
        step, block = self.robots[0].step, self._block
        for k, bit in enumerate(_SENSORS):
            if due & bit:
                for vehicle in self.robots:
                    vehicle.sensors.tune(k, stamp_ns)
        span_ns = step.end_ns - step.start_ns
        fraction = (stamp_ns - step.start_ns) / span_ns
        block.sample(fraction, span_ns * 1e-9, due & ~_TRUTH)
        self._attend()
        for k, bit in enumerate(_SENSORS):
            if due & bit:
                self._collect(k, stamp_ns)
        if due & _TRUTH and not self._sinks.is_empty:
            parts = *motions(block.states), block.states[:, self._speeds].copy()
            for k, (outlets, part) in enumerate(zip(self._truth, parts, strict=True), 3):
                self._unsent.append((k, outlets, stamp_ns, part))

    def _attend(self) -> None:
        for row in np.flatnonzero(self._block.statuses).tolist():
            self.robots[row].attend(int(self._block.statuses[row]))

    def _collect(self, k: int, stamp_ns: int) -> None:
        """Give the readings of sensor k to the controllers, and later to the sinks."""
        readings, silent = self._block.readings, set()
        for row, vehicle in enumerate(self.robots):
            sensors = vehicle.sensors
            if sensors.faults[k]:
                if not sensors.is_read(k, stamp_ns):
                    silent.add(row)
                    continue
                readings[row] = sensors.unit.readings
            vehicle.readings.note(k, stamp_ns)
        if self._sinks.is_empty:
            return
        values = readings[:, SENT[k]]
        if not silent:
            self._unsent.append((k, self._outlets[k], stamp_ns, values))
            return
        for row, vehicle in enumerate(self.robots):
            if row not in silent:
                self._unsent.append((k, vehicle.sensors.outlets[k], stamp_ns, values[row]))

    def send_readings(self) -> None:
        """Send the readings to the controllers; publish them while those compute."""
        for vehicle in self.robots:
            if not vehicle.has_failed:
                vehicle.measure_alone()
                vehicle.send_readings()
        for _, outlets, stamp_ns, values in sorted(self._unsent, key=itemgetter(0)):
            outlets.publish(stamp_ns, values)
        self._unsent.clear()
        for stamp_ns in self._bias_due.until(self.robots[0].step.end_ns):
            for vehicle in self.robots:
                vehicle.publish_imu_bias(stamp_ns)

    def receive_command(self, end_ns: int) -> None:
        """Receive the answers of the controllers, and check whose flight is over."""
        for vehicle in self.robots:
            vehicle.receive_command(end_ns)


def computed_together(stepped: Sequence[Stepped], sinks: SinkGroup, stamp_ns: int) -> list[Stepped]:
    """Return what steps vehicles from an instant [ns] on: those that are alike in one call."""
    groups: dict[object, list[SimulatedVehicle]] = defaultdict(list)
    for each in stepped:
        if isinstance(each, SimulatedVehicle) and each.likeness is not None:
            groups[each.likeness].append(each)
    found: dict[Stepped, None] = {}
    together = {key: AlikeVehicles(group, sinks, stamp_ns) for key, group in groups.items()}
    for each in stepped:
        key = each.likeness if isinstance(each, SimulatedVehicle) else None
        found[each if key is None else together[key]] = None
    return [*found]
