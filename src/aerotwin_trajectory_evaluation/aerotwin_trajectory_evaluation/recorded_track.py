# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a recorded flight to a track that a multirotor can fly again in a world.

Place it in the map, cut what lies below the take-off height, smooth it, and, where it exceeds the
limits, fly it slower: all times are stretched by one factor.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_trajectory_evaluation.recordings import FlightRecording

STEP_S = 0.02
"""Between two set-points of a track."""
N_PASSES = 3
"""Moving averages one after the other: velocity and acceleration of the result are continuous."""
MAX_GAP_S = 1.0
_MAX_DURATION_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class TrackOptions:
    """How a recording is converted to a track."""

    placement: str = parameter(
        "auto",
        text="geodetic = where it was recorded; start = its first point at the world's start; "
        "auto = geodetic where the world reaches as far as the recording, else start",
        choices=("auto", "geodetic", "start"),
    )
    turn_deg: float = parameter(
        0.0,
        text="turn about the vertical through the start, counter-clockwise (placement start)",
        unit="deg",
    )
    raise_m: float = parameter(0.0, text="lift the whole track by this", unit="m")
    lowest_m: float = parameter(
        1.0,
        text="flown from the first to the last moment at least this high above the first point",
        unit="m",
    )
    from_s: float = parameter(0.0, text="leave out what was before", unit="s", minimum=0.0)
    to_s: float = parameter(
        0.0, text="leave out what came after; 0 = nothing", unit="s", minimum=0.0
    )
    smoothing_s: float = parameter(
        0.4, text="length of each of three moving averages", unit="s", minimum=0.02, maximum=10.0
    )
    max_speed_m_s: float = parameter(
        8.0, text="a faster recording is flown slower", unit="m/s", minimum=0.1
    )
    max_acceleration_m_s2: float = parameter(
        6.0, text="one with greater accelerations too", unit="m/s^2", minimum=0.05
    )
    clearance_m: float = parameter(
        0.5, text="least height above the world's surface", unit="m", minimum=0.0
    )


@dataclass(frozen=True, kw_only=True)
class RecordedTrack:
    """A recording in the map of a world, and the set-points that fly it again.

    Attributes
    ----------
    t : (n,) array
        Time of each recorded position on the track [s], after re-timing.
    recorded_map : (n, 3) array
        The recorded positions, placed, not smoothed [m].
    p_map, v_map, a_map : (m, 3) array
        Set-points every `STEP_S` [m], [m/s], [m/s^2]; at rest at both ends.
    yaw, yaw_rate : (m,) array
        At the same times [rad], [rad/s].
    time_scale : float
        1 if the recorded times are unchanged; 2 flies at half the speed.
    notes : tuple of str
        Modifications of the recording.
    """

    recording: FlightRecording
    t: np.ndarray
    recorded_map: np.ndarray
    p_map: np.ndarray
    v_map: np.ndarray
    a_map: np.ndarray
    yaw: np.ndarray
    yaw_rate: np.ndarray
    time_scale: float
    notes: tuple[str, ...]

    @property
    def smoothing_error(self) -> np.ndarray:
        """Distance (n,) [m] of the recorded positions to the set-points of their times."""
        times = np.arange(len(self.p_map)) * STEP_S
        at = np.column_stack([np.interp(self.t, times, axis) for axis in self.p_map.T])
        return np.linalg.norm(self.recorded_map - at, axis=1)


