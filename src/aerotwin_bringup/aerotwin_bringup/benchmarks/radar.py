# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a radar on the campus and its peaks, against 100 of the 250 ms that it lasts."""

from statistics import median

import numpy as np

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_bringup.benchmarks.setting import wall_ms
from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import Radar, load_preset
from aerotwin_teach_repeat.radar import detect
from aerotwin_worlds import WorldQueries, load_world

LIMIT_MS = 100.0
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
    levels = radar.scan(queries.beams, motion, 0).levels
    turn_ms, peak_ms = [], []
    for k in range(N_WARM + N_TURNS):
        times = (
            wall_ms(lambda: radar.scan(queries.beams, motion, 0)),
            wall_ms(lambda: detect(levels, p.bin_m)),
        )
        if k >= N_WARM:
            turn_ms.append(times[0])
            peak_ms.append(times[1])
    name = f"radar turn {p.n_azimuths}x{p.n_bins}, campus"
    return [
        Benchmark.within(name, "ms", median(turn_ms), LIMIT_MS),
        Benchmark.within(f"{name}: its peaks", "ms", median(peak_ms), LIMIT_MS),
    ]
