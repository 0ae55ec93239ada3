# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Full vehicles in formation in one process: bounds at 1 m/s, and the same for each seed."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import replaced
from aerotwin_formation import FormationMission, PatternOrder
from aerotwin_formation.pilot import PilotParameters
from aerotwin_scenarios.formation_flight import PilotedFormation, formation_in
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_worlds import load_world

pytestmark = pytest.mark.slow

INSTANCE = 154
LIMIT_S = 90.0
AGAIN_S = 9.0
LAG_M, FORMATION_M = 0.1, 0.15  # by estimates at 1 m/s
POINT_MASS_STEP_S = 0.05
PATTERN = "name: {}\noffsets_m: [[-3, {}, 0], [-3, {}, 0]]\n"


@pytest.fixture(scope="module")
def world():
    return load_world("meadow")


@pytest.fixture(scope="module")
def mission(tmp_path_factory):
    folder, paths = tmp_path_factory.mktemp("patterns"), []
    for name, half_m in (("narrow", 2), ("wide", 4)):
        paths.append(folder / f"{name}.yaml")
        paths[-1].write_text(PATTERN.format(name, half_m, -half_m))
    orders = [PatternOrder(pattern=str(p), waypoint=k or None) for k, p in enumerate(paths)]
    return FormationMission(waypoints_m=((0, 0, 4), (6, 0, 4), (12, 0, 4)), patterns=tuple(orders))


def fly(world, folder, mission, until_s):
    """Return the simulation and the formation after a time, or when all have landed."""
    folder.mkdir()
    changes = {"fleet.instance": INSTANCE, "sensors.gnss": "rtk"}
    flight = formation_in(world, folder, 3, mission, seed=1000, changes=changes)
    with flight as (simulation, formation):
        while simulation.outcome is None and simulation.stamp_ns < until_s * 1e9:
            formation.advance()
    return simulation, formation


def test_three_vehicles_fly_their_patterns_land_and_do_it_again(world, mission, tmp_path):
    simulation, formation = fly(world, tmp_path / "first", mission, LIMIT_S)
    assert (simulation.outcome, simulation.is_success) == ("all have landed", True)
    assert formation.pilots[1].plan.pattern == "land"
    truth, estimates = formation.truth.record(), formation.estimates.record()
    errors = estimates.formation_errors()
    assert errors.lag_m < LAG_M
    assert errors.formation_m < FORMATION_M
    assert truth.closest_m.min() > 0.8  # 2R
    assert truth.positions[:, 0, 0].max() - truth.positions[0, 0, 0] == pytest.approx(12, abs=0.5)

    _, again = fly(world, tmp_path / "again", mission, AGAIN_S)
    track = again.truth.record().positions
    assert len(track) > 100
    np.testing.assert_array_equal(track, truth.positions[: len(track)])


@pytest.mark.parametrize("dynamics", ["multirotor", "point_mass"])
def test_after_a_reset_of_the_simulation_the_formation_begins_anew(
    dynamics, world, mission, tmp_path
):
    changes = {"fleet.instance": INSTANCE, "sensors.gnss": "rtk", "dynamics": dynamics}
    if dynamics == "point_mass":
        changes["step_s"] = POINT_MASS_STEP_S
    flight = formation_in(world, tmp_path, 3, mission, seed=1000, changes=changes)
    with flight as (simulation, formation):

        def advance_until(is_reached):
            while not is_reached():
                assert simulation.stamp_ns < LIMIT_S * 1e9
                formation.advance()

        advance_until(lambda: formation.pilots[2].plan is not None)
        simulation.reset()
        advance_until(lambda: formation.pilots[2].plan is None)
        assert simulation.vehicles[2].p_map_body[2] < 1.0
        advance_until(lambda: formation.pilots[2].plan is not None)
        assert simulation.vehicles[0].p_map_body[2] > 3.0
    assert {pilot.phase for pilot in formation.pilots} == {"in pattern narrow"}


def test_a_vehicle_with_a_mission_of_its_own_is_in_no_formation(world, mission, tmp_path):
    own = {"camera.is_rendered": False, "fleet.instances": 3, "fleet.instance": INSTANCE,
           "controller.kind": "ros2"}  # fmt: skip
    simulation = Simulation(replaced(SimulatorParameters(), own), world, tmp_path, [])
    try:
        with pytest.raises(UserError, match="uav0: expected an autopilot without a mission"):
            PilotedFormation(simulation, PilotParameters(), mission, seed=0)
    finally:
        simulation.close()
