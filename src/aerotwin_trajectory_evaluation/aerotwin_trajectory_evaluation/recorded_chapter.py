# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Report chapter on a recorded flight flown again: deviation of simulation from recording."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core import plots
from aerotwin_core.section import MEASURE_COLUMNS, Figure, Headline, Section, Table, measure
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import align_trajectories
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.recorded_track import STEP_S, RecordedTrack

_LEVEL = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class RecordedFlight:
    """Recorded, true simulated and set-point positions (n, 3) in map [m] at times t (n,) [s].

    The times are those on the track.
    """

    track: RecordedTrack
    t: np.ndarray
    recorded: np.ndarray
    simulated: np.ndarray
    setpoint: np.ndarray

    @property
    def deviation(self) -> np.ndarray:
        """Distance of simulated and recorded positions (n,) [m], without alignment."""
        return np.linalg.norm(self.simulated - self.recorded, axis=1)

    @property
    def coverage(self) -> float:
        """Share of the recorded positions that were flown again."""
        return len(self.t) / len(self.track.t)

    def aligned(self) -> tuple[np.ndarray, dict[str, float]]:
        """Return the deviation (n,) after a fit of offset and yaw, and what that removed."""
        stamps = np.round(self.t * 1e9).astype(np.int64)
        level = np.tile(_LEVEL, (len(stamps), 1))
        recorded = Trajectory(stamps, self.recorded, level)
        simulated = Trajectory(stamps, self.simulated, level)
        alignment = align_trajectories(recorded, simulated, "yaw")
        moved = alignment.apply(simulated).p_ref_body
        removed = alignment.removed(self.simulated)
        return np.linalg.norm(moved - self.recorded, axis=1), removed

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        fitted, removed = self.aligned()
        error = self.simulated - self.recorded
        track = self.track
        return {
            "kind": track.recording.kind,
            "recording": track.recording.path.name,
            "n": len(self.t),
            "coverage": self.coverage,
            "coverage_of_recording": len(self.t) / len(track.recording.t),
            "path_m": float(np.linalg.norm(np.diff(self.recorded, axis=0), axis=1).sum()),
            "duration_s": float(self.t[-1] - self.t[0]),
            "time_scale": track.time_scale,
            "deviation_m": _plain(self.deviation),
            "deviation_horizontal_m": _plain(np.linalg.norm(error[:, :2], axis=1)),
            "deviation_vertical_m": _plain(np.abs(error[:, 2])),
            "deviation_yaw_offset_removed_m": _plain(fitted),
            "removed": {key: removed[key] for key in ("offset_m", "yaw_deg")},
            "smoothing_m": _plain(track.smoothing_error),
            "tracking_m": _plain(np.linalg.norm(self.simulated - self.setpoint, axis=1)),
        }


def compare_recorded(
    track: RecordedTrack, truth: Trajectory, track_start_ns: int
) -> RecordedFlight | None:
    """Return both flights at the recorded times, None if the track was not flown.

    `truth` is in map; `track_start_ns` is the simulated time of the track's first set-point.
    """
    stamps = track_start_ns + np.round(track.t * 1e9).astype(np.int64)
    flown = (stamps >= truth.stamps_ns[0]) & (stamps <= truth.stamps_ns[-1])
    if flown.sum() < 3:
        return None
    times = np.arange(len(track.p_map)) * STEP_S
    desired = [np.interp(track.t[flown], times, axis) for axis in track.p_map.T]
    return RecordedFlight(
        track=track,
        t=track.t[flown],
        recorded=track.recorded_map[flown],
        simulated=truth.interpolate(stamps[flown]).p_ref_body,
        setpoint=np.column_stack(desired),
    )


def recorded_section(flight: RecordedFlight) -> Section:
    """Return the report chapter."""
    numbers = flight.metrics()
    track = flight.track
    warnings = []
    if flight.coverage < 1.0:
        warnings.append(f"Only {flight.coverage:.0%} of the recording was flown again.")
    text = (
        "A recorded flight was given to the autopilot as set-points of position, velocity and "
        "acceleration at the recorded times. The numbers are the deviation of a simulated from a "
        "recorded flight: they hold what the recording, its placement and smoothing, the "
        "simulated GNSS and the autopilot leave, and are no error of either flight. Nothing is "
        "aligned unless a line says so.\n\n" + " ".join(track.notes)
    )
    deviation = numbers["deviation_m"]
    fitted = numbers["deviation_yaw_offset_removed_m"]
    return Section(
        title="Recorded flight, flown again",
        name="recorded_flight",
        text=text,
        headline=(
            Headline(
                label="Deviation",
                value=f"{deviation['rmse']:.2f}",
                unit="m RMS",
                meaning=(
                    f"simulated from recorded track over {numbers['path_m']:.0f} m; "
                    f"{fitted['rmse']:.2f} m with yaw and offset removed"
                ),
            ),
            Headline(
                label="Pace",
                value=f"{1.0 / track.time_scale:.2f}",
                unit="×",
                meaning="of the recorded pace; 1 = at the recorded times",
            ),
        ),
        figures=(
            Figure(
                title="Recorded and simulated track",
                caption="From above, and height over the way; east is right, north is up.",
                svg=_paths(flight),
                is_wide=True,
            ),
            Figure(
                title="Deviation over time",
                caption=(
                    "Of the simulated from the recorded track; beside it what smoothing took from "
                    "the recording, and the speed that was flown."
                ),
                svg=_over_time(flight),
                is_wide=True,
            ),
        ),
        tables=(_table(numbers),),
        metrics=numbers,
        warnings=tuple(warnings),
    )


