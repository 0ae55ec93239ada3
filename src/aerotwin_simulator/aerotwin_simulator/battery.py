# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of a vehicle's battery, once a second."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.messages import battery_state_message, serialize
from aerotwin_core.time import LONGEST_STAMP_NS, Schedule
from aerotwin_multirotor_dynamics import Airframe, layout
from aerotwin_simulator import topics
from aerotwin_simulator.topics import SinkGroup

REPORT_RATE_HZ = 1.0


@dataclass(frozen=True, kw_only=True)
class BatteryReport:
    """State of the battery: remaining charge, 0 to 1; voltage at, current out of the terminals."""

    charge: float
    voltage_v: float
    current_a: float
    cells: int


class BatteryMonitor:
    """Publishes the topic `battery` of a vehicle; silent for an airframe that models none."""

    def __init__(
        self, airframe: Airframe, sinks: SinkGroup, vehicle: str = "", start_ns: int = 0
    ) -> None:
        self._battery = airframe.battery
        self._sinks = sinks
        self._topic = topics.below(vehicle)(topics.BATTERY)
        self._frame = topics.frame(vehicle, "base_link")
        self._due = Schedule(REPORT_RATE_HZ, start_ns)
        self.is_there = airframe.battery.capacity_ah > 0.0

    @property
    def next_ns(self) -> int:
        """When the next report is due [ns]."""
        return self._due.next_ns if self.is_there else LONGEST_STAMP_NS

    def report(self, end_ns: int, state: np.ndarray) -> BatteryReport | None:
        """Return, and publish, a report if one is due by the end of a step."""
        if not self.is_there or not self._due.until(end_ns):
            return None
        report = BatteryReport(
            charge=float(state[layout.BATTERY_CHARGE]),
            voltage_v=float(state[layout.BATTERY_VOLTAGE]),
            current_a=float(state[layout.BATTERY_CURRENT]),
            cells=self._battery.cells,
        )
        if not self._sinks.is_empty:
            message = battery_state_message(
                end_ns,
                self._frame,
                charge=report.charge,
                voltage_v=report.voltage_v,
                current_a=report.current_a,
                capacity_ah=self._battery.capacity_ah,
            )
            self._sinks.publish_cdr(self._topic, end_ns, serialize(message))
        return report
