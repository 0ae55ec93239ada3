# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on PX4's own ULog, against truth."""

from typing import Any

import numpy as np

from aerotwin_core import plots
from aerotwin_core.charts import chart
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.rms import rms
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.trajectory import Trajectory
from aerotwin_px4_bridge.ulog import PX4Log

RATIO_TOPIC = "estimator_innovation_test_ratios"
TOPICS = ("vehicle_local_position", RATIO_TOPIC, "actuator_motors")
"""Topics of a log that the section reads."""
RATIOS = {
    "GNSS position": ("gps_hpos[0]", "gps_hpos[1]", "gps_vpos"),
    "GNSS velocity": ("gps_hvel[0]", "gps_hvel[1]", "gps_vvel"),
    "vision position": ("ev_hpos[0]", "ev_hpos[1]", "ev_vpos"),
    "barometer": ("baro_vpos",),
    "heading": ("heading",),
    "magnetic field": ("mag_field[0]", "mag_field[1]", "mag_field[2]"),
}
"""Fields of the topic by what they test; 1 is the gate beyond which EKF2 refuses a reading."""
UNTESTED = 1e6
"""EKF2 leaves huge or undefined numbers where it tested nothing."""
RATIO_LIMITS = (1e-3, 100.0)
MANY_MESSAGES = 40
_MICROSECOND_NS = 1000
POSITION_FIELDS = ("x", "y", "z", "xy_global", "ref_lat", "ref_lon", "ref_alt")


def px4_log_section(
    log: PX4Log,
    truth: Trajectory,
    plane: LocalTangentPlane,
    vehicle: str = "",
    number: int = 0,
) -> Section:
    """Return the section on one ULog.

    `log`: from `aerotwin_px4_bridge.ulog.read_ulog`. `truth`: of the same vehicle in map; PX4's
    clock is the simulated time. `plane`: of the map. `vehicle`: its name in a fleet. `number`:
    index of the log, from 0: PX4 starts one at each arming.
    """
    name = "_".join(["px4_log", *filter(None, [vehicle]), *([str(number + 1)] if number else [])])
    of_which = "".join(
        f", {part}" for part in (vehicle, f"log {number + 1}" * bool(number)) if part
    )
    metrics: dict[str, Any] = {"file": log.path.name, "n_messages": len(log.messages)}
    headline, figures = [], []
    error = _position_error(log, truth, plane)
    if error is not None:
        stamps_s, error_m = error
        distance = np.linalg.norm(error_m, axis=1)
        rms_m = rms(distance)
        metrics["estimate_error_m"] = {"rms": rms_m, "max": float(distance.max())}
        headline.append(
            Headline(
                label=f"PX4's estimate{of_which}",
                value=f"{rms_m:.2f}",
                unit="m RMS",
                meaning="position of EKF2 against truth over the whole log",
            )
        )
        figures.append(_error_figure(stamps_s, error_m, log.path.stem))
    ratios = _ratios(log)
    if ratios:
        metrics["innovation_tests"] = {
            name: {
                "median_ratio": float(np.median(values)),
                "refused_share": float(np.mean(values > 1.0)),
            }
            for name, (_, values) in ratios.items()
        }
        figures.append(_ratio_figure(ratios, log.path.stem))
    motors = _motors(log)
    if motors is not None:
        figures.append(_motor_figure(*motors, log.path.stem))
    return Section(
        title=f"PX4's own log{of_which}",
        name=name,
        text=(
            "From the ULog that PX4 wrote; the file lies in the run folder and opens in Flight "
            "Review and PlotJuggler. Its clock is the simulated time. The position is EKF2's, "
            "moved into map through its own reference point; test ratios above 1 are readings that "
            f"EKF2 refused.{_missing_text(log)}"
        ),
        headline=tuple(headline),
        figures=tuple(figures),
        tables=(_message_table(log),) if log.messages else (),
        metrics=metrics,
    )


