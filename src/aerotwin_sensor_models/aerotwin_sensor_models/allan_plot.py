# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The plot of `aerotwin plot imu`: Allan deviations of a preset, its parameters, a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.text_lines import text_lines
from aerotwin_sensor_models.allan import (
    allan_deviation,
    averaging_times,
    readings_at_rest,
    triad_allan_deviation,
)
from aerotwin_sensor_models.imu import Imu, ImuParameters, TriadParameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST_READINGS = 50
TRUSTED_CLUSTERS = 300
"""Averaging times of which the simulation holds that many are compared in numbers."""
CAVEAT = (
    "The recording is short and holds the vibration of its vehicle as well as the noise of its "
    "sensor (EuRoC V1_01 stands still for some 5 s, quietly for one of them):\nbelow 1 s it is "
    "illustrative, of the bias it says nothing."
)


@dataclass(frozen=True, kw_only=True)
class ImuRecording:
    """Readings of a real IMU at rest: (n, 6), specific force then angular velocity, at a rate."""

    name: str
    rate_hz: float
    values: np.ndarray


@dataclass(frozen=True, kw_only=True)
class AllanCurves:
    """Allan deviations (6, m) at averaging times (m,) [s]; axes as in `ImuRecording`."""

    name: str
    duration_s: float
    seconds: np.ndarray
    deviations: np.ndarray


