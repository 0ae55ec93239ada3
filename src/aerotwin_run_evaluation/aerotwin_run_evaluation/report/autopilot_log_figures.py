# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures and table of an autopilot's own log, the same for PX4 and ArduPilot."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core import plots
from aerotwin_core.charts import chart
from aerotwin_core.section import Figure, Table

RATIO_LIMITS = (1e-3, 100.0)
MANY_MESSAGES = 40


def error_figure(
    stamps_s: np.ndarray, error_m: np.ndarray, autopilot: str, ekf: str, key: str
) -> Figure:
    """Return the error (n, 3) [m] of an estimated position in map over time [s]."""
    rows = dict(zip(("east", "north", "up"), error_m.T, strict=True))

    def draw(axes) -> None:
        _draw_lines(axes, {name: (stamps_s, row) for name, row in rows.items()}, lw=1.1)
        axes.set_ylabel(f"{ekf} minus truth [m]")
        axes.legend(ncols=3, loc="best")

    return Figure(
        title=f"{autopilot}'s position error",
        caption="What wanders slowly is the GNSS error; a step is a reset of the filter.",
        svg=chart(f"autopilot-error-{key}", draw, height_in=2.8),
    )


def ratio_figure(ratios: dict[str, tuple[np.ndarray, np.ndarray]], ekf: str, key: str) -> Figure:
    """Return innovations over their gates, over time [s], by what they test."""

    def draw(axes) -> None:
        _draw_lines(axes, ratios, lw=1.0)
        axes.axhline(1.0, color=plots.BAD, lw=1.0, ls="--")
        axes.set_yscale("log")
        axes.set_ylim(*RATIO_LIMITS)
        axes.set_ylabel("innovation test ratio")
        axes.legend(ncols=3, loc="upper right")

    return Figure(
        title=f"{ekf}'s innovation tests",
        caption="Above the dashed line a reading is refused.",
        svg=chart(f"autopilot-ratios-{key}", draw, height_in=2.8),
    )


def motor_figure(stamps_s: np.ndarray, controls: np.ndarray, key: str) -> Figure:
    """Return the commands (motors, n) in [0, 1] over time [s]."""

    def draw(axes) -> None:
        lines = {f"motor {i}": (stamps_s, values) for i, values in enumerate(controls)}
        _draw_lines(axes, lines, lw=0.9)
        axes.set_ylim(0.0, 1.0)
        axes.set_ylabel("command")
        axes.legend(ncols=6, loc="upper right")

    return Figure(
        title="Motor commands",
        caption="At 0 or 1 a motor has no room left for control.",
        svg=chart(f"autopilot-motors-{key}", draw, width_in=plots.WIDE_IN, height_in=2.4),
        is_wide=True,
    )


def _draw_lines(axes, lines: dict[str, tuple[np.ndarray, np.ndarray]], *, lw: float) -> None:
    """Draw values over seconds by name, each in its colour."""
    for (name, line), colour in zip(lines.items(), plots.colours(len(lines)), strict=True):
        axes.plot(*line, color=colour, label=name, lw=lw)
    axes.set_xlabel("simulated time [s]")


def message_table(autopilot: str, messages: Sequence[tuple[float, str, str]]) -> Table:
    """Return what it said: time [s], level, text; the first `MANY_MESSAGES`.

    Where no message has a level there is no column of them.
    """
    shown = messages[:MANY_MESSAGES]
    more = len(messages) - len(shown)
    rows = [(f"{time_s:.2f}", level, text) for time_s, level, text in shown]
    has_levels = any(level for _, level, _ in rows)
    return Table(
        title=f"What {autopilot} said",
        columns=("time [s]", "level", "message") if has_levels else ("time [s]", "message"),
        rows=tuple(rows) if has_levels else tuple((at, text) for at, _, text in rows),
        caption=f"{more} further messages are in the file." if more > 0 else "",
    )
