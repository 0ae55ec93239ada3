# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of lidar and radar in flight, beside the same flight without them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_faults import Echoes, FaultTiming, activated, load_fault, rain_extinction
from aerotwin_sensor_models import Lidar, LidarParameters
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator import CameraSettings, ControllerSettings, LidarSettings, RadarSettings
from aerotwin_simulator.scanners import BodyScanner

SECOND = 1_000_000_000
FROM_1_TO_2 = FaultTiming(begin_ns=SECOND, duration_s=1.0)
SIGMAS = 5.0


def is_during(stamp):
    return SECOND <= stamp < 2 * SECOND


@pytest.fixture
def flown(fly, controllers):
    """Hover for 2.5 s without cameras; return (stamp, message) of topics."""
    n_flights = 0

    def run(*topics, faults=(), **parameters):
        nonlocal n_flights
        n_flights += 1
        _, bag = fly(
            f"flight_{n_flights}",
            faults,
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            camera=CameraSettings(is_rendered=False),
            duration_s=2.5,
            **parameters,
        )
        return [[(stamp_ns(m), m) for _, _, m in bag.messages([topic])] for topic in topics]

    return run


@pytest.mark.parametrize(
    ("kind", "topics"),
    [("lidar_loss", ["/lidar/points"]), ("radar_loss", ["/radar/polar", "/radar/points"])],
)
def test_a_lost_scanner_is_silent_and_comes_back_as_if_nothing_was(flown, kind, topics):
    sensors = {"lidar": LidarSettings(preset="spinning_16"), "radar": RadarSettings(preset="ideal")}
    sound = flown(*topics, **sensors)
    faulty = flown(*topics, **sensors, faults=[(kind, {}, FROM_1_TO_2)])
    for before, after in zip(sound, faulty, strict=True):
        expected = [str(message) for stamp, message in before if not is_during(stamp)]
        assert [str(message) for _, message in after] == expected
        assert len(before) > len(expected) > 4


@pytest.mark.parametrize("kind", ["lidar_dropout", "lidar_rain"])
def test_a_lidar_in_flight_loses_beams_or_sees_drops_before_the_sky(flown, kind):
    lidar = LidarSettings(preset="spinning_16")
    own = {"lidar_dropout": {"share": 0.3}, "lidar_rain": {"rate_mm_h": 100.0}}[kind]
    (sound,) = flown("/lidar/points", lidar=lidar)
    (faulty,) = flown("/lidar/points", lidar=lidar, faults=[(kind, own, FROM_1_TO_2)])
    down, up = [], []
    for turns in (sound, faulty):
        points = [np.frombuffer(m.data, POINT) for stamp, m in turns if is_during(stamp)]
        is_up = np.concatenate([turn["z"] > 0.3 for turn in points])  # the vehicle is nearly level
        up.append(is_up.sum())
        down.append((~is_up).sum())
    assert up[0] == 0
    if kind == "lidar_dropout":
        assert up[1] == 0
        assert down[1] == pytest.approx(0.7 * down[0], abs=SIGMAS * math.sqrt(0.21 * down[0]))
    else:
        assert up[1] > 100
    outside = [[str(m) for stamp, m in t if not is_during(stamp)] for t in (sound, faulty)]
    assert outside[0] == outside[1]


@pytest.mark.parametrize("rate_mm_h", [20.0, 200.0])
@pytest.mark.parametrize("distance_m", [20.0, 40.0, 60.0])
def test_returns_in_rain_are_those_of_the_lidar_equation_with_extinction(rate_mm_h, distance_m):
    """In a sphere of 10 %, of drops out of view: P = Phi(snr (L / z)^2 exp(-2 a z) - threshold)."""
    parameters = LidarParameters(limit_range_m=40.0)

    def sphere(rays, stamps_ns):
        n = len(rays)
        distance = np.full(n, distance_m, np.float32)
        return Echoes(distance, -rays[:, 3:], np.full(n, 0.1, np.float32))

    rain = load_fault("lidar_rain", {"rate_mm_h": rate_mm_h, "nearest_m": 20.0}, where="test")
    scanner = BodyScanner(
        parameters, lambda *_: [], LidarSettings(), SimpleNamespace(beams=sphere), topics=(),
        frames=("", ""),
    )  # fmt: skip
    scanner.apply_faults(
        [activated("rain", rain, FaultTiming(begin_ns=0), np.random.default_rng(0))]
    )
    still = Trajectory(
        np.array([0, 2 * parameters.period_ns]), np.zeros((2, 3)), np.tile([0, 0, 0, 1.0], (2, 1))
    )
    scan = Lidar(parameters).scan(scanner._cast(0), still, 0)
    passed = math.exp(-2.0 * rain_extinction(rate_mm_h) * distance_m)
    expected = norm.cdf(5.0 * (40.0 / distance_m) ** 2 * passed - 3.72)
    n = parameters.n_rings * parameters.n_columns
    error = SIGMAS * math.sqrt(expected * (1.0 - expected) / n) + 2e-4  # of the table of normals
    assert len(scan) / n == pytest.approx(expected, abs=error)
