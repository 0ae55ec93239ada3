# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on the flight itself: its path against truth, with control and estimation error apart."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core import plots
from aerotwin_core.bag import BagReader
from aerotwin_core.charts import chart
from aerotwin_core.metric import Metric, MetricSet, score_table
from aerotwin_core.rms import rms
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.trajectory import Trajectory
from aerotwin_px4_bridge import Commander

PATH_SPACING_M = 0.05
MAX_CROSS_TRACK_M = 0.6
FLIGHT_METRICS = MetricSet(
    title="Flight",
    structure={},
    usual={"sensors": "GNSS, barometer, magnetometer and IMU"},
    metrics=(
        Metric("cross_track_m.rms", "cross-track, RMS", "distance of truth to the planned path",
               unit="m"),
        Metric("cross_track_m.max", "cross-track, largest", "the worst moment", unit="m"),
        Metric("control_error_m.rms", "control error, RMS",
               "set-point minus the vehicle's estimate: what the controller leaves", unit="m"),
        Metric("control_error_m.max", "control error, largest", "the worst moment", unit="m"),
        Metric("estimation_error_m.rms", "estimation error, RMS",
               "the vehicle's estimate minus truth: what {sensors} leave", unit="m"),
        Metric("estimation_error_m.max", "estimation error, largest", "the worst moment", unit="m"),
    ),
)  # fmt: skip
"""Of the section `flight` where a path was flown, and of each vehicle of the section `fleet`."""


@dataclass(frozen=True, kw_only=True)
class PathErrors:
    """Errors along the planned path of a flight; (n, 3) arrays are in map [m]."""

    stamps_ns: np.ndarray  # (n,): stamps of the autopilot's estimate
    # (n, 3): true, estimated and desired position
    truth: np.ndarray
    estimate: np.ndarray
    setpoint: np.ndarray
    # (n,): distance of the truth to the planned path as a line, independent of time
    cross_track: np.ndarray

    @cached_property
    def control(self) -> np.ndarray:
        """Distance of the set-point from the estimate (n,)."""
        return np.linalg.norm(self.setpoint - self.estimate, axis=1)

    @cached_property
    def estimation(self) -> np.ndarray:
        """Distance of the estimate from the truth (n,)."""
        return np.linalg.norm(self.estimate - self.truth, axis=1)

    def metrics(self) -> dict[str, Any]:
        """Return root mean squares and maxima."""
        return {
            "n": len(self.stamps_ns),
            "path_m": float(np.linalg.norm(np.diff(self.truth, axis=0), axis=1).sum()),
            "cross_track_m": _spread(self.cross_track),
            "control_error_m": _spread(self.control),
            "estimation_error_m": _spread(self.estimation),
        }


def read_tracks(bag: BagReader, vehicles: Sequence[str]) -> dict[str, Trajectory]:
    """Return what was recorded of the vehicles' tracks by topic, of each two poses at least.

    `vehicles` are their names, "" for a single one. The bag is read once, however many they are.
    """
    topics = [name for vehicle in vehicles for name in track_topics(vehicle)]
    return bag.trajectories([name for name in topics if bag.counts.get(name, 0) >= 2])


def track_topics(vehicle: str) -> tuple[str, str, str]:
    """Return the topics of a vehicle's true, estimated and desired track."""
    place = f"/{vehicle}" if vehicle else ""
    return f"{place}/truth/odom", f"{place}/autopilot/odom", f"{place}/command/pose"


def path_errors(tracks: Mapping[str, Trajectory], vehicle: str = "") -> PathErrors | None:
    """Return the errors along the planned path, None when no path was flown.

    `tracks` are those of `read_tracks`, `vehicle` is the name of a vehicle of a fleet.
    """
    names = track_topics(vehicle)
    if any(name not in tracks for name in names):
        return None
    truth, estimate, setpoint = (tracks[name] for name in names)
    first = max(t.stamps_ns[0] for t in (truth, estimate, setpoint))
    last = min(t.stamps_ns[-1] for t in (truth, estimate, setpoint))
    stamps = estimate.stamps_ns[(estimate.stamps_ns >= first) & (estimate.stamps_ns <= last)]
    if len(stamps) < 2:
        return None
    where = [t.interpolate(stamps).p_ref_body for t in (truth, estimate, setpoint)]
    return PathErrors(
        stamps_ns=stamps,
        truth=where[0],
        estimate=where[1],
        setpoint=where[2],
        cross_track=_distance_to_line(where[0], setpoint),
    )


