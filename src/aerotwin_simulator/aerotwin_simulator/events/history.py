# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Signals of a flight over time, and the instants of its events."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from aerotwin_simulator.signals import SIGNALS, FlightSignals
from aerotwin_temporal_logic import Trace

SAMPLE_RATE_HZ = 25.0
"""Of recorded signals, and at which conditions are looked at."""


class SignalHistory:
    """Records the signals of one vehicle at `SAMPLE_RATE_HZ`."""

    def __init__(self, signals: FlightSignals) -> None:
        self._signals = signals
        self._times_s: list[float] = []
        self._values: dict[str, list[float | bool | str]] = defaultdict(list)

    def record(self) -> None:
        """Record the present instant, unless it is the last one again."""
        if self._times_s and self._times_s[-1] == self._signals.time_s():
            return
        self._times_s.append(self._signals.time_s())
        for name, value in self._signals.values(SIGNALS).items():
            self._values[name].append(value)

    def trace(self, instants_s: Mapping[str, float | None]) -> Trace:
        """Return what was recorded, with the instants of events (None: it never came)."""
        kinds = {"number": np.float64, "boolean": np.bool_}
        values = {
            name: np.array(self._values[name], dtype=kinds.get(SIGNALS[name].kind))
            for name in SIGNALS
        }
        return Trace(times_s=np.array(self._times_s), values=values, events=dict(instants_s))
