# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator passes every feature of simulation_interfaces that it announces."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerotwin_core.bag import BagReader

pytestmark = [pytest.mark.ros, pytest.mark.slow]

FLIGHT = Path(__file__).resolve().parent.parent / "launch" / "sitl_flight.launch.yaml"
INSTANCE = 89
LIMIT_S = 240.0
N_ANNOUNCED = 27
# A plain is loaded in no time, also on a busy machine.
GROUND = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
end_header
-50 -50 0
50 -50 0
50 50 0
-50 50 0
3 0 1 2
3 0 2 3
"""
WORLD = """name: plain
mesh: ground.ply
origin: {latitude_deg: 47.397742, longitude_deg: 8.545594, altitude_m: 488.0}
start: {x_m: 0.0, y_m: 0.0, yaw_deg: 90.0}
attribution: Made by a test
licence: CC0-1.0
"""


@pytest.fixture
def flight(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """A flight of one vehicle without a mission."""
    world = tmp_path / "plain.yaml"
    world.write_text(WORLD)
    (tmp_path / "ground.ply").write_text(GROUND)
    tokens = {"world": world, "mission": "none", "slam": "none", "camera": "false", "speed": 0.0}
    arguments = [f"{name}:={value}" for name, value in tokens.items()]
    flight = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "launch", str(FLIGHT), *arguments,
         f"instance:={INSTANCE}", f"runs_dir:={tmp_path / 'runs'}"],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield flight
    finally:
        if flight.poll() is None:
            os.killpg(flight.pid, signal.SIGINT)
        flight.wait(LIMIT_S)


def ask_side_by_side(sim):
    """While many steps are made, other requests are answered; playing on gives the rest up."""
    from conformance.client import OK
    from conformance.expectations import FAILED, MANY, S, expect, stamp_ns
    from conformance.run_checks import wait_until
    from simulation_interfaces import srv

    sim.bring_to(S.STATE_PAUSED)
    before_ns = stamp_ns(sim)
    steps = sim.start(srv.StepSimulation, steps=MANY)
    wait_until(sim, lambda: stamp_ns(sim) > before_ns, "the first steps")
    refusal = sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_TIME)
    assert not steps.done()
    assert "SCOPE_STATE" in refusal.result.error_message
    assert sim.state() == S.STATE_PAUSED
    expect(sim.call(srv.StepSimulation, steps=1), FAILED)
    expect(sim.set_state(S.STATE_PLAYING), OK)
    result = sim.wait_for(steps, "StepSimulation").result
    expect(result, FAILED)
    assert f"of {MANY} steps were made: the run was resumed" in result.error_message


def test_what_is_announced_is_true_and_the_rest_is_refused(flight, tmp_path):
    import rclpy
    from conformance.client import SimulatorClient
    from conformance.expectations import N_STEPS
    from conformance.suite import PASSED, run_suite, table

    rclpy.init()
    sim = SimulatorClient("/simulator", LIMIT_S)
    try:
        ask_side_by_side(sim)
        rows = run_suite(sim, quits=True)
    finally:
        sim.close()
        rclpy.try_shutdown()
    print(table(rows))
    assert [row for row in rows if not row.is_conform] == []
    announced = [row for row in rows if row.is_announced]
    assert len(announced) >= N_ANNOUNCED
    assert {row.result for row in announced} == {PASSED}

    flight.wait(LIMIT_S)
    (folder,) = (tmp_path / "runs").iterdir()
    bags = sorted(path.name for path in folder.glob("bag*"))
    assert {"bag", "bag_before_reset_1"} <= set(bags)
    # The first is that of the launch; in the others nothing was placed before their first steps.
    imu = [
        [cdr for _, _, cdr in BagReader(folder / f"bag_before_reset_{k}").raw(["/imu/data_raw"])]
        for k in (2, 3)
    ]
    n_common = min(map(len, imu))
    print(f"{n_common} IMU messages are compared")
    assert n_common >= N_STEPS
    assert imu[0][:n_common] == imu[1][:n_common]
