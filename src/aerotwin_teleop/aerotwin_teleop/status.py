# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of vehicles, as lines of text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from aerotwin_core.foreign_text import printable
from aerotwin_teleop.motion import SteeredMotion

MOST_ROWS = 8
_NAME_LETTERS, _TEXT_LETTERS = 16, 40


@dataclass
class VehicleStatus:
    """What a vehicle last said; NaN, "" and none before, when `is_heard` is false.

    `warning` is the last one of its autopilot, however long ago that was. `innovation_ratios` are
    the innovations of its estimator over their gates, by what they test.
    """

    name: str
    phase: str = ""
    mode: str = ""
    is_armed: bool | None = None
    height_m: float = math.nan
    speed_m_s: float = math.nan
    battery_share: float = math.nan
    warning: str = ""
    innovation_ratios: dict[str, float] = field(default_factory=dict)
    is_heard: bool = False

    @property
    def armed(self) -> str:
        """Whether it is armed, in a word; "" if that is not known."""
        return "" if self.is_armed is None else "armed" if self.is_armed else "disarmed"

    def words(self) -> str:
        """Return the state in words.

        >>> VehicleStatus("uav0", mode="HOLD", is_armed=True, height_m=2.51).words()
        'uav0: HOLD, armed, at z 2.5 m by its estimate'
        """
        numbers = (
            (self.height_m, "at z {:.1f} m by its estimate"),
            (self.speed_m_s, "{:.1f} m/s"),
            (100.0 * self.battery_share, "{:.0f} % battery"),
        )
        known = [text.format(value) for value, text in numbers if math.isfinite(value)]
        parts = (printable(self.mode, 12), self.armed, *known, printable(self.phase, _TEXT_LETTERS))
        return f"{self.name or 'vehicle'}: {', '.join(filter(None, parts))}"

    def row(self, *, is_commanded: bool) -> str:
        """Return the line of this vehicle."""
        cells = (
            ">" if is_commanded else " ",
            f"{printable(self.name or '(no namespace)', _NAME_LETTERS):{_NAME_LETTERS}}",
            f"{printable(self.mode, 12):12}",
            f"{self.armed:8}",
            f"{_number(self.height_m, '.1f'):>7} m",
            f"{_number(self.speed_m_s, '.1f'):>5} m/s",
            f"{_number(100.0 * self.battery_share, '.0f'):>4} %",
            f" {printable(self.phase, _TEXT_LETTERS)}",
        )
        return " ".join(cells).rstrip()


def status_lines(
    vehicles: Sequence[VehicleStatus], commanded: set[str], motion: SteeredMotion, notice: str
) -> list[str]:
    """Return the lines of a status: its head, each vehicle, the command and the last notice."""
    if not vehicles:
        return ["no vehicle is heard yet: is a simulation running, without a mission?", notice]
    head = f"  {'vehicle':16} {'mode':12} {'':8} {'map z':>9} {'speed':>9} {'battery':>6}"
    rows = [one.row(is_commanded=one.name in commanded) for one in vehicles[:MOST_ROWS]]
    if len(vehicles) > MOST_ROWS:
        n_more = len(vehicles) - MOST_ROWS
        rows.append(f"  and {n_more} more; {len(commanded)} of {len(vehicles)} are commanded")
    return [head, *rows, command_line(motion), notice]


def command_line(motion: SteeredMotion) -> str:
    """Return a motion in words."""
    forward, left, up, turn = motion
    return f"{forward:+.2f} forward {left:+.2f} left {up:+.2f} up m/s, {turn:+.2f} rad/s"


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "-"
