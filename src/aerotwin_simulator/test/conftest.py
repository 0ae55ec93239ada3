# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import replaced, to_mapping
from aerotwin_faults import activated, load_fault
from aerotwin_meshes import TexturedMesh
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_simulator import CameraSettings, Simulation, SimulatorParameters
from aerotwin_simulator.recording import BagSink
from aerotwin_worlds import World

CLIMBER = textwrap.dedent(
    """
    from aerotwin_multirotor_dynamics import hover_speed_rad_s


    class Climber:
        '''Climbs to a height and says so; a level vehicle in still air needs no more.'''

        def __init__(self, context):
            self.context, self.samples, self.phase = context, [], "climbing"
            self.hover = context.options.get(
                "hover_rad_s", hover_speed_rad_s(context.airframe)
            )
            self.height = context.options.get("height_m", 2.0)
            self.is_finished = False

        def step(self, sample):
            self.samples.append((sample.stamp_ns, sample.dt, sample.specific_force_body is None))
            error, climb = self.height - sample.p_map_body[2], sample.v_map_body[2]
            self.is_finished = abs(error) < 0.1 and abs(climb) < 0.1
            return [self.hover + 100.0 * error - 100.0 * climb] * 4


    class Hoverer:
        '''Climbs to 2 m and stays until the time is over.'''

        def __init__(self, context):
            self.hover = hover_speed_rad_s(context.airframe)

        def step(self, sample):
            error, climb = 2.0 - sample.p_map_body[2], sample.v_map_body[2]
            return [self.hover + 100.0 * error - 100.0 * climb] * 4


    class Faller(Climber):
        has_fallen = False

        def step(self, sample):
            self.height = 9.0
            self.has_fallen |= sample.p_map_body[2] > 4.0
            return [0.0] * 4 if self.has_fallen else super().step(sample)


    class Raises(Climber):
        def step(self, sample):
            raise RuntimeError("no idea")


    class NotFinite(Climber):
        def step(self, sample):
            return [float("nan")] * 4


    class TooFew(Climber):
        def step(self, sample):
            return [1.0] * 3


    class Broken:
        def __init__(self, context):
            raise KeyError("gain")

        def step(self, sample):
            return []


    class GivesUp(Climber):
        failure = "the wind is too strong"


    NOT_A_CONTROLLER = 3
    """
)


@pytest.fixture(scope="session")
def flat_world() -> World:
    """A textured square of 80 m at the height of map z = 0."""
    rng = np.random.default_rng(5)
    corners = np.array([[-40, -40, 0], [40, -40, 0], [40, 40, 0], [-40, 40, 0]], dtype=float)
    mesh = TexturedMesh(
        vertices_map=corners,
        triangles=np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.float32),
        texture=rng.integers(0, 255, (256, 256, 3), dtype=np.uint8),
    )
    return World(
        name="flat",
        meshes=(mesh,),
        origin=GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0),
        attribution="made in a test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


@pytest.fixture
def iris_with(tmp_path) -> Callable[..., str]:
    """Write an iris with other values, those of a part beside the rest of it; return its path."""

    def write(**changes: object) -> str:
        content = to_mapping(load_airframe("iris"))
        for name, value in changes.items():
            own = content[name]
            content[name] = {**own, **value} if isinstance(value, dict) else value
        path = tmp_path / "changed_iris.yaml"
        path.write_text(yaml.safe_dump(content))
        return str(path)

    return write


@pytest.fixture
def controllers(tmp_path, monkeypatch) -> str:
    """The name of an importable module with controllers."""
    (tmp_path / "own_controllers.py").write_text(CLIMBER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_controllers"


@pytest.fixture
def fly(tmp_path, flat_world):
    """Fly to the end without cameras; return the simulation and its bag.

    `faults` are (kind, values of its parameters, timing), of the first vehicle.
    """

    def run(name: str = "flight", faults=(), **parameters) -> tuple[Simulation, BagReader]:
        folder: Path = tmp_path / name
        folder.mkdir()
        bag = BagSink(folder / "bag")
        default = SimulatorParameters(camera=CameraSettings(is_rendered=False), duration_s=20.0)
        values = replaced(default, parameters)
        simulation = None
        try:
            simulation = Simulation(values, flat_world, folder, [bag])
            for kind, own, timing in faults:
                fault = load_fault(kind, own, where="test")
                rng = np.random.default_rng(values.seed)
                simulation.vehicles[0].faults.add(activated(kind, fault, timing, rng))
            simulation.start()
            while simulation.outcome is None:
                simulation.advance()
        finally:
            if simulation is not None:
                simulation.close()
            bag.close()
        return simulation, BagReader(folder / "bag")

    return run
