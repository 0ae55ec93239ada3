# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Twenty vehicles of every kind in one run, twice: one seed gives the same bytes."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.setpoint_stream import VelocityTarget
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.recording import BagSink
from aerotwin_worlds import World
from support.obstacle_stage import plane

INSTANCE = 100
N_STEPS, N_STANDING = 150, 50  # of 4 ms; before masses are ordered
WALL_TIME = ("status", "diagnostics")
"""In the names of topics with the longest wait for an answer, which is wall time."""
PILOT = '''
from aerotwin_multirotor_dynamics import hover_speed_rad_s


class Hoverer:
    """Climbs above what its lidar sees, and stays there."""

    reads = ("lidar/points",)

    def __init__(self, context):
        self.hover, self.height = hover_speed_rad_s(context.airframe), 1.0

    def step(self, sample):
        for reading in sample.readings:
            self.height += 1e-3 * reading.points_sensor[:, 0].mean()
        error, climb = self.height - sample.p_map_body[2], sample.v_map_body[2]
        return [self.hover + 100.0 * error - 100.0 * climb] * 4
'''
KINDS = {
    "embedded": (9, {"controller": "embedded"}),
    "mass": (5, {"dynamics": "point_mass"}),
    "rover": (5, {"dynamics": "ground_robot", "lidar": "spinning_16"}),
    "python": (1, {"controller": "python:own_pilot:Hoverer", "lidar": "spinning_16"}),
}


@pytest.fixture
def fleet(tmp_path, monkeypatch) -> str:
    """A fleet file of all kinds on a grid of 4 m; one joins and one leaves under way."""
    (tmp_path / "own_pilot.py").write_text(PILOT)
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = [{"name": f"{kind}{k}", **own} for kind, (n, own) in KINDS.items() for k in range(n)]
    for i, row in enumerate(rows):
        row |= {"start_east_m": 4.0 * (i % 5), "start_north_m": 4.0 * (i // 5)}
    by_name = {row["name"]: row for row in rows}
    by_name["mass0"]["joins_at_s"] = 0.1
    by_name["rover0"]["leaves_at_s"] = 0.5
    path = tmp_path / "fleet.yaml"
    path.write_text(yaml.safe_dump({"vehicles": rows}))
    return str(path)


@pytest.fixture
def fly(tmp_path, fleet) -> Callable[[str], tuple[dict[str, str], dict[str, np.ndarray]]]:
    """Return what flies the fleet: the digest of each topic of its bag, and the last states."""
    world = World(
        name="plane",
        meshes=(plane(),),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=488.0),
        attribution="made in a test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )
    changes = {
        "fleet.file": fleet,
        "fleet.instance": INSTANCE,
        "mission.file": "none",
        "camera.is_rendered": False,
        "wind.turbulence_m_s": 3.0,
        "wind.downwash": True,
        "point_mass.estimate.own_m": 0.1,
        "seed": 5,
    }

    def run(name: str) -> tuple[dict[str, str], dict[str, np.ndarray]]:
        folder = tmp_path / name
        folder.mkdir()
        bag = BagSink(folder / "bag")
        simulation = Simulation(replaced(SimulatorParameters(), changes), world, folder, [bag])
        try:
            simulation.start()
            for k in range(N_STEPS):
                command(simulation, k)
                simulation.advance()
            assert simulation.is_repeatable
            assert simulation.outcome is None
            states = {v.name: v.truth.copy() for v in (*simulation.vehicles, *simulation.left)}
        finally:
            simulation.close()
            bag.close()
        return digests_of(folder / "bag"), states

    return run


def command(simulation: Simulation, k: int) -> None:
    """Give the orders of the k-th step: masses take off, ground robots drive arcs."""
    for i, vehicle in enumerate(simulation.vehicles):
        if vehicle.name.startswith("rover"):
            vehicle.backend.set_target(VelocityTarget(velocity=[1.0, 0.0, 0.0], yaw_rate=0.1 * i))
        elif vehicle.name.startswith("mass") and k == N_STANDING:
            vehicle.backend.arm(True)
            vehicle.backend.take_off(3.0)


def digests_of(bag: Path) -> dict[str, str]:
    """Return a digest of stamps and bytes of each topic that holds no wall time."""
    digests = {}
    for name, stamp_ns, cdr in BagReader(bag).raw():
        if not any(part in name for part in WALL_TIME):
            digest = digests.setdefault(name, hashlib.sha256())
            digest.update(stamp_ns.to_bytes(8, "little") + bytes(cdr))
    return {name: digest.hexdigest() for name, digest in digests.items()}


def test_one_seed_gives_the_same_bytes_of_twenty_of_all_kinds(fly):
    (first, states), (second, again) = fly("first"), fly("second")
    assert first == second
    assert len(states) == sum(n for n, _ in KINDS.values()) == 20
    for name, state in states.items():
        assert np.array_equal(state, again[name]), name
        assert f"/{name}/truth/odom" in first
        if not name.startswith("embedded"):  # they are not ready to arm yet
            assert np.linalg.norm(state[layout.VELOCITY]) > 0.1, name
    of_lidars = {name for name in first if name.endswith(("lidar/points", "/scan"))}
    rovers = [f"/rover{k}" for k in range(KINDS["rover"][0])]
    assert of_lidars == {
        "/python0/lidar/points",
        *(f"{rover}/{topic}" for rover in rovers for topic in ("lidar/points", "scan")),
    }
    digests = [first[f"{rover}/scan"] for rover in rovers]
    assert len({*digests}) == len(digests)