def read_recording(path: Path, start_s: float, end_s: float) -> ImuRecording:
    """Return a piece of an EuRoC CSV, `start_s` to `end_s` seconds from its first reading.

    Raises UserError if the file cannot be read or parsed, or the piece holds too few readings.
    """
    columns = np.dtype([("stamp_ns", np.int64), ("values", np.float64, 6)])
    try:
        table = np.atleast_1d(np.loadtxt(text_lines(path), columns, delimiter=",", comments="#"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise UserError(
            f"{path}: expected rows of 7 numbers (stamp [ns], gyroscope, accelerometer): {error}"
        ) from error
    seconds = 1e-9 * (table["stamp_ns"] - table["stamp_ns"][0]) if len(table) else np.empty(0)
    piece = table[(seconds >= start_s) & (seconds < end_s)]
    steps_ns = np.diff(piece["stamp_ns"])
    is_sound = (steps_ns > 0).all() and np.isfinite(piece["values"]).all()
    if len(piece) < FEWEST_READINGS or not is_sound:
        raise UserError(
            f"{path}: {start_s:g} to {end_s:g} s holds {len(piece)} readings, expected "
            f"{FEWEST_READINGS} or more, finite, with rising stamps; choose another piece with "
            "--still"
        )
    rate_hz = 1e9 / float(np.median(steps_ns))
    name = f"{path.name}, {start_s:g} to {end_s:g} s, {rate_hz:.0f} Hz"
    return ImuRecording(name=name, rate_hz=rate_hz, values=piece["values"][:, [3, 4, 5, 0, 1, 2]])


def simulate(
    parameters: ImuParameters, rate_hz: float, n: int, seed: int, on_rows: Callable[[int], object]
) -> AllanCurves:
    """Return the Allan deviations of n readings of a simulated IMU at rest."""
    imu = Imu(parameters, seed_sequence(seed, 0, "imu"))
    values = readings_at_rest(imu, 1.0 / rate_hz, n, on_rows)
    return _curves("simulated", values, rate_hz)


def curves_of_recording(recording: ImuRecording) -> AllanCurves:
    """Return the Allan deviations of a recording."""
    return _curves(recording.name, recording.values, recording.rate_hz)


def summary(
    parameters: ImuParameters, simulated: AllanCurves, real: AllanCurves | None
) -> dict[str, Any]:
    """Return the numbers of the plot, and the deviation of simulated from expected."""
    expected = _expected(parameters, simulated.seconds)
    is_short = simulated.seconds <= simulated.duration_s / TRUSTED_CLUSTERS
    errors = np.abs(simulated.deviations / expected - 1.0)[:, is_short]
    result = {
        "largest_relative_error": float(errors.max()),
        "compared_up_to_s": float(simulated.seconds[is_short][-1]),
        "simulated": _table(simulated),
        "parameters": {
            "seconds": simulated.seconds.tolist(),
            "accelerometer": expected[0].tolist(),
            "gyroscope": expected[3].tolist(),
        },
    }
    return result | ({"recording": {"name": real.name, **_table(real)}} if real else {})


def draw(
    preset: str, parameters: ImuParameters, simulated: AllanCurves, real: AllanCurves | None
) -> Figure:
    """Return the plot: gyroscope and accelerometer side by side."""
    from aerotwin_core import plots

    figure = plots.new_figure(plots.WIDE_IN, 5.4)
    kinds = (
        ("Gyroscope", "rad/s", parameters.gyroscope, 3),
        ("Accelerometer", "m/s²", parameters.accelerometer, 0),
    )
    with plots.style():
        for k, (title, unit, triad, first) in enumerate(kinds):
            axes = figure.add_subplot(1, 2, k + 1)
            _draw_parameters(axes, triad, simulated.seconds, unit)
            _draw_curves(axes, simulated, plots.ALIGNED, "simulated, x y z", first)
            if real is not None:
                _draw_curves(axes, real, plots.TRUTH, f"real, x y z: {real.name}", first)
            axes.set(xscale="log", yscale="log", ylim=_limits(triad, simulated, real, first))
            axes.set_title(f"{title}, {preset}")
            axes.set_xlabel("averaging time [s]")
            axes.set_ylabel(f"Allan deviation [{unit}]")
            axes.legend(loc="upper right")
        if real is not None:
            figure.supxlabel(CAVEAT, fontsize=8.5, x=0.01, ha="left", color=plots.TRUTH)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a plot under a temporary name and rename it; the suffix selects the format.

    Raises UserError if the suffix is unknown or the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise UserError(f"{path}: must end in .png, .svg or .pdf")
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(temporary, format=kind, facecolor="white", dpi=150)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise UserError(f"{path}: cannot be written ({reason}); choose another place") from error


def _curves(name: str, values: np.ndarray, rate_hz: float) -> AllanCurves:
    counts = averaging_times(len(values))
    deviations = [[allan_deviation(axis, int(m)) for m in counts] for axis in values.T]
    return AllanCurves(
        name=name,
        duration_s=len(values) / rate_hz,
        seconds=counts / rate_hz,
        deviations=np.array(deviations),
    )


def _expected(parameters: ImuParameters, seconds: np.ndarray) -> np.ndarray:
    triads = [parameters.accelerometer] * 3 + [parameters.gyroscope] * 3
    return np.array([triad_allan_deviation(triad, seconds) for triad in triads])


def _table(curves: AllanCurves) -> dict[str, Any]:
    return {
        "seconds": curves.seconds.tolist(),
        "accelerometer": curves.deviations[:3].tolist(),
        "gyroscope": curves.deviations[3:].tolist(),
    }


def _limits(
    triad: TriadParameters, simulated: AllanCurves, real: AllanCurves | None, first: int
) -> tuple[float, float]:
    """Return the ends of the axis: all curves, the density, and room for the legend."""
    curves = [c.deviations[first : first + 3].ravel() for c in (simulated, real) if c is not None]
    values = np.concatenate([*curves, [triad.noise_density]])
    return 0.4 * float(values[values > 0.0].min()), 8.0 * float(values.max())


def _draw_curves(axes: Axes, curves: AllanCurves, colour: str, label: str, first: int) -> None:
    for i, style in enumerate(("-", "--", ":")):
        axes.plot(
            curves.seconds,
            curves.deviations[first + i],
            style,
            color=colour,
            lw=1.3,
            label=label if i == 0 else None,
        )


def _draw_parameters(axes: Axes, triad: TriadParameters, seconds: np.ndarray, unit: str) -> None:
    """Draw the expected curve of a triad, its white noise alone, and its density at one second."""
    from aerotwin_core import plots

    expected, density = triad_allan_deviation(triad, seconds), triad.noise_density
    axes.plot(seconds, expected, color=plots.ESTIMATE, alpha=0.4, lw=5.0, label="its parameters")
    if density <= 0.0:
        return
    axes.plot(seconds, density / np.sqrt(seconds), color=plots.ESTIMATE, lw=0.9, ls=(0, (6, 4)))
    axes.plot([1.0], [density], "o", ms=6, color=plots.ESTIMATE)
    axes.annotate(
        f"noise density\n{density:.3g} {unit}/√Hz",
        (1.0, density),
        xytext=(-10, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        color=plots.ESTIMATE,
        fontsize=9,
    )
