# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on PX4's own ULog, against truth."""

from typing import Any

import numpy as np

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.rms import rms
from aerotwin_core.section import Headline, Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_px4_bridge.ulog import PX4Log
from aerotwin_run_evaluation.report.autopilot_log_figures import (
    error_figure,
    message_table,
    motor_figure,
    ratio_figure,
)

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
        figures.append(error_figure(stamps_s, error_m, "PX4", "EKF2", log.path.stem))
    ratios = _ratios(log)
    if ratios:
        metrics["innovation_tests"] = {
            name: {
                "median_ratio": float(np.median(values)),
                "refused_share": float(np.mean(values > 1.0)),
            }
            for name, (_, values) in ratios.items()
        }
        figures.append(ratio_figure(ratios, "EKF2", log.path.stem))
    motors = _motors(log)
    if motors is not None:
        figures.append(motor_figure(*motors, log.path.stem))
    said = [(m.time_us * 1e-6, m.level, m.text) for m in log.messages]
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
        tables=(message_table("PX4", said),) if said else (),
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