def _distance_to_line(points: np.ndarray, line: Trajectory) -> np.ndarray:
    """Return the distance [m] of points (n, 3) to a densely resampled polyline."""
    steps = np.linalg.norm(np.diff(line.p_ref_body, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    keep = np.concatenate([[True], steps > 0.0])
    requested = np.arange(0.0, along[-1] + PATH_SPACING_M, PATH_SPACING_M)
    dense = [np.interp(requested, along[keep], axis[keep]) for axis in line.p_ref_body.T]
    distances, _ = cKDTree(np.column_stack(dense)).query(points)
    return np.asarray(distances)


def _spread(errors: np.ndarray) -> dict[str, float]:
    return {"rms": rms(errors), "max": float(errors.max())}


def flight_section(
    errors: PathErrors | None,
    *,
    outcome: str,
    has_failed: bool = False,
    duration_s: float,
    real_time_factor: float,
    parameters: Mapping[str, Any],
    has_autopilot: bool = True,
    commanders: Sequence[Commander] = (),
) -> Section:
    """Return the section about the flight; its texts name the sensors in `parameters`.

    Without autopilot there are none: point masses and ground robots have simulated estimates.
    `commanders` are the external clients that commanded a vehicle.
    """
    metrics: dict[str, Any] = {
        "outcome": outcome,
        "duration_s": duration_s,
        "real_time_factor": real_time_factor,
        "outside_commanders": [asdict(commander) for commander in commanders],
    }
    headline = [
        Headline(
            label="Flight",
            value=f"{duration_s:.1f}",
            unit="s",
            meaning=outcome,
            status="bad" if has_failed else "neutral",
        ),
        Headline(
            label="Speed",
            value=f"{real_time_factor:.2f}",
            unit="× real",
            meaning="simulated over wall time, with all that ran beside it",
        ),
    ]
    flown_by = "The autopilot flies by its sensors alone. " if has_autopilot else ""
    text = (
        f"{flown_by}The control error is set-point minus the vehicle's own estimate, the "
        "estimation error its estimate minus truth; cross-track is the distance of the truth to "
        "the planned path as a line, whenever it is there."
    )
    sensors = sensors_on_board(parameters) if has_autopilot else "simulated estimates"
    if "GNSS" in sensors:
        text += _ANCHOR
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    if errors is not None:
        metrics |= errors.metrics()
        cross_m = metrics["cross_track_m"]["rms"]
        headline.append(
            Headline(
                label="Cross-track",
                value=f"{cross_m:.2f}",
                unit="m RMS",
                meaning=f"truth against the planned path over {metrics['path_m']:.0f} m",
                status="good" if cross_m <= MAX_CROSS_TRACK_M else "warn",
            )
        )
        scores = FLIGHT_METRICS.scores(metrics | {"sensors": sensors})
        figures, tables = (_figure(errors),), (score_table("Errors along the path", scores),)
    return Section(
        title="Flight",
        name="flight",
        text=text,
        headline=tuple(headline),
        figures=figures,
        tables=tables,
        metrics=metrics,
    )


_ANCHOR = (
    " With mission.is_anchored it starts at a surveyed mark, which takes the GNSS error at the "
    "moment of arming out of path and estimate alike; what changes later stays in."
)
_AIDS = (("sensors", "gnss", "GNSS"), ("vision", "source", "external vision"))


def sensors_on_board(parameters: Mapping[str, Any]) -> str:
    """Return the sensors of the autopilot's estimate as text, from the parameters of the flight."""
    aids = [
        name for group, key, name in _AIDS if parameters.get(group, {}).get(key, "none") != "none"
    ]
    return f"{', '.join([*aids, 'barometer', 'magnetometer'])} and IMU"


def _figure(errors: PathErrors) -> Figure:
    seconds = errors.stamps_ns * 1e-9

    def draw(axes) -> None:
        axes.plot(seconds, errors.cross_track, color=plots.ESTIMATE, label="cross-track")
        axes.plot(seconds, errors.control, color=plots.ALIGNED, label="control error", lw=1.1)
        axes.plot(seconds, errors.estimation, color=plots.ACCENT, label="estimation error", lw=1.1)
        axes.set_xlabel("simulated time [s]")
        axes.set_ylabel("[m]")
        axes.set_ylim(bottom=0.0)
        axes.figure.legend(loc="outside upper left", ncols=3)

    return Figure(
        title="Path errors over time",
        caption="Cross-track stays near the larger of the two others: control, or estimation.",
        svg=chart("path-errors", draw, width_in=plots.WIDE_IN, height_in=4.2),
        is_wide=True,
    )
