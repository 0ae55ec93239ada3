# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fail-safe actions: low battery, loss of the ground station. In simulated time."""

import math

from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings

SIMULATED_FLOOR = 0.5
"""Lower limit of the charge of an unreported battery (as PX4's SIM_BAT_MIN_PCT)."""
LINK_ACTIONS = {1: Mode.HOLD, 2: Mode.RETURN, 3: Mode.LAND}
FAINT_WARNING, RETURN_HOME = 1, 2


class FailsafeBattery:
    """The charge: as reported on the HIL link, else simulated from the armed time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reported_share = math.nan
        self._reported_at = -math.inf
        self.voltage_v = math.nan
        self.current_a = math.nan
        self.armed_s = 0.0

    def report(self, share: float, voltage_v: float, current_a: float, time_s: float) -> None:
        """Store a report; one with a share outside [0, 1] is ignored."""
        if 0.0 <= share <= 1.0:
            self._reported_share, self._reported_at = share, time_s
            self.voltage_v, self.current_a = voltage_v, current_a

    def share(self, time_s: float) -> float:
        """Return the charge left, 0 to 1; the last report remains valid without new ones."""
        if math.isfinite(self._reported_share):
            return self._reported_share
        drained = (1.0 - SIMULATED_FLOOR) * self.armed_s / self._settings.values.battery_time_s
        return max(SIMULATED_FLOOR, 1.0 - drained)


class Failsafe:
    """Watches battery and ground station; each step of severity acts once."""

    def __init__(self, settings: Settings, battery: FailsafeBattery) -> None:
        self._settings = settings
        self._battery = battery
        self._severity = 0
        self._station_at = math.nan
        self._has_acted_on_link = False

    def on_ground_station(self, time_s: float) -> None:
        """Record a heartbeat of a ground station."""
        self._station_at = time_s
        self._has_acted_on_link = False

    def restart(self) -> None:
        """Reset at arming."""
        self._severity = 0
        self._has_acted_on_link = False

    def refusals(self, time_s: float) -> list[str]:
        """Return the reasons against arming."""
        share = self._battery.share(time_s)
        if share < self._settings.values.battery_low_share:
            return [
                f"battery low ({share:.0%}, limit {self._settings.values.battery_low_share:.0%})"
            ]
        return []

    def act(self, time_s: float) -> tuple[Mode | None, str]:
        """Return the mode to fall back to, if any, and a text for the pilot."""
        mode, text = self._watch_battery(time_s)
        return (mode, text) if text else self._watch_link(time_s)

    def _watch_battery(self, time_s: float) -> tuple[Mode | None, str]:
        s, share = self._settings.values, self._battery.share(time_s)
        severity = sum(
            share < limit
            for limit in (s.battery_low_share, s.battery_critical_share, s.battery_emergency_share)
        )
        if severity <= self._severity:
            return None, ""
        self._severity = severity
        tokens = ("", "low", "critical", "at its end")[severity]
        if severity == FAINT_WARNING or s.low_battery_action == 0:
            return None, f"Battery {tokens} ({share:.0%})"
        if severity == RETURN_HOME and s.low_battery_action == 3:
            return Mode.RETURN, f"Battery {tokens} ({share:.0%}): returning"
        return Mode.LAND, f"Battery {tokens} ({share:.0%}): landing"

    def _watch_link(self, time_s: float) -> tuple[Mode | None, str]:
        s = self._settings.values
        is_lost = time_s - self._station_at > s.link_timeout_s  # False without any heartbeat
        if not is_lost or self._has_acted_on_link or s.link_loss_action not in LINK_ACTIONS:
            return None, ""
        self._has_acted_on_link = True
        mode = LINK_ACTIONS[s.link_loss_action]
        return mode, f"Ground station lost: {mode.name.lower()}"
