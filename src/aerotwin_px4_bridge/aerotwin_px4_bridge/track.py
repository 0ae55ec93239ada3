# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A track: set-points in time from a file, such as those of a recorded flight.

The file is CSV with one line per set-point, every `PATH_STEP_S`, in map axes (ENU, yaw from east).
"""

import io
from pathlib import Path

import numpy as np

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import ParameterError
from aerotwin_core.text_lines import text_lines
from aerotwin_px4_bridge.path import PATH_STEP_S, SampledPath

HEADER = "t_s,x_m,y_m,z_m,vx_m_s,vy_m_s,vz_m_s,ax_m_s2,ay_m_s2,az_m_s2,yaw_rad,yaw_rate_rad_s"
MAX_BYTES = 200_000_000  # twelve hours
_STEP_ERROR_S = 1e-6
_AT_REST_M_S = 0.2


def write_track(path: str | Path, track: SampledPath) -> None:
    """Write a track, atomically, with a resolution of a micrometre."""
    n = len(track.yaw)
    times = np.arange(n) * PATH_STEP_S
    motion = np.hstack([track.p_map, track.v_map, track.a_map])
    table = np.column_stack([times, motion, track.yaw, track.yaw_rate])
    text = io.StringIO()
    np.savetxt(text, table, fmt="%.6f", delimiter=",", header=HEADER, comments="")
    write_text_atomically(Path(path), text.getvalue())


def read_track(path: str | Path) -> SampledPath:
    """Return the track of a file.

    Raises ParameterError if the file cannot be read, has other columns, is not finite, is not
    sampled every `PATH_STEP_S`, or does not begin and end at rest.
    """
    path = Path(path)
    try:
        lines = text_lines(path, max_bytes=MAX_BYTES)
        _require(next(lines, "").strip() == HEADER, path, f"expected the columns {HEADER}")
        table = np.loadtxt(lines, delimiter=",", ndmin=2)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:
        raise ParameterError(f"{path}: not a table of numbers ({error})") from None
    n_rows, n_columns = table.shape
    is_table = n_columns == HEADER.count(",") + 1 and n_rows >= 2
    _require(is_table, path, "expected two rows at least, of twelve numbers each")
    _require(bool(np.isfinite(table).all()), path, "expected finite numbers")
    steps = np.diff(table[:, 0])
    is_even = bool(np.abs(steps - PATH_STEP_S).max() < _STEP_ERROR_S)
    _require(is_even, path, f"expected a row every {PATH_STEP_S:g} s")
    speed = float(np.linalg.norm(table[[0, -1], 4:7], axis=1).max())
    _require(speed <= _AT_REST_M_S, path, f"expected rest at both ends, found {speed:.2f} m/s")
    return SampledPath(
        p_map=table[:, 1:4],
        v_map=table[:, 4:7],
        a_map=table[:, 7:10],
        yaw=table[:, 10],
        yaw_rate=table[:, 11],
    )


def join(*parts: SampledPath) -> SampledPath:
    """Return the concatenated paths; each begins a step after the end of the one before.

    The points that are passed are those of the first.
    """
    yaws = [parts[0].yaw]
    for part in parts[1:]:
        turn = part.yaw[0] - yaws[-1][-1]
        yaws.append(part.yaw - 2.0 * np.pi * np.round(turn / (2.0 * np.pi)))
    return SampledPath(
        p_map=np.vstack([part.p_map for part in parts]),
        v_map=np.vstack([part.v_map for part in parts]),
        a_map=np.vstack([part.a_map for part in parts]),
        yaw=np.concatenate(yaws),
        yaw_rate=np.concatenate([part.yaw_rate for part in parts]),
        passed_s=parts[0].passed_s,
    )


def _require(condition: bool, path: Path, expectation: str) -> None:
    if not condition:
        raise ParameterError(f"{path}: {expectation}; write it with write_track")
