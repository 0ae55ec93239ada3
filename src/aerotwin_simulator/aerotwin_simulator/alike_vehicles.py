# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Multirotors of a fleet that are computed together: what each would do alone, in fewer calls.

They move, and read the sensors of their controllers, in compiled code; their messages go to the
sinks in blocks. What is rare, or differs between them, each does itself.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from aerotwin_core.time import Schedule
from aerotwin_multirotor_body.inertial_block import InertialBlock
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.truth_messages import motions
from aerotwin_simulator import topics
from aerotwin_simulator.controllers.alike_autopilots import AlikeAutopilots
from aerotwin_simulator.inertial_sensors import SENT
from aerotwin_simulator.robot import Stepped
from aerotwin_simulator.topics import SinkGroup
from aerotwin_simulator.vehicle import SimulatedVehicle

TOGETHER = 10
"""Vehicles that move before the first of them sends."""
_TRUTH = 3
"""Published after the IMU (0), the magnetometer (1) and the barometer (2)."""


class AlikeVehicles:
    """Steps vehicles of equal `likeness`, from an instant [ns] on.

    Those whose sensors see nothing of the world read and send at once, some vehicles at a time:
    the first autopilots compute while the last vehicles move.
    """

    def __init__(
        self, vehicles: Sequence[SimulatedVehicle], sinks: SinkGroup, stamp_ns: int
    ) -> None:
        first = vehicles[0]
        self.robots = tuple(vehicles)
        self._sees_world = first.sees_world
        self._sinks = sinks
        self._block = InertialBlock([vehicle.mover for vehicle in vehicles])
        in_body_axes = all(vehicle.readings.R_body_imu is None for vehicle in vehicles)
        backends = [vehicle.backend for vehicle in vehicles]
        self._autopilots = AlikeAutopilots(backends, in_body_axes=in_body_axes)
        n = len(vehicles)
        self._looks_ns = np.zeros(n, np.int64)
        """When an estimate is published next, or what the autopilot reports is read."""
        self._idle_ns = np.zeros(n, np.int64)
        """As `SimulatedVehicle.idle_until_ns`."""
        self._faults = [*zip(*(vehicle.sensors.faults for vehicle in vehicles), strict=True)]
        self._all = slice(0, n)
        self._parts = [slice(k, min(k + TOGETHER, n)) for k in range(0, n, TOGETHER)]
        rates_hz = [*enumerate(first.sensors.rates_hz), (_TRUTH, first.parameters.truth_rate_hz)]
        self._in_step = [k for k, _ in rates_hz if first.sensors.in_step & 1 << k]
        self._dues = [
            (k, Schedule(rate_hz, stamp_ns)) for k, rate_hz in rates_hz if k not in self._in_step
        ]
        self._bias_due = Schedule(topics.TRUTH_IMU_BIAS.rate_hz, stamp_ns)
        of_sensors = zip(*(vehicle.sensors.outlets for vehicle in vehicles), strict=True)
        of_truth = zip(*(vehicle.truth_outlets.outlets for vehicle in vehicles), strict=True)
        self._outlets = [sinks.block(outlets) for outlets in of_sensors]
        self._truth = [sinks.block(outlets) for outlets in of_truth]
        self._speeds = first.rotor_speeds
        self._states = np.empty_like(self._block.states)
        self._begin_ns = self._end_ns = stamp_ns
        self._read: dict[int, int] = {}
        """Sensor, or the truth: when it was read in the step [ns]."""
        self._silent: dict[int, set[int]] = defaultdict(set)
        """Sensor: the vehicles for which a fault took the reading away."""

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """States of all before and after the step, (n, k); the next one overwrites them."""
        return self._block.before, self._block.after

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move all by one step; who sees nothing of the world reads and sends, too."""
        self._begin_ns, self._end_ns = begin_ns, end_ns
        self._read = dict.fromkeys(self._in_step, end_ns)
        for k, schedule in self._dues:
            for stamp_ns in schedule.until(end_ns):
                self._read[k] = stamp_ns
        self._silent.clear()
        for rows in self._parts:
            self._move(rows)
            if not self._sees_world:
                self._measure(rows)
                self._send(rows)
        return True

    def _move(self, rows: slice) -> None:
        for vehicle in self.robots[rows]:
            try:
                vehicle.prepare(self._begin_ns, self._end_ns)
            except ValueError as error:
                vehicle.leave_model(error)
        self._block.step(rows)
        self._attend(rows)

    def measure(self) -> None:
        """Read the inertial sensors; each reads its others when it sends them."""
        if self._sees_world:
            self._measure(self._all)

    def _measure(self, rows: slice) -> None:
        due: dict[int, list[int]] = defaultdict(list)
        for k, stamp_ns in self._read.items():
            if k in self._in_step:
                self._collect(k, rows)
            else:
                due[stamp_ns].append(k)
        for stamp_ns in sorted(due):
            self._sample(rows, stamp_ns, due[stamp_ns])

    def _sample(self, rows: slice, stamp_ns: int, due: list[int]) -> None:
        """Read the sensors that are due at an instant within the step, and the truth."""
        sensors = [k for k in due if k != _TRUTH]
        for k in sensors:
            for vehicle in self.robots[rows]:
                vehicle.sensors.tune(k, stamp_ns)
        span_ns = self._end_ns - self._begin_ns
        fraction = (stamp_ns - self._begin_ns) / span_ns
        self._block.sample(rows, fraction, span_ns * 1e-9, sum(1 << k for k in sensors))
        self._attend(rows)
        for k in sensors:
            self._collect(k, rows)
        if _TRUTH in due:
            self._states[rows] = self._block.states[rows]

    def _attend(self, rows: slice) -> None:
        for row in np.flatnonzero(self._block.statuses[rows]).tolist():
            row += rows.start
            self.robots[row].attend(int(self._block.statuses[row]))

    def _collect(self, k: int, rows: slice) -> None:
        """Let faults change the readings of sensor k."""
        for row, faults in enumerate(self._faults[k][rows], rows.start):
            if faults:
                sensors = self.robots[row].sensors
                if sensors.is_read(k, self._read[k]):
                    self._block.readings[row] = sensors.unit.readings
                else:
                    self._silent[k].add(row)

    def send_readings(self) -> None:
        """Send the readings to the controllers; publish them while those compute."""
        if self._sees_world:
            self._send(self._all)
        if not self._sinks.is_empty:
            self._publish()

    def _send(self, rows: slice) -> None:
        left = [*range(rows.start, rows.stop)]
        if not self._silent:
            have_more = self._idle_ns[rows] <= self._end_ns
            have_more |= [vehicle.has_failed for vehicle in self.robots[rows]]
            due = {"has_field": 1 in self._read, "has_pressure": 2 in self._read}
            left = self._autopilots.send(rows, self._end_ns, self._block.readings, have_more, **due)
        for row in left:
            vehicle = self.robots[row]
            if not vehicle.has_failed:
                vehicle.readings.forget()
                for k in self._read.keys() - {_TRUTH}:
                    if row not in self._silent.get(k, ()):
                        vehicle.readings.note(k, self._read[k])
                vehicle.measure_alone()
                vehicle.send_readings()
                self._idle_ns[row] = vehicle.idle_until_ns
        self._autopilots.note_polls(left)

    def _publish(self) -> None:
        """Publish what was read in the step, in the order of topics of one vehicle alone."""
        for k, stamp_ns in sorted(self._read.items()):
            if k == _TRUTH:
                parts = *motions(self._states), self._states[:, self._speeds]
                for outlets, part in zip(self._truth, parts, strict=True):
                    outlets.publish(stamp_ns, part)
                continue
            values = self._block.readings[:, SENT[k]]
            if not self._silent[k]:
                self._outlets[k].publish(stamp_ns, values)
                continue
            for row, vehicle in enumerate(self.robots):
                if row not in self._silent[k]:
                    vehicle.sensors.outlets[k].publish(stamp_ns, values[row])
        for stamp_ns in self._bias_due.until(self._end_ns):
            for vehicle in self.robots:
                vehicle.publish_imu_bias(stamp_ns)

    def receive_command(self, end_ns: int) -> None:
        """Receive the answers of the controllers, and check whose flight is over.

        What autopilots have reported is published before: they compute the answers meanwhile.
        """
        have_crashed = self._block.number(layout.IS_CRASHED) != 0.0
        due = np.flatnonzero(have_crashed | (self._looks_ns <= end_ns)).tolist()
        if self._autopilots.has_client_estimates:
            for row in due:
                self.robots[row].publish_estimate(end_ns)
        have_failed = any(vehicle.has_failed for vehicle in self.robots)
        commands = None if have_failed else self._autopilots.receive(end_ns // 1000)
        if commands is None:
            for vehicle in self.robots:
                vehicle.receive_command(end_ns)
            self._looks_ns[:] = 0
            return
        self._block.command(commands)
        for row in due:
            vehicle = self.robots[row]
            vehicle.check_end()
            # When it stands, or its motors are off, its flight is over.
            is_ending = vehicle.backend.is_finished or vehicle.backend.failure
            next_ns = min(vehicle.next_estimate_ns, self._autopilots.next_poll_ns(row))
            self._looks_ns[row] = end_ns if is_ending else next_ns


def computed_together(stepped: Sequence[Stepped], sinks: SinkGroup, stamp_ns: int) -> list[Stepped]:
    """Return what steps vehicles from an instant [ns] on: those that are alike in one call."""
    groups: dict[object, list[Any]] = defaultdict(list)
    for each in stepped:
        likeness = each.likeness if isinstance(each, SimulatedVehicle) else None
        groups[likeness or each].append(each)
    return [
        first if key is first else AlikeVehicles([first, *others], sinks, stamp_ns)
        for key, (first, *others) in groups.items()
    ]