def _table(numbers: dict[str, Any]) -> Table:
    removed = numbers["removed"]
    share = 100.0 * numbers["coverage_of_recording"]
    rows = [
        measure("path recorded", numbers["path_m"], "m", "length of the recorded track"),
        measure("flown of the recording", share, "%", "samples; the others were cut, or not flown"),
    ]
    for key, name, meaning in (
        ("deviation_m", "deviation", "of the simulated from the recorded track, nothing aligned"),
        ("deviation_horizontal_m", "horizontal", "its part east and north"),
        ("deviation_vertical_m", "vertical", "its part in height"),
        ("deviation_yaw_offset_removed_m", "yaw and offset removed", "what is left of shape"),
        ("tracking_m", "truth from set-point", "what estimation and control leave"),
        ("smoothing_m", "set-point from recording", "what smoothing took from the recording"),
    ):
        value = numbers[key]
        rows.append(measure(f"{name}, RMS", value["rmse"], "m", meaning))
        rows.append(measure(f"{name}, largest", value["max"], "m", "the worst moment"))
    rows.append(measure("removed: offset", removed["offset_m"], "m", "by the line with a fit"))
    rows.append(measure("removed: yaw", removed["yaw_deg"], "deg", "by the line with a fit"))
    scale = numbers["time_scale"]
    rows.append(measure("time scale", scale, "", "above 1: flown slower than recorded"))
    return Table(title="Deviation", columns=MEASURE_COLUMNS, rows=tuple(rows))


def _plain(errors: np.ndarray) -> dict[str, float | int]:
    summary = summarise(errors)
    assert summary is not None
    return summary.plain()


def _paths(flight: RecordedFlight) -> str:
    both = np.vstack([flight.recorded, flight.simulated])[:, :2]
    size = np.maximum(np.ptp(both, axis=0), np.ptp(both, axis=0).max() / 6.0)
    tall = float(np.clip((plots.WIDE_IN - 2.6) * size[1] / size[0], 2.0, 5.5))
    figure = plots.new_figure(plots.WIDE_IN, tall + 2.2)
    with plots.style():
        above, height = figure.subplots(2, 1, height_ratios=[tall, 1.3])
        for p, colour, width, label in (
            (flight.recorded, plots.TRUTH, 4.5, "recorded"),
            (flight.simulated, plots.ESTIMATE, 1.5, "simulated"),
        ):
            above.plot(p[:, 0], p[:, 1], color=colour, lw=width, label=label)
            height.plot(flight.t, p[:, 2], color=colour, lw=width)
        above.plot(*flight.recorded[0, :2], "o", color=plots.TRUTH, ms=9, mfc="none", label="start")
        above.set_aspect("equal", adjustable="datalim")
        above.set(xlabel="east x [m]", ylabel="north y [m]")
        height.set(xlabel="time on the track [s]", ylabel="height z [m]")
        height.set_xlim(flight.t[0], flight.t[-1])
        figure.legend(loc="outside upper left", ncols=3)
        figure.align_ylabels()
    return plots.render_svg(figure, "recorded-paths")


def _over_time(flight: RecordedFlight) -> str:
    figure = plots.new_figure(plots.WIDE_IN, 4.2)
    with plots.style():
        distance, speed = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        fitted, _ = flight.aligned()
        distance.plot(flight.t, flight.deviation, color=plots.ESTIMATE, label="as flown")
        distance.plot(flight.t, fitted, color=plots.ALIGNED, lw=1.2, label="yaw and offset removed")
        smoothing = flight.track.smoothing_error[: len(flight.t)]
        distance.plot(flight.t, smoothing, color=plots.FLOOR, lw=1.1, label="smoothing alone")
        distance.set(ylabel="deviation [m]")
        distance.set_ylim(bottom=0.0)
        figure.legend(loc="outside upper left", ncols=3)
        times = np.arange(len(flight.track.v_map)) * STEP_S
        speed.plot(times, np.linalg.norm(flight.track.v_map, axis=1), color=plots.ACCENT, lw=1.3)
        speed.set(xlabel="time on the track [s]", ylabel="speed [m/s]")
        speed.set_ylim(bottom=0.0)
        speed.set_xlim(flight.t[0], flight.t[-1])
        figure.align_ylabels()
    return plots.render_svg(figure, "recorded-deviation")
