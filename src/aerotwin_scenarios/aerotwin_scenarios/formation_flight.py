# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A formation of full vehicles or point masses in one process, the same for each seed.

The pilots are those of the node `formation`; here each is asked in the loop of the simulation as
soon as its vehicle's estimate has come, and what it says and commands needs no time: nothing
depends on the machine.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import replaced
from aerotwin_core.time import to_seconds
from aerotwin_formation import FormationMission, FormationPilot, PilotParameters
from aerotwin_formation.pilot import PilotAction
from aerotwin_formation.record import FormationRecorder
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.setpoint_stream import VelocityTarget
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.controllers.backend import Commanded
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_worlds import World

TAKEOFF_HEIGHT_M = 2.5
"""As of the service `takeoff`."""


class PilotedFormation:
    """The vehicles of a simulation, each with a pilot; the first is the leader.

    Attributes
    ----------
    pilots : list of FormationPilot
        In the order of the vehicles.
    truth, estimates : FormationRecorder
        What was flown, and what the autopilots estimated; with each estimate of the leader.
    """

    def __init__(
        self,
        simulation: Simulation,
        parameters: PilotParameters,
        mission: FormationMission,
        *,
        seed: int,
    ) -> None:
        self._simulation = simulation
        n = len(simulation.vehicles)
        self.pilots = [
            FormationPilot(parameters, n, k, mission=None if k else mission, seed=seed)
            for k in range(n)
        ]
        for vehicle in simulation.vehicles:
            _commanded(vehicle)
        self._stamps_ns = [-1] * n
        self.truth = FormationRecorder(parameters.separation)
        self.estimates = FormationRecorder(parameters.separation)
        self._closest_m = np.inf

    def advance(self) -> None:
        """Advance the simulation by a step, and ask the pilots whose estimates are new."""
        self._simulation.advance()
        position = np.array([vehicle.p_map_body for vehicle in self._simulation.vehicles])
        self._closest_m = min(self._closest_m, self.truth.closest_m(position))
        leader_is_new, *_ = [self._ask(k) for k in range(len(self.pilots))]
        if leader_is_new:
            self._record(position)

    def _ask(self, k: int) -> bool:
        """Let a pilot act on a new estimate; return whether the leader has."""
        vehicle, pilot = self._simulation.vehicles[k], self.pilots[k]
        estimate = vehicle.backend.estimate
        if estimate is None or estimate.stamp_ns == self._stamps_ns[k]:
            return False
        self._stamps_ns[k] = estimate.stamp_ns
        action = pilot.step(estimate.stamp_ns, estimate.p_map, estimate.v_map)
        _obey(_commanded(vehicle), action)
        if action.report is not None:
            for other in self.pilots:
                if other is not pilot:
                    other.receive(action.report)
        return k == 0

    def _record(self, position: FloatArray) -> None:
        """Add what is true and what is estimated now."""
        now_ns, plan = self._simulation.stamp_ns, self.pilots[0].plan
        velocity = np.array([v.truth[layout.VELOCITY] for v in self._simulation.vehicles])
        self.truth.add(now_ns, position, velocity, plan, self._closest_m)
        estimates = [vehicle.backend.estimate for vehicle in self._simulation.vehicles]
        found = [estimate for estimate in estimates if estimate is not None]
        if len(found) == len(estimates):
            ages = [to_seconds(now_ns - estimate.stamp_ns) for estimate in found]
            velocity = np.array([estimate.v_map for estimate in found])
            position = np.array([estimate.p_map for estimate in found])
            position += np.array(ages)[:, None] * velocity
            closest_m = self.estimates.closest_m(position)
            self.estimates.add(now_ns, position, velocity, plan, closest_m)
        self._closest_m = np.inf


def _commanded(vehicle: SimulatedRobot) -> Commanded:
    """Return the controller of a vehicle. Raises UserError if it flies no set-points."""
    backend = vehicle.backend
    if not isinstance(backend, Commanded) or not backend.takes_setpoints:
        raise UserError(
            f"{vehicle.title}: expected an autopilot without a mission, found controller "
            f"{vehicle.parameters.controller.kind}, mission {vehicle.parameters.mission.file}"
        )
    return backend


def _obey(vehicle: Commanded, action: PilotAction) -> None:
    """Do what a pilot ordered; what a vehicle is not ready for is ordered again."""
    if action.order == "take_off":
        with suppress(UserError):
            vehicle.arm(True)
            vehicle.take_off(TAKEOFF_HEIGHT_M)
    elif action.order == "land":
        with suppress(UserError):  # it has landed already
            vehicle.land()
    if action.velocity is not None:
        vehicle.set_target(VelocityTarget(velocity=action.velocity, is_body=False))


@contextmanager
def formation_in(
    world: World,
    folder: Path,
    n_vehicles: int,
    mission: FormationMission,
    parameters: PilotParameters | None = None,
    *,
    seed: int,
    changes: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Simulation, PilotedFormation]]:
    """Start a formation of vehicles without cameras and recording; end it with the block.

    `folder` is that of the autopilots' logs; `changes` are parameters of the simulator by name.
    """
    own = {
        "world": world.name, "camera.is_rendered": False, "record": "none", "seed": seed,
        "mission.landing_ends_flight": True, "fleet.instances": n_vehicles,
    }  # fmt: skip
    values = replaced(SimulatorParameters(), {**own, **(changes or {})})
    simulation = Simulation(values, world, folder, [])
    try:
        formation = PilotedFormation(
            simulation, parameters or PilotParameters(), mission, seed=seed
        )
        simulation.start()
        yield simulation, formation
    finally:
        simulation.close()
