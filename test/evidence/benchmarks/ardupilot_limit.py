# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How fast ArduPilot alone can be stepped: a stub sends one text at rest, only its time changes."""

import os
import socket
import struct
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from aerotwin_ardupilot_bridge import ArduPilotHome, ardupilot_process, json_port
from aerotwin_ardupilot_bridge.frames import ArduPilotFrame
from aerotwin_ardupilot_bridge.process import RATE_HZ, frame_parameters
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from evidence.benchmarks.px4_limit import HOME

QUAD_X = ArduPilotFrame(frame_class=1, frame_type=1, rotors=(0, 1, 2, 3))
CLIENT_PORT = 14960
"""Nobody listens there."""
_BLOCK_STEPS = 4 * RATE_HZ
_SILENCE_S = 30.0
_COUNT = struct.Struct("<4xI")
_AT_REST = (
    '\n{"timestamp":%.3f,"imu":{"gyro":[0.001,0,0],"accel_body":[0.01,0,-9.8]},'
    '"position":[0,0,0],"velocity":[0,0,0],"quaternion":[1,0,0,0]}\n'
)


def ardupilot_limit(
    ardupilot_dir: Path,
    *,
    instance: int = 0,
    duration_s: float = 60.0,
    cpu: int | None = None,
    home: GeodeticPoint = HOME,
) -> float:
    """Return the real-time factor at which ArduPilot answers when nothing is computed.

    Arguments and errors as those of `px4_limit`; UserError if it falls silent.
    """
    allowed = os.sched_getaffinity(0)
    core = max(allowed) if cpu is None else cpu
    with (
        TemporaryDirectory(prefix="aerotwin-") as folder,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stub,
    ):
        stub.bind(("127.0.0.1", json_port(instance)))
        stub.settimeout(_SILENCE_S)
        process = ardupilot_process(
            str(ardupilot_dir),
            instance,
            Path(folder),
            home=ArduPilotHome(home, LocalTangentPlane(home)),
            client_port=CLIENT_PORT,
            parameters=frame_parameters(QUAD_X, hover_thrust=0.3, speed_offset=0.1),
            cpu=core,
        )
        os.sched_setaffinity(0, {core})
        try:
            with process:
                times = _block_times(stub, round(duration_s * RATE_HZ / _BLOCK_STEPS))
        finally:
            os.sched_setaffinity(0, allowed)
    counted = times[len(times) // 4 :]
    return _BLOCK_STEPS / RATE_HZ / median(counted)


def _block_times(stub: socket.socket, n_blocks: int) -> list[float]:
    """Step through the blocks; return the wall time of each [s]."""
    packet, address = stub.recvfrom(128)
    times, steps, frame = [], count(1), 0
    for _ in range(n_blocks):
        start = perf_counter()
        for _ in range(_BLOCK_STEPS):
            stub.sendto((_AT_REST % (next(steps) / RATE_HZ)).encode(), address)
            frame += 1
            while _COUNT.unpack_from(packet)[0] != frame:
                packet = stub.recv(128)
        times.append(perf_counter() - start)
    return times