def _position_error(
    log: PX4Log, truth: Trajectory, plane: LocalTangentPlane
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return seconds and EKF2's position minus truth (n, 3) [m] in map, None if unavailable."""
    topic = log.topics.get("vehicle_local_position")
    if topic is None or len(truth) < 2 or _missing_fields(log):
        return None
    # logs before PX4 1.9 have only the time of writing, some milliseconds after the sample
    stamps_us = topic.get("timestamp_sample", topic["timestamp"])
    stamps_ns = stamps_us.astype(np.int64) * _MICROSECOND_NS
    use = (stamps_ns >= truth.stamps_ns[0]) & (stamps_ns <= truth.stamps_ns[-1])
    use &= np.isfinite(topic["ref_lat"]) & np.isfinite(topic["ref_alt"]) & (topic["xy_global"] > 0)
    if use.sum() < 2:
        return None
    last = np.flatnonzero(use)[-1]
    reference = (float(topic[name][last]) for name in ("ref_lat", "ref_lon", "ref_alt"))
    origin = np.array(plane.from_geodetic(*reference))
    estimate = origin + np.column_stack([topic["y"], topic["x"], -topic["z"]])[use]
    return stamps_ns[use] * 1e-9, estimate - truth.interpolate(stamps_ns[use]).p_ref_body


def _missing_fields(log: PX4Log) -> list[str]:
    """Return the fields that the comparison of positions needs and the topic lacks."""
    topic = log.topics.get("vehicle_local_position", {})
    required = ("timestamp", *POSITION_FIELDS)
    return [name for name in required if name not in topic] if topic else []


def _missing_text(log: PX4Log) -> str:
    missing = ", ".join(_missing_fields(log))
    if not missing:
        return ""
    return f" Its vehicle_local_position lacks {missing}: the position is not compared with truth."


def _ratios(log: PX4Log) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return seconds and the largest test ratio of each kind of measurement that was used."""
    topic = log.topics.get(RATIO_TOPIC)
    if topic is None:
        return {}
    found = {}
    for name, fields in RATIOS.items():
        values = [np.abs(topic[field].astype(float)) for field in fields if field in topic]
        if not values:
            continue
        largest = np.max(values, axis=0)
        was_tested = (largest > 0.0) & (largest < UNTESTED)
        if was_tested.any():
            found[name] = (topic["timestamp"][was_tested] * 1e-6, largest[was_tested])
    return found


def _motors(log: PX4Log) -> tuple[np.ndarray, np.ndarray] | None:
    topic = log.topics.get("actuator_motors")
    if topic is None:
        return None
    names = [f"control[{i}]" for i in range(12)]
    used = [topic[name] for name in names if name in topic and np.isfinite(topic[name]).any()]
    return (topic["timestamp"] * 1e-6, np.array(used)) if used else None


def _error_figure(stamps_s: np.ndarray, error_m: np.ndarray, key: str) -> Figure:
    rows = dict(zip(("east", "north", "up"), error_m.T, strict=True))

    def draw(axes) -> None:
        _draw_lines(axes, {name: (stamps_s, row) for name, row in rows.items()}, lw=1.1)
        axes.set_ylabel("EKF2 minus truth [m]")
        axes.legend(ncols=3, loc="best")

    return Figure(
        title="PX4's position error",
        caption="What wanders slowly is the GNSS error; a step is a reset of EKF2.",
        svg=chart(f"px4-error-{key}", draw, height_in=2.8),
    )


def _ratio_figure(ratios: dict[str, tuple[np.ndarray, np.ndarray]], key: str) -> Figure:
    def draw(axes) -> None:
        _draw_lines(axes, ratios, lw=1.0)
        axes.axhline(1.0, color=plots.BAD, lw=1.0, ls="--")
        axes.set_yscale("log")
        axes.set_ylim(*RATIO_LIMITS)
        axes.set_ylabel("innovation test ratio")
        axes.legend(ncols=3, loc="upper right")

    return Figure(
        title="EKF2's innovation tests",
        caption="Above the dashed line a reading is refused.",
        svg=chart(f"px4-ratios-{key}", draw, height_in=2.8),
    )


def _motor_figure(stamps_s: np.ndarray, controls: np.ndarray, key: str) -> Figure:
    def draw(axes) -> None:
        lines = {f"motor {i}": (stamps_s, values) for i, values in enumerate(controls)}
        _draw_lines(axes, lines, lw=0.9)
        axes.set_ylim(0.0, 1.0)
        axes.set_ylabel("command")
        axes.legend(ncols=6, loc="upper right")

    return Figure(
        title="Motor commands",
        caption="At 0 or 1 a motor has no room left for control.",
        svg=chart(f"px4-motors-{key}", draw, width_in=plots.WIDE_IN, height_in=2.4),
        is_wide=True,
    )


def _draw_lines(axes, lines: dict[str, tuple[np.ndarray, np.ndarray]], *, lw: float) -> None:
    """Draw values over seconds by name, each in its colour."""
    for (name, line), colour in zip(lines.items(), plots.colours(len(lines)), strict=True):
        axes.plot(*line, color=colour, label=name, lw=lw)
    axes.set_xlabel("simulated time [s]")


def _message_table(log: PX4Log) -> Table:
    shown = log.messages[:MANY_MESSAGES]
    more = len(log.messages) - len(shown)
    return Table(
        title="What PX4 said",
        columns=("time [s]", "level", "message"),
        rows=tuple((f"{m.time_us * 1e-6:.2f}", m.level, m.text) for m in shown),
        caption=f"{more} further messages are in the file." if more > 0 else "",
    )
