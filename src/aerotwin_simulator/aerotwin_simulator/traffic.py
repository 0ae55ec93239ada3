# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles of one simulation to each other: they see, hit and blow down on each other.

Every vehicle has moved by the step before the first one measures, so that nothing depends on their
order.
"""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.downwash import Downwash
from aerotwin_rendering import ObjectsAt
from aerotwin_simulator.robot import SINGLE, SimulatedRobot, Stepped
from aerotwin_simulator.vehicle import SimulatedVehicle
from aerotwin_simulator.vehicle_collisions import VehicleCollisions
from aerotwin_simulator.vehicle_tracks import VehicleTracks


class VehicleTraffic:
    """Several vehicles that are stepped together by `step_s`; rotors blow with `has_downwash`."""

    def __init__(self, step_s: float, *, has_downwash: bool) -> None:
        self._tracks = VehicleTracks(step_s)
        self._collisions = VehicleCollisions(step_s)
        self._has_downwash = has_downwash
        self._downwash: Downwash | None = None
        self._stepped: tuple[Stepped, ...] = ()
        self._vehicles: tuple[SimulatedRobot, ...] = ()
        self._blowing: list[SimulatedVehicle] = []

    def seen_by(self, name: str, objects_at: ObjectsAt) -> ObjectsAt:
        """Return what a vehicle sees: other objects, and all vehicles but itself."""
        return self._tracks.others(name, objects_at)

    def restart(self, stepped: Sequence[Stepped], stamp_ns: int) -> None:
        """Continue with the vehicles of these, from where they are at an instant [ns].

        Raises
        ------
        ParameterError
            If two touch, or an airframe has no model of its downwash.
        """
        vehicles = [robot for each in stepped for robot in each.robots]
        shapes = {vehicle.name: vehicle.shape for vehicle in vehicles}
        states = _states([vehicle.truth for vehicle in vehicles])
        names = [name or SINGLE for name in shapes]
        self._collisions.set_vehicles(names, [shape.hull for shape in shapes.values()])
        if (pair := self._collisions.touching(states)) is not None:
            (first, second), (x, y, _) = (names[k] for k in pair), states[pair[1], :3]
            raise ParameterError(
                f"{second}: its start ({x:.1f}, {y:.1f}) m in map touches {first}, expected "
                "vehicles apart; choose another start_east_m and start_north_m"
            )
        self._stepped, self._vehicles = tuple(stepped), tuple(vehicles)
        look_back_s = max(vehicle.look_back_s for vehicle in vehicles)
        self._tracks.set_vehicles(shapes, look_back_s)
        self._tracks.add(stamp_ns, stamp_ns, states, states)
        if self._has_downwash:
            self._blowing = [v for v in vehicles if isinstance(v, SimulatedVehicle)]
            self._downwash = _downwash(self._blowing)

    def blow(self) -> None:
        """Let the rotors blow down on other multirotors in the next step, if that is asked for."""
        if self._downwash is None:
            return
        winds = self._downwash.winds(
            _states([vehicle.truth for vehicle in self._blowing]),
            [vehicle.body.rotor_speed_rad_s for vehicle in self._blowing],
            np.array([vehicle.air.wind_map for vehicle in self._blowing]),
        )
        for vehicle, wind in zip(self._blowing, winds, strict=True):
            vehicle.air.set_downwash(wind)

    def meet(self, begin_ns: int, end_ns: int) -> None:
        """Let vehicles that moved by a step [ns] see each other there, and hit each other."""
        before, after = map(np.vstack, zip(*(each.ends for each in self._stepped), strict=True))
        self._tracks.add(begin_ns, end_ns, before, after)
        for i, j, of_first, of_second in self._collisions.check_states(before, after):
            self._vehicles[i].hit(of_first)
            self._vehicles[j].hit(of_second)


def _downwash(vehicles: Sequence[SimulatedVehicle]) -> Downwash | None:
    if len(vehicles) < 2:
        return None
    try:
        return Downwash([vehicle.airframe for vehicle in vehicles])
    except ValueError as error:
        raise ParameterError(f"wind.downwash: {error}") from None


def _states(states: Sequence[np.ndarray]) -> np.ndarray:
    """Return a copy of what state arrays of any robots have in common, (n, k)."""
    n = layout.N_HEAD
    return np.concatenate([state[:n] for state in states]).reshape(len(states), n)
