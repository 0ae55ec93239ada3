# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A MAVSDK client flies the embedded autopilot over UDP, in a lockstep simulation."""

import json
import math
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from aerotwin_px4_bridge import offboard_port

INSTANCE = 61
SPEED = 3.0
"""Times real time: MAVSDK's timeouts run on the wall clock, so not as fast as possible."""
GOAL_NORTH_M = -6.0
ARRIVAL_ERROR_M = 2.0
"""The client's own arrival circle (0.5 m) and the error of a GNSS estimate (3 sigma: 1.5 m)."""
LIMIT_S = 120.0


def lockstep(vehicle, link, stop: threading.Event, track: list) -> None:
    """Step the vehicle at SPEED times real time until told to stop."""
    commands, is_armed = (0.0,) * 4, False
    start = time.monotonic()
    while not stop.is_set():
        vehicle.step(commands, is_armed=is_armed)
        answer = link.exchange(vehicle.time_us, vehicle.frames())
        commands, is_armed = answer.controls[:4], answer.is_armed
        if vehicle.time_us % 100_000 == 0:
            track.append(vehicle.body.state.p_map_body)
            ahead = vehicle.time_us * 1e-6 / SPEED - (time.monotonic() - start)
            if ahead > 0.0:
                time.sleep(ahead)


@pytest.mark.slow
def test_a_mavsdk_client_arms_takes_off_flies_to_a_point_and_lands(simulated_vehicle, autopilot):
    pytest.importorskip("mavsdk")
    link = autopilot(INSTANCE)
    vehicle, stop, track = simulated_vehicle(seed=3), threading.Event(), []
    simulation = threading.Thread(target=lockstep, args=(vehicle, link, stop, track))
    simulation.start()
    try:
        client = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("fly_with_mavsdk.py")),
             str(offboard_port(INSTANCE))],
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    finally:
        stop.set()
        simulation.join()
    assert client.returncode == 0, client.stdout + client.stderr
    assert json.loads(client.stdout.splitlines()[-1])["in_air"] == [False, True, False]
    path = np.array(track)
    assert not vehicle.body.is_crashed
    assert path[:, 2].max() > 3.0
    moved = path[-1, :2] - path[0, :2]
    assert math.dist(moved, (0.0, GOAL_NORTH_M)) < ARRIVAL_ERROR_M
