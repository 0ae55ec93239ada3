# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Environment of a vehicle: the world it shares with others, the ground below it, the air."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import dist, isfinite
from pathlib import Path

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_faults import ActiveFault
from aerotwin_faults.together import added_wind
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.wind import Wind, WindParameters
from aerotwin_px4_bridge.common_start import CommonStart
from aerotwin_px4_bridge.embedded_host import EmbeddedHost
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import seed_sequence
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.topics import SinkGroup
from aerotwin_worlds import World
from aerotwin_worlds.world_follower import Renderer

CLEAR_M = 2.0
"""Height above the last ground from which on it is queried less often."""
STEPS_WHEN_CLEAR, STEPS_WHEN_STILL = 4, 25
"""At 20 m/s a vehicle moves 0.3 m in the former; a wall is noticed that much later."""
STILL_M = 0.001
"""A vehicle near the ground that moved less since stands on the same plane."""


@dataclass(frozen=True)
class AwaitedReadings:
    """Readings of a vehicle that nodes answer, which keeps them in step.

    `wait` is called with the stamp [ns] before each is published: the place to wait for answers to
    earlier ones. Of "camera" they are the frames of the first camera (the stereo pair, if there is
    one), or, if there is none, its due times; of "lidar" or "radar" the turns.
    """

    wait: Callable[[int], None]
    sensor: str = topics.CAMERA


def check_awaited(
    by_name: Mapping[str, SimulatorParameters], awaited: Mapping[str, AwaitedReadings]
) -> None:
    """Refuse readings of a vehicle or a sensor that does not exist.

    Raises ValueError for the former, ParameterError for the latter.
    """
    for name, readings in awaited.items():
        if name not in by_name:
            raise ValueError(f"awaited must name vehicles ({', '.join(by_name)}), got {name!r}")
        sensor = readings.sensor
        if sensor != topics.CAMERA and not by_name[name].has(sensor):
            raise ParameterError(
                f"wait_at: {name or 'the vehicle'} has no {sensor}; mount one by {sensor}.preset, "
                "or wait at another sensor"
            )


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Environment of a vehicle, all of it shared with the others but what it sees of them.

    `queries` are of the world and its obstacles; `sight` and `renderer`, of the same world, show a
    vehicle the others, too. `awaited` is None if no node is waited for at this vehicle. `spin`
    delivers messages of other nodes for at most the requested wall time [s].
    """

    world: World
    queries: WorldQueries
    sight: WorldQueries
    renderer: Renderer
    plane: LocalTangentPlane  # the map frame
    folder: Path  # of the logs
    sinks: SinkGroup
    awaited: AwaitedReadings | None
    spin: Callable[[float], None]
    with_station: Container[str] = ()  # names of the vehicles that a scenario's ground station has
    host: EmbeddedHost | None = None  # process of the fleet's embedded autopilots
    common_start: CommonStart | None = None  # of missions that are flown side by side


def start_on_ground(around: Surroundings, east_m: float, north_m: float, title: str) -> np.ndarray:
    """Return the point of the ground (3,) at a start, east and north of the world's [m].

    Raises ParameterError if it lies beside the world; `title` is of who starts there.
    """
    x, y = around.world.start_p_map[:2] + np.array([east_m, north_m])
    height = float(around.queries.height(x, y))
    if not isfinite(height):
        raise ParameterError(
            f"{title}: its start ({x:.1f}, {y:.1f}) m in map lies beside the world "
            f"{around.world.name}; choose another start_east_m and start_north_m"
        )
    return np.array([x, y, height])


class GroundTracker:
    """Updates the ground plane in the inputs (m,) of a vehicle's dynamics."""

    def __init__(self, queries: WorldQueries, inputs: np.ndarray) -> None:
        self._queries = queries
        self._point = inputs[layout.GROUND_POINT : layout.GROUND_POINT + 3]
        self._normal = inputs[layout.GROUND_NORMAL : layout.GROUND_NORMAL + 3]
        self._queried, self._is_clear, self._n_steps = [0.0, 0.0, 0.0], False, 0

    def look_again(self, state: np.ndarray) -> None:
        """Query the ground below a state, however it came there."""
        self._n_steps = 0
        self.update_ground(state)

    def update_ground(self, state: np.ndarray) -> None:
        """Query the ground below a state: near it as soon as it moved, else at every fourth."""
        self._n_steps -= 1
        if self._n_steps > 0 and self._is_clear:
            return
        place = state[layout.POSITION].tolist()
        if self._n_steps > 0 and dist(place, self._queried) < STILL_M:
            return
        self._queried = place
        point, normal = self._queries.ground_plane(place)
        self._point[:], self._normal[:] = point, normal
        self._is_clear = place[2] - point[2] > CLEAR_M
        self._n_steps = STEPS_WHEN_CLEAR if self._is_clear else STEPS_WHEN_STILL


class Air:
    """Updates the wind in the inputs (m,) of a vehicle's dynamics, with gusts of its own.

    `faults` at place `air` come on top; the list may grow and shrink. So does a downwash.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        inputs: np.ndarray,
        faults: Sequence[ActiveFault] = (),
    ) -> None:
        wind = WindParameters(
            east_m_s=parameters.wind.east_m_s,
            north_m_s=parameters.wind.north_m_s,
            up_m_s=parameters.wind.up_m_s,
            roughness_length_m=parameters.wind.roughness_length_m,
            turbulence_wind_m_s=parameters.wind.turbulence_m_s,
        )
        rng = seed_sequence(parameters.seed, parameters.fleet.instance, "wind")
        self._wind = Wind(wind, rng)
        self._step_s = parameters.step_s
        self._inputs = inputs
        self._place = slice(layout.WIND, layout.WIND + 3)
        self._is_steady = wind.is_steady
        self._steady_map = np.array([wind.east_m_s, wind.north_m_s, wind.up_m_s])
        inputs[self._place] = self._steady_map
        self._faults, self._has_added = faults, False
        self._downwash_map: np.ndarray | None = None

    @property
    def wind_map(self) -> np.ndarray:
        """The wind of the last step (3,) [m/s]."""
        return self._inputs[self._place]

    def set_downwash(self, wind_map: np.ndarray) -> None:
        """Set the wind (3,) from the rotors of other vehicles, for the steps from now on [m/s]."""
        self._downwash_map = wind_map

    def blow(self, state: np.ndarray, stamp_ns: int) -> bool:
        """Advance the wind to the next step, at a vehicle's height and airspeed.

        Returns whether it may have changed.
        """
        downwash = self._downwash_map
        is_changed = self._faults or self._has_added or downwash is not None
        if self._is_steady and not is_changed:
            return False
        place, inputs = self._place, self._inputs
        height = float(state[layout.POSITION.start + 2] - inputs[layout.GROUND_POINT + 2])
        if self._is_steady:
            inputs[place] = self._steady_map
        else:
            airspeed = float(np.linalg.norm(state[layout.VELOCITY] - inputs[place]))
            inputs[place] = self._wind.sample(self._step_s, height, airspeed)
        if is_changed:
            p_map = state[layout.POSITION]
            inputs[place] += added_wind(self._faults, p_map, height, stamp_ns)
            self._has_added = bool(self._faults)
        if downwash is not None:
            inputs[place] += downwash
        return True
