# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How fast PX4 alone can be stepped: no dynamics, no sensor models, a vehicle that stands still."""

import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_px4_bridge import hil_kernels as kernels
from aerotwin_px4_bridge.link import HilLink, hil_port
from aerotwin_px4_bridge.messages import pack_hil_gps, pack_hil_sensor_sample
from aerotwin_px4_bridge.process import px4_process

STEP_US = 4000
GNSS_STEPS = 25
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
_AT_REST = (0.0, 0.0, 9.80665, 0.0, 0.0, 0.0, 1e-6, 21e-6, -43e-6, 95_600.0, 288.15)
_NOISE = (0.02, 0.02, 0.02, 1e-3, 1e-3, 1e-3, 1e-7, 1e-7, 1e-7, 2.0, 0.0)
"""One standard deviation: what repeats itself to the last digit is stale to PX4."""
_SAMPLES = 4096
_BLOCK_STEPS = 1000
_START_LIMIT_S = 30.0


def px4_limit(
    px4_dir: Path, *, instance: int = 0, duration_s: float = 60.0, cpu: int | None = None
) -> float:
    """Return the real-time factor at which PX4 answers when nothing else is computed.

    Loop and PX4 share one core, as in a flight. The median over blocks of 4 simulated seconds is
    returned; the first quarter, in which modules start, does not count.

    Parameters
    ----------
    px4_dir : Path
        A PX4-Autopilot folder in which `px4_sitl_default` was built.
    instance : int
        Whose ports it takes.
    duration_s : float
        In simulated time, at least 16.
    cpu : int, optional
        The core; default the last that this process may use.

    Raises
    ------
    UserError
        If PX4 was not built there or ends at once, or a port is taken.
    AutopilotLost
        If it does not connect, or stops answering.
    """
    allowed = os.sched_getaffinity(0)
    core = max(allowed) if cpu is None else cpu
    with TemporaryDirectory(prefix="aerotwin-") as folder:
        px4 = px4_process(px4_dir, instance, Path(folder), home=HOME, speed_factor=0.0, cpu=core)
        os.sched_setaffinity(0, {core})
        try:
            with HilLink(hil_port(instance)) as link, px4:
                link.accept(_START_LIMIT_S, lambda _: px4.check())
                times = _block_times(link, round(duration_s * 1e6 / STEP_US / _BLOCK_STEPS))
        finally:
            os.sched_setaffinity(0, allowed)
    counted = times[len(times) // 4 :]
    return _BLOCK_STEPS * STEP_US * 1e-6 / median(counted)


def _block_times(link: HilLink, n_blocks: int) -> list[float]:
    """Step through the blocks; return the wall time of each [s]."""
    rng = np.random.default_rng(0)
    samples = np.array(_AT_REST) + np.array(_NOISE) * rng.normal(size=(_SAMPLES, kernels.N_SAMPLE))
    everything = kernels.HAS_FIELD | kernels.HAS_PRESSURE
    times, n = [], 0
    for _ in range(n_blocks):
        start = perf_counter()
        for _ in range(_BLOCK_STEPS):
            n += 1
            time_us, sample = n * STEP_US, samples[n % _SAMPLES]
            frames = [pack_hil_sensor_sample(time_us, sample, everything)]
            if n % GNSS_STEPS == 0:
                frames.insert(0, _fix(time_us, sample))
            link.exchange(time_us, frames)
        times.append(perf_counter() - start)
    return times


def _fix(time_us: int, sample: np.ndarray) -> bytes:
    """Return a HIL_GPS at home whose velocity wanders a little."""
    return pack_hil_gps(
        time_us, HOME.latitude_deg, HOME.longitude_deg, HOME.altitude_m, sample[:3] - _AT_REST[:3]
    )
