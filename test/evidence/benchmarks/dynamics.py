# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps of one vehicle and of many, beside rotorpy in the same run."""

import time
from collections.abc import Callable

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_multirotor_body.inertial_step import InertialVehicle
from aerotwin_multirotor_dynamics import (
    Multirotor,
    MultirotorBatch,
    hover_command,
    hover_speed_rad_s,
    load_airframe,
)
from aerotwin_sensor_models import (
    Barometer,
    Imu,
    InertialUnit,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)
from evidence.benchmarks.result import Benchmark

DT_S, DATE = 0.004, 2026.0
HEIGHT_M = 1000.0  # far from the ground
BLOCK, N_BLOCKS = 1000, 100
N_PEER_STEPS, N_PEER_BATCH_STEPS = 400, 40
N_VEHICLES, N_BATCH_STEPS = 1000, 200
GOAL_SINGLE, GOAL_BATCH, GOAL_BATCHES = 1500.0, 2500.0, 100.0
"""Measured 2300 and 15 700 on two quiet cores, 2370 and 3900 on busy ones, where threads wait."""
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
SINGLE, BATCH = "one vehicle: body, IMU, mag, baro", f"{N_VEHICLES} vehicles: body"


def vehicle_steps() -> list[Benchmark]:
    """Step one vehicle with its inertial sensors, and a batch of 1000 without, in hover."""
    single, batch, peer = _single(), _batch(), _peer_single()
    return [
        _beside(SINGLE, single, GOAL_SINGLE, "rotorpy, body only", peer),
        _beside(BATCH, batch, GOAL_BATCH, "rotorpy, one body after the other", peer),
        _beside(BATCH, batch, GOAL_BATCHES, "rotorpy batched (torch)", _peer_batch()),
    ]


def _beside(name: str, value: float, goal: float, peer: str, peer_value: float | None) -> Benchmark:
    return Benchmark(
        name=name,
        unit="steps/s",
        value=value,
        goal=goal,
        peer=peer,
        peer_value=peer_value,
        ratio=None if peer_value is None else value / peer_value,
    )


def _rate(step: Callable[[], object], block: int, n_blocks: int) -> float:
    """Return steps per second of the best block, each long enough for the clock.

    Other programs slow down a batch, which takes all cores, more than its peer, which takes one.
    """
    for _ in range(block):
        step()
    seconds = []
    for _ in range(n_blocks):
        start = time.perf_counter()
        for _ in range(block):
            step()
        seconds.append(time.perf_counter() - start)
    return block / min(seconds)


def _single() -> float:
    airframe = load_airframe("iris")
    speed = hover_speed_rad_s(airframe)
    body = Multirotor(airframe, p_map_body=(0.0, 0.0, HEIGHT_M), rotor_speed_rad_s=speed)
    command = np.full(len(airframe.rotors), hover_command(airframe))
    body.step(command, DT_S, is_armed=True)
    vehicle = InertialVehicle(body, _sensors(), step_s=DT_S)
    return _rate(vehicle.step, BLOCK, N_BLOCKS)


def _sensors() -> InertialUnit:
    return InertialUnit(
        Imu(load_preset("imu", "adis16448"), seed_sequence(0, 0, "imu")),
        Magnetometer(load_preset("magnetometer", "default"), seed_sequence(0, 0, "magnetometer")),
        Barometer(load_preset("barometer", "default"), seed_sequence(0, 0, "barometer")),
        field_map_tesla=magnetic_field_enu_tesla(HOME, DATE),
        origin_altitude_m=HOME.altitude_m,
    )


def _batch() -> float:
    airframe = load_airframe("iris")
    places = np.tile([0.0, 0.0, HEIGHT_M], (N_VEHICLES, 1))
    batch = MultirotorBatch(
        airframe, p_map_body=places, rotor_speed_rad_s=hover_speed_rad_s(airframe)
    )
    command = hover_command(airframe)
    return N_VEHICLES * _rate(lambda: batch.step(command, DT_S), 1, N_BATCH_STEPS)


def _peer_single() -> float | None:
    """Return rotorpy's steps per second in hover; None if it is not installed."""
    try:
        from rotorpy.vehicles.hummingbird_params import quad_params
        from rotorpy.vehicles.multirotor import Multirotor as Peer
    except ImportError:
        return None
    speeds = np.full(4, _peer_hover(quad_params))
    peer = Peer(quad_params)
    state = dict(peer.initial_state) | {"rotor_speeds": speeds}

    def step() -> None:
        nonlocal state
        state = peer.step(state, {"cmd_motor_speeds": speeds}, DT_S)

    return _rate(step, 1, N_PEER_STEPS)


def _peer_batch() -> float | None:
    """Return the vehicle-steps per second of rotorpy's batch; None if it or torch is missing."""
    try:
        import torch
        from rotorpy.vehicles.hummingbird_params import quad_params
        from rotorpy.vehicles.multirotor import BatchedMultirotor, BatchedMultirotorParams
    except ImportError:
        return None
    device, n = torch.device("cpu"), N_VEHICLES
    speeds = torch.full((n, 4), _peer_hover(quad_params), dtype=torch.double)
    rest = {"x": [0, 0, 0], "v": [0, 0, 0], "q": [0, 0, 0, 1], "w": [0, 0, 0], "wind": [0, 0, 0]}
    state = {key: torch.tensor([value] * n, dtype=torch.double) for key, value in rest.items()}
    state["rotor_speeds"] = speeds.clone()
    parameters = BatchedMultirotorParams([quad_params] * n, n, device)
    peer = BatchedMultirotor(parameters, n, state, device, integrator="rk4")

    def step() -> None:
        nonlocal state
        state = peer.step(state, {"cmd_motor_speeds": speeds}, DT_S)

    return n * _rate(step, 1, N_PEER_BATCH_STEPS)


def _peer_hover(parameters: dict) -> float:
    """Return the hover speed [rad/s] of a vehicle of rotorpy."""
    lift = parameters["num_rotors"] * parameters["k_eta"]
    return float(np.sqrt(parameters["mass"] * 9.81 / lift))
