# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Signals of a flight over time, and the instants of its events."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aerotwin_simulator.signals import FleetSignals, signals_of
from aerotwin_temporal_logic import Trace

SAMPLE_RATE_HZ = 25.0
"""Of recorded signals, and at which conditions are looked at."""


class SignalHistory:
    """Records the signals of the vehicles with these names at `SAMPLE_RATE_HZ`."""

    def __init__(self, signals: FleetSignals, vehicles: Sequence[str]) -> None:
        self._signals = signals
        self._kinds = {name: signal.kind for name, signal in signals_of(vehicles).items()}
        self._times_s = array("d")
        self._values: dict[str, Any] = {
            name: array("d") if kind == "number" else [] for name, kind in self._kinds.items()
        }

    def record(self, time_s: float) -> None:
        """Record the present instant, unless it is the last one again."""
        if self._times_s and self._times_s[-1] == time_s:
            return
        self._times_s.append(time_s)
        for name, value in self._signals.values(self._kinds).items():
            self._values[name].append(value)

    def trace(self, instants_s: Mapping[str, float | None]) -> Trace:
        """Return what was recorded, with the instants of events (None: it never came)."""
        kinds = {"number": np.float64, "boolean": np.bool_}
        values = {
            name: np.array(self._values[name], dtype=kinds.get(kind))
            for name, kind in self._kinds.items()
        }
        return Trace(times_s=np.array(self._times_s), values=values, events=dict(instants_s))
