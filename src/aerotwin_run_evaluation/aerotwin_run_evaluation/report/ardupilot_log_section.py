# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on ArduPilot's own dataflash log, against truth."""

from typing import Any

import numpy as np

from aerotwin_ardupilot_bridge.dataflash_log import ArduPilotLog
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.rms import rms
from aerotwin_core.section import Headline, Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.report.autopilot_log_figures import (
    error_figure,
    message_table,
    motor_figure,
    ratio_figure,
)


def ardupilot_log_section(
    log: ArduPilotLog,
    truth: Trajectory,
    plane: LocalTangentPlane,
    vehicle: str = "",
    number: int = 0,
) -> Section:
    """Return the section on one dataflash log.

    `truth`: of the same vehicle in map; ArduPilot's clock is the simulated time. `plane`: of the
    map. `vehicle`: its name in a fleet. `number`: index of the log, from 0.
    """
    parts = [vehicle, f"log {number + 1}" * bool(number)]
    of_which = "".join(f", {part}" for part in parts if part)
    name = "_".join(
        ["ardupilot_log", *filter(None, [vehicle]), *([str(number + 1)] if number else [])]
    )
    key = log.path.stem
    metrics: dict[str, Any] = {
        "file": log.path.name,
        "version": log.version,
        "n_messages": len(log.messages),
    }
    headline, figures = [], []
    error = _position_error(log, truth, plane)
    if error is not None:
        stamps_s, error_m = error
        distance = np.linalg.norm(error_m, axis=1)
        metrics["estimate_error_m"] = {"rms": rms(distance), "max": float(distance.max())}
        headline.append(
            Headline(
                label=f"ArduPilot's estimate{of_which}",
                value=f"{rms(distance):.2f}",
                unit="m RMS",
                meaning="position of EKF3 against truth over the whole log",
            )
        )
        figures.append(error_figure(stamps_s, error_m, "ArduPilot", "EKF3", key))
    if log.ratios:
        metrics["innovation_tests"] = {
            tested: {
                "median_ratio": float(np.median(values)),
                "refused_share": float(np.mean(values > 1.0)),
            }
            for tested, (_, values) in log.ratios.items()
        }
        figures.append(ratio_figure(log.ratios, "EKF3", key))
    if len(log.outputs[0]):
        figures.append(motor_figure(*log.outputs, key))
    # a dataflash log has no levels
    rows = [(time_s, "", text) for time_s, text in log.messages]
    return Section(
        title=f"ArduPilot's own log{of_which}",
        name=name,
        text=(
            "From the dataflash log that ArduPilot wrote from its arming on; the file lies in the "
            "run folder and opens in MAVExplorer and PlotJuggler. Its clock is the simulated time. "
            "Innovations above 1 are readings that EKF3 refused."
        ),
        headline=tuple(headline),
        figures=tuple(figures),
        tables=(message_table("ArduPilot", rows),) if rows else (),
        metrics=metrics,
    )


def _position_error(
    log: ArduPilotLog, truth: Trajectory, plane: LocalTangentPlane
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return seconds and EKF3's position minus truth (n, 3) [m] in map, None if unavailable."""
    if len(truth) < 2:
        return None
    stamps_ns = log.stamps_ns
    use = (stamps_ns >= truth.stamps_ns[0]) & (stamps_ns <= truth.stamps_ns[-1])
    use &= np.isfinite(log.geodetic).all(axis=1)
    if use.sum() < 2:
        return None
    estimate = np.array([plane.from_geodetic(*row) for row in log.geodetic[use].tolist()])
    return stamps_ns[use] * 1e-9, estimate - truth.interpolate(stamps_ns[use]).p_ref_body
