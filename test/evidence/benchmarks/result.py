# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One benchmark's figure, and the machine it was measured on."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A measured figure beside what it is compared with.

    Attributes
    ----------
    name, unit : str
    value : float or None
        What was measured; None when what it measures is not installed.
    goal : float or None
        The least ratio that counts as met; None states no goal.
    peer : str
        What the ratio is to.
    peer_value : float or None
        Measured in the same run; None when the peer is not installed.
    ratio : float or None
        How many times better than the peer.
    """

    name: str
    unit: str
    value: float | None
    goal: float | None
    peer: str
    peer_value: float | None
    ratio: float | None

    @classmethod
    def beside(
        cls,
        name: str,
        unit: str,
        value: float | None,
        *,
        peer: str,
        peer_value: float | None,
        goal: float | None = None,
    ) -> "Benchmark":
        """Return a time, a size or an error, of which less is better, beside its peer's."""
        return cls(
            name=name,
            unit=unit,
            value=value,
            goal=goal,
            peer=peer,
            peer_value=peer_value,
            ratio=peer_value / value if value and peer_value is not None else None,
        )

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is met; None without goal or without peer."""
        if self.goal is None or self.ratio is None:
            return None
        return self.ratio >= self.goal

    def record(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "goal": self.goal,
            "met": self.is_met,
            "peer": self.peer,
            "peer_value": self.peer_value,
            "ratio": self.ratio,
            "machine": machine(),
        }


def machine() -> dict[str, Any]:
    """Return processor, number of cores and load average."""
    names = [
        line.partition(":")[2].strip()
        for line in _read("/proc/cpuinfo").splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "n_cpus": len(os.sched_getaffinity(0)),
        "load_average_1min": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def _read(path: str) -> str:
    file = Path(path)
    return file.read_text(encoding="utf-8") if file.is_file() else ""
