# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a radar on the campus beside bare Embree, and its peaks beside SciPy's filters."""

import numpy as np
from scipy.ndimage import uniform_filter1d

from aerotwin_core.trajectory import Trajectory
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import DetectorParameters, Radar, detect, load_preset
from aerotwin_sensor_models.radar import LEVEL_DB
from aerotwin_worlds import load_world
from evidence.benchmarks.result import Benchmark
from evidence.benchmarks.setting import embree_cast, wall_ms

GOAL_TURN, GOAL_PEAKS = 0.2, 1.7
"""Measured 0.33 and 2.6 on two quiet cores, 0.31 and 30 on busy ones."""
HEIGHT_M, SPEED_M_S = 1.0, 1.0
N_WARM, N_TURNS = 2, 15


def radar_turn() -> list[Benchmark]:
    """Cast turns at the start point of the campus, moving, and detect what is in them."""
    world = load_world("campus")
    queries, radar = WorldQueries(world), Radar(load_preset("radar", "navtech_cir304"))
    p = radar.parameters
    stamps = np.array([0, p.period_ns])
    places = world.start_p_map + np.array([[0.0, 0.0, HEIGHT_M], [0.0, 0.0, HEIGHT_M]])
    places[1, 0] += SPEED_M_S * p.period_ns * 1e-9
    motion = Trajectory(stamps, places, np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)))
    rays: list[np.ndarray] = []
    levels = radar.scan(lambda cast: queries.beams(_visible(cast, rays)), motion, 0).levels
    bare = embree_cast(queries, np.concatenate(rays))
    calls = (
        lambda: radar.scan(queries.beams, motion, 0),
        bare,
        lambda: detect(levels, p.bin_m),
        lambda: scipy_peaks(levels),
    )
    times = [[wall_ms(call) for call in calls] for _ in range(N_WARM + N_TURNS)]
    turn, cast, peaks, filters = np.median(times[N_WARM:], axis=0)
    name = f"radar turn {p.n_azimuths}x{p.n_bins}, campus"
    return [
        Benchmark.beside(
            name,
            "ms",
            turn,
            peer="Embree (Open3D) casting the same rays and nothing else",
            peer_value=cast,
            goal=GOAL_TURN,
        ),
        Benchmark.beside(
            f"{name}: its peaks",
            "ms",
            peaks,
            peer="the same threshold by SciPy's uniform filter",
            peer_value=filters,
            goal=GOAL_PEAKS,
        ),
    ]


def _visible(rays: np.ndarray, to: list[np.ndarray]) -> np.ndarray:
    to.append(np.array(rays, np.float32))
    return rays


def scipy_peaks(levels: np.ndarray) -> np.ndarray:
    """Return the cells above the threshold; the averaged cells are outer less inner window."""
    p = DetectorParameters()
    power = (10.0 ** (LEVEL_DB * np.arange(256) / 10.0))[levels]
    n_outer, n_inner = 2 * (p.n_side + p.n_guard) + 1, 2 * p.n_guard + 1
    outer = n_outer * uniform_filter1d(power, n_outer, axis=1)
    mean = (outer - n_inner * uniform_filter1d(power, n_inner, axis=1)) / (2 * p.n_side)
    return np.argwhere(power > p.factor * mean + p.offset)
