# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A fault as a person writes it: what it does, on whom, how it grows and how long it lasts."""

import math
from dataclasses import dataclass, replace
from typing import Any

from aerotwin_core.documents import DocumentError, parse_yaml
from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable
from aerotwin_core.origin import Origin
from aerotwin_core.parameters import load_parameters, parameter
from aerotwin_core.time import to_seconds
from aerotwin_faults.fault import ActiveFault, Fault, FaultTiming
from aerotwin_faults.kinds import load_fault

LONGEST_NAME = 60


@dataclass(frozen=True, kw_only=True)
class FaultEntry:
    """A fault, its vehicle and its course in time, but for the beginning."""

    do: str = parameter(text="a fault or weather")
    parameters: dict[str, Any] | None = parameter(None, text="those of what it does")
    ramp_s: float = parameter(
        0.0, text="how long it takes to grow, and to end", unit="s", minimum=0.0, maximum=1e4
    )
    duration_s: float | None = parameter(
        None, text="how long it lasts until it ends; none = to the end of the flight", unit="s",
        minimum=0.0,
    )  # fmt: skip
    vehicle: str = parameter(
        "", text="its name in a fleet; empty = the first one, weather has all of them"
    )

    @property
    def lasting_s(self) -> float:
        """How long it lasts until it ends [s]; infinite if it does not."""
        return math.inf if self.duration_s is None else self.duration_s

    def fault(self, where: str | Origin) -> Fault:
        """Return the fault; `where` begins messages. Raises ParameterError if there is none."""
        place = where.below("parameters") if isinstance(where, Origin) else where
        return load_fault(self.do, self.parameters, where=place)

    def timing(self, begin_ns: int) -> FaultTiming:
        """Return its course from a simulated time on."""
        return FaultTiming(begin_ns=begin_ns, ramp_s=self.ramp_s, duration_s=self.lasting_s)


def check_name(name: Any, *, where: str) -> None:
    """Refuse what is no name of an event or fault; `where` begins the message.

    Raises ParameterError.
    """
    if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST_NAME:
        raise ParameterError(
            f"{where}: '{printable(str(name), LONGEST_NAME)}' is no name; letters, digits "
            f"and _ make one, of {LONGEST_NAME} at most"
        )


def read_fault_entry(text: str, *, where: str) -> FaultEntry:
    """Return the entry of a YAML text, as those of an events file but without its time.

    Raises ParameterError, whose message begins with `where`, if it is none.
    """
    try:
        values = parse_yaml(text)
    except DocumentError as error:
        raise ParameterError(f"{where}: no YAML: {error}") from None
    return load_parameters(FaultEntry, values, where=where)


def ended(fault: ActiveFault, stamp_ns: int) -> ActiveFault:
    """Return a fault that ends from a simulated time [ns] on, as it came."""
    elapsed_s = max(to_seconds(stamp_ns - fault.timing.begin_ns), 0.0)
    duration_s = min(fault.timing.duration_s, elapsed_s)
    return replace(fault, timing=replace(fault.timing, duration_s=duration_s))


def end_faults(faults: list[ActiveFault], name: str, stamp_ns: int) -> bool:
    """End those of a name in a list; return whether one was there that had not ended."""
    found = [k for k, fault in enumerate(faults) if is_going_on(fault, name, stamp_ns)]
    for k in found:
        faults[k] = ended(faults[k], stamp_ns)
    return bool(found)


def is_going_on(fault: ActiveFault, name: str, stamp_ns: int) -> bool:
    """Return whether a fault has a name, has begun and does not end yet."""
    elapsed_s = to_seconds(stamp_ns - fault.timing.begin_ns)
    return fault.name == name and 0.0 <= elapsed_s < fault.timing.duration_s
