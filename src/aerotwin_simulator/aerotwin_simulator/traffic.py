# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles of one simulation to each other: they see, hit and blow down on each other.

Every vehicle has moved by the step before the first one measures, so that nothing depends on their
order.
"""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import layout, load_airframe
from aerotwin_multirotor_dynamics.downwash import Downwash
from aerotwin_rendering import ObjectsAt
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.vehicle import SimulatedVehicle
from aerotwin_simulator.vehicle_collisions import VehicleCollisions
from aerotwin_simulator.vehicle_tracks import VehicleTracks


class VehicleTraffic:
    """Several vehicles that are stepped together; a single one needs none."""

    def __init__(self, plans: Sequence[VehiclePlan]) -> None:
        self._names = [plan.name for plan in plans]
        airframes = [load_airframe(plan.parameters.airframe) for plan in plans]
        step_s = plans[0].parameters.step_s
        self._tracks = VehicleTracks(self._names, airframes, step_s)
        self._collisions = VehicleCollisions(self._names, airframes, step_s)
        self._downwash: Downwash | None = None
        if plans[0].parameters.wind.downwash:
            try:
                self._downwash = Downwash(airframes)
            except ValueError as error:
                raise ParameterError(f"wind.downwash: {error}") from None

    def seen_by(self, index: int, objects_at: ObjectsAt) -> ObjectsAt:
        """Return what a vehicle sees: other objects, and all vehicles but itself."""
        return self._tracks.others(index, objects_at)

    def restart(self, vehicles: Sequence[SimulatedVehicle], stamp_ns: int) -> None:
        """Start from where the vehicles are at an instant [ns].

        Raises
        ------
        ParameterError
            If two touch.
        """
        states = _states([vehicle.truth for vehicle in vehicles])
        if (pair := self._collisions.touching(states)) is not None:
            (first, second), (x, y, _) = (self._names[k] for k in pair), states[pair[1], :3]
            raise ParameterError(
                f"{second}: its start ({x:.1f}, {y:.1f}) m in map touches {first}, expected "
                "vehicles apart; choose another start_east_m and start_north_m"
            )
        self._tracks.remember(max(vehicle.look_back_s for vehicle in vehicles))
        self._tracks.add(stamp_ns, stamp_ns, states, states)

    def blow(self, vehicles: Sequence[SimulatedVehicle]) -> None:
        """Let the rotors blow down on other vehicles in the next step, if that is asked for."""
        if self._downwash is None:
            return
        winds = self._downwash.winds(
            _states([vehicle.truth for vehicle in vehicles]),
            [vehicle.body.rotor_speed_rad_s for vehicle in vehicles],
            np.array([vehicle.air.wind_map for vehicle in vehicles]),
        )
        for vehicle, wind in zip(vehicles, winds, strict=True):
            vehicle.air.set_downwash(wind)

    def meet(self, vehicles: Sequence[SimulatedVehicle], begin_ns: int, end_ns: int) -> None:
        """Let vehicles that moved by a step [ns] see each other there, and hit each other."""
        before = _states([vehicle.step.start for vehicle in vehicles])
        after = _states([vehicle.step.end for vehicle in vehicles])
        self._tracks.add(begin_ns, end_ns, before, after)
        for i, j, of_first, of_second in self._collisions.check_states(before, after):
            vehicles[i].hit(of_first)
            vehicles[j].hit(of_second)


def _states(states: Sequence[np.ndarray]) -> np.ndarray:
    """Return a copy of what state arrays of any airframes have in common, (n, k)."""
    return np.array([state[: layout.N_HEAD] for state in states])
