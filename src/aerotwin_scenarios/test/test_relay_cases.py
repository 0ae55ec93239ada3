# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the relay: their files, the fleet they become, and places where it fits."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import load_parameters, read_yaml
from aerotwin_flight_control import RelayOptions
from aerotwin_meshes import TexturedMesh
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_scenarios.relay_cases import load_cases, relay_origin, write_fleet
from aerotwin_simulator.fleet_file import load_fleet
from aerotwin_worlds import World

CASES = Path(__file__).resolve().parents[3] / "config" / "relay" / "cases.yaml"


def _world(*, wall_x_m: float = 1e3) -> World:
    """Level ground at z = 2 with a wall."""
    ground = [[-30, -30, 2], [30, -30, 2], [30, 30, 2], [-30, 30, 2]]
    wall = [[wall_x_m, -30, 2], [wall_x_m, 30, 2], [wall_x_m, 30, 9], [wall_x_m, -30, 9]]
    vertices = np.array([*ground, *wall], dtype=np.float64)
    faces = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    mesh = TexturedMesh(
        vertices_map=vertices,
        triangles=faces.astype(np.int32),
        uv=np.zeros((8, 2), np.float32),
        texture=np.full((2, 2, 3), 128, np.uint8),
    )
    return World(
        name="plain",
        meshes=(mesh,),
        origin=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0),
        attribution="",
        licence="",
        start_p_map=np.array([3.0, -4.0, 2.0]),
        start_yaw=0.0,
    )


def test_the_shipped_cases_hold_the_bars_and_what_makes_them_hard():
    known, hidden = load_cases(CASES)[:2]
    assert (known.step_s, known.max_rmse_m, known.min_separation_m) == (0.002, 0.02, 1.12)
    assert (hidden.step_s, hidden.max_rmse_m, hidden.min_separation_m) == (0.004, 0.05, 1.12)
    assert known.known_airframe == ""
    believed, flown = (
        load_airframe(CASES.parent / name) for name in (hidden.known_airframe, hidden.airframe)
    )
    assert load_airframe(CASES.parent / known.airframe) == believed
    assert believed.mass_kg == 1.5
    assert believed.linear_drag_n_s_per_m == (0.5, 0.3, 0.0)
    assert believed.motor.time_constant_up_s == 0.0
    assert flown.mass_kg == pytest.approx(1.05 * believed.mass_kg)
    assert flown.motor.time_constant_up_s > 0.0
    assert flown.propeller.drag_coefficient_n_s2_per_m > 0.0


def test_a_case_becomes_a_fleet_of_two_that_start_on_either_side(tmp_path):
    world = _world()
    origin = relay_origin(world, 1.0, 2.0)
    assert origin == pytest.approx([4.0, -2.0, 2.0])
    case = load_cases(CASES)[1]
    path = write_fleet(case, tmp_path, cases_folder=CASES.parent, world=world, origin_map=origin)
    first, second = (entry.vehicle for entry in load_fleet(path))
    assert (first.start_east_m, first.start_north_m) == pytest.approx((-5.0, 2.0))
    assert (second.start_east_m, second.start_north_m) == pytest.approx((-5.0, 6.5))
    options = [
        load_parameters(RelayOptions, read_yaml(vehicle.controller_options), where="options")
        for vehicle in (first, second)
    ]
    assert [o.is_mirrored for o in options] == [False, True]
    assert options[0].origin_m == pytest.approx(origin.tolist())
    assert options[0].flight.control.integral_gain_1_s3 == 10.0
    assert options[0].flight.known_airframe.endswith("pegasus_iris.yaml")
    assert first.airframe.endswith("pegasus_iris_hidden.yaml")


@pytest.mark.parametrize(
    ("east_m", "wall_x_m", "message"), [(40.0, 1e3, "leaves the world"), (0.0, 5.0, "comes within")]
)
def test_a_place_where_the_relay_does_not_fit_is_refused(east_m, wall_x_m, message):
    with pytest.raises(ParameterError, match=message):
        relay_origin(_world(wall_x_m=wall_x_m), east_m, 0.0)


def test_cases_of_one_name_are_refused(tmp_path):
    case = "  - {name: a, title: A, airframe: iris}\n"
    (tmp_path / "cases.yaml").write_text("cases:\n" + 2 * case)
    with pytest.raises(ParameterError, match="different names"):
        load_cases(tmp_path / "cases.yaml")