def make_track(
    recording: FlightRecording,
    options: TrackOptions,
    *,
    plane: LocalTangentPlane,
    start_p_map: np.ndarray,
    start_yaw: float,
    ground_height: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> RecordedTrack:
    """Return the track of a recording in a world.

    Parameters
    ----------
    plane : LocalTangentPlane
        The map frame of the world.
    start_p_map, start_yaw : (3,) array, float
        The world's start [m], [rad]; the yaw is used where the recording has none.
    ground_height : callable
        Height of the world's surface at x (k,), y (k,); NaN outside the world.

    Raises
    ------
    UserError
        If the recording lies outside the world, goes below its surface, or is too low, too short or
        incomplete; the message names the option that helps.
    """
    t, position, yaw = _cut_times(recording, options)
    p_map, notes = _place(recording, position, options, plane, start_p_map, ground_height)
    t, p_map, yaw = _cut_low(recording, t, p_map, yaw, options)
    notes += _cut_note(recording, t)
    if options.turn_deg:
        p_map, yaw = _turned(p_map, yaw, start_p_map, np.radians(options.turn_deg))
    p_map = p_map + np.array([0.0, 0.0, options.raise_m])
    gap = float(np.diff(t).max())
    if gap > MAX_GAP_S:
        notes.append(f"The recording has a gap of {gap:.1f} s, flown in a straight line.")
    if yaw is None:
        notes.append("The recording has no attitude: the yaw of the world's start is kept.")
        yaw = np.full(len(t), start_yaw)
    track = _retimed(recording, t - t[0], p_map, yaw, options, [*recording.notes, *notes])
    _check_clearance(track, options, ground_height)
    return track


def check_recording(recording: FlightRecording, options: TrackOptions) -> None:
    """Check a recording as far as possible before a world is loaded.

    The position of a recording with GNSS, and so its height, depends on the world. Raises UserError
    as `make_track`.
    """
    t, position, yaw = _cut_times(recording, options)
    _refuse_local(recording, options)
    if recording.is_geodetic and options.placement != "start":
        return
    t, p_map, yaw = _cut_low(
        recording, t, _from_start(recording, position, np.zeros(3)), yaw, options
    )
    _retimed(recording, t - t[0], p_map, np.zeros(len(t)) if yaw is None else yaw, options, [])


def _refuse_local(recording: FlightRecording, options: TrackOptions) -> None:
    if options.placement == "geodetic" and not recording.is_geodetic:
        raise ParameterError(
            f"placement: {recording.path} has positions in a local frame only ({recording.kind}); "
            "give placement:=start to fly it from the world's start"
        )


def _cut_times(
    recording: FlightRecording, options: TrackOptions
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    end = options.to_s or np.inf
    inside = (recording.t >= options.from_s) & (recording.t <= end)
    if inside.sum() < 3:
        raise ParameterError(
            f"from_s, to_s: no flight between {options.from_s:g} s and {end:g} s; the recording "
            f"lasts {recording.t[-1]:.1f} s"
        )
    yaw = None if recording.yaw is None else recording.yaw[inside]
    return recording.t[inside], recording.position[inside], yaw


def _cut_note(recording: FlightRecording, t: np.ndarray) -> list[str]:
    """Return what from_s, to_s and lowest_m left out."""
    n, n_all = len(t), len(recording.t)
    if n == n_all:
        return []
    lost_s = float(recording.t[-1] - (t[-1] - t[0]))
    return [f"Cut by lowest_m, from_s, to_s: {n_all - n} of {n_all} samples, {lost_s:.1f} s."]


def _place(
    recording: FlightRecording,
    position: np.ndarray,
    options: TrackOptions,
    plane: LocalTangentPlane,
    start_p_map: np.ndarray,
    ground_height: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, list[str]]:
    """Return the positions in map, and notes on how they were placed."""
    if options.placement == "start":
        return _from_start(recording, position, start_p_map), [
            "Its first point was put at the world's start (placement start)."
        ]
    is_free = options.placement == "auto"
    if not recording.is_geodetic and is_free:
        return _from_start(recording, position, start_p_map), [
            "It has no GNSS, so its first point was put at the world's start (placement auto)."
        ]
    _refuse_local(recording, options)
    p_map = np.array([plane.from_geodetic(*row) for row in position])
    ground = ground_height(p_map[:, 0], p_map[:, 1])
    if not np.isfinite(ground).any() and is_free:
        away = float(np.linalg.norm(p_map[0, :2] - start_p_map[:2]))
        return _from_start(recording, position, start_p_map), [
            f"It was recorded {_distance(away)} from here, so its first point was put at the "
            "world's start (placement auto)."
        ]
    if options.turn_deg:
        raise ParameterError(
            f"turn_deg: {recording.path} lies where it was recorded; give placement:=start to "
            "turn it, or leave turn_deg at 0"
        )
    if not np.isfinite(ground).all():
        away = float(np.linalg.norm(p_map[0, :2] - start_p_map[:2]))
        raise ParameterError(
            f"placement: {recording.path} begins {_distance(away)} from the world's start and is "
            f"above the world in {np.isfinite(ground).mean():.0%} of its samples; choose the "
            "world it was flown in, or give placement:=start"
        )
    p_map[:, 2] += ground[0] - p_map[0, 2]
    return p_map, [
        "It lies where it was recorded; heights count from the ground below its first point, "
        "because recorded altitudes have other zeros than the world's ellipsoid."
    ]


def _from_start(
    recording: FlightRecording, position: np.ndarray, start_p_map: np.ndarray
) -> np.ndarray:
    """Return the positions with the first at the world's start."""
    if recording.is_geodetic:
        latitude_deg, longitude_deg, altitude_m = map(float, position[0])
        first = GeodeticPoint(
            latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude_m=altitude_m
        )
        own = LocalTangentPlane(first)
        position = np.array([own.from_geodetic(*row) for row in position])
    return position - position[0] + start_p_map


def _distance(metres: float) -> str:
    return f"{metres:.0f} m" if metres < 10_000.0 else f"{metres / 1000.0:.0f} km"


def _cut_low(
    recording: FlightRecording,
    t: np.ndarray,
    p_map: np.ndarray,
    yaw: np.ndarray | None,
    options: TrackOptions,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return what lies between the first and the last moment above the lowest height."""
    height = p_map[:, 2] - p_map[0, 2] + options.raise_m
    high = np.flatnonzero(height >= options.lowest_m)
    if len(high) < 3:
        raise ParameterError(
            f"lowest_m: {recording.path} rises {height.max():.2f} m above its first point, "
            f"{options.lowest_m:g} m are asked for; lift it by raise_m, or lower lowest_m"
        )
    retained = slice(int(high[0]), int(high[-1]) + 1)
    return t[retained], p_map[retained], None if yaw is None else yaw[retained]


def _turned(
    p_map: np.ndarray, yaw: np.ndarray | None, centre: np.ndarray, angle: float
) -> tuple[np.ndarray, np.ndarray | None]:
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return (p_map - centre) @ R.T + centre, None if yaw is None else yaw + angle


def _retimed(
    recording: FlightRecording,
    t: np.ndarray,
    p_map: np.ndarray,
    yaw: np.ndarray,
    options: TrackOptions,
    notes: list[str],
) -> RecordedTrack:
    """Smooth, and stretch all times by one factor until the limits hold."""
    scale = 1.0
    while True:
        if t[-1] * scale > _MAX_DURATION_S:
            raise ParameterError(
                f"{recording.path}: the track would last {t[-1] * scale:.0f} s, "
                f"{_MAX_DURATION_S:g} s are allowed; cut it with from_s and to_s, or, where it "
                "jumps, raise smoothing_s"
            )
        track = _smoothed(recording, t * scale, p_map, yaw, options.smoothing_s)
        speed = float(np.linalg.norm(track.v_map, axis=1).max())
        acceleration = float(np.linalg.norm(track.a_map, axis=1).max())
        excess = max(
            speed / options.max_speed_m_s, np.sqrt(acceleration / options.max_acceleration_m_s2)
        )
        if excess <= 1.001:
            if scale > 1.0:
                notes.append(
                    f"It is flown {scale:.2f} times slower than recorded, which keeps "
                    f"{options.max_speed_m_s:g} m/s and {options.max_acceleration_m_s2:g} m/s²."
                )
            return replace(track, time_scale=scale, notes=tuple(notes))
        scale *= float(excess)


def _smoothed(
    recording: FlightRecording,
    t: np.ndarray,
    p_map: np.ndarray,
    yaw: np.ndarray,
    smoothing_s: float,
) -> RecordedTrack:
    """Return the track of positions at times t: even steps, moving averages, differences.

    The averages are padded with the first and last pose at rest, so that the track begins and ends
    at rest.
    """
    half = max(round(smoothing_s / STEP_S / 2.0), 1)
    pad = (N_PASSES + 1) * half
    n = int(np.ceil(t[-1] / STEP_S)) + 1
    grid = np.arange(n) * STEP_S
    rows = np.column_stack([np.interp(grid, t, axis) for axis in (*p_map.T, yaw)])
    rows = np.pad(rows, ((pad + N_PASSES * half, pad + N_PASSES * half), (0, 0)), mode="edge")
    window = 2 * half + 1
    for _ in range(N_PASSES):
        total = np.cumsum(np.vstack([np.zeros(4), rows - rows[0]]), axis=0)
        rows = rows[0] + (total[window:] - total[:-window]) / window
    rate = np.gradient(rows, STEP_S, axis=0)
    change = np.gradient(rate, STEP_S, axis=0)
    return RecordedTrack(
        recording=recording,
        t=t + pad * STEP_S,
        recorded_map=p_map,
        p_map=rows[:, :3],
        v_map=rate[:, :3],
        a_map=change[:, :3],
        yaw=rows[:, 3],
        yaw_rate=rate[:, 3],
        time_scale=1.0,
        notes=(),
    )


def _check_clearance(
    track: RecordedTrack,
    options: TrackOptions,
    ground_height: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    above = track.p_map[:, 2] - ground_height(track.p_map[:, 0], track.p_map[:, 1])
    if np.isnan(above).any():
        at = track.p_map[int(np.argmax(np.isnan(above)))]
        raise ParameterError(
            f"placement: the track leaves the world at ({at[0]:.1f}, {at[1]:.1f}) m in map; turn "
            "it with turn_deg, cut it with from_s and to_s, or choose a larger world"
        )
    lowest = int(above.argmin())
    if above[lowest] < options.clearance_m:
        at = track.p_map[lowest]
        raise ParameterError(
            f"clearance_m: the track comes down to {above[lowest]:.2f} m above the surface at "
            f"({at[0]:.1f}, {at[1]:.1f}) m in map, {options.clearance_m:g} m are asked for; lift "
            "it by raise_m, turn it with turn_deg, or cut it with from_s and to_s"
        )
