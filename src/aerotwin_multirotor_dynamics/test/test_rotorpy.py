# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The hummingbird against rotorpy, an independent simulator, on the same inputs."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics import (
    Multirotor,
    allocation_matrix,
    hover_speed_rad_s,
    load_airframe,
    thrust_to_weight,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    parameters = pytest.importorskip(
        "rotorpy.vehicles.hummingbird_params", reason="rotorpy, the peer, is not installed"
    ).quad_params
    from rotorpy.vehicles import multirotor as peer

DT = 0.004
INTEGRATION = {"method": "RK45", "rtol": 1e-10, "atol": 1e-10}
WIND = (2.0, -1.0, 0.5)


@pytest.fixture
def hummingbird():
    return load_airframe("hummingbird")


def test_the_airframe_is_rotorpys(hummingbird):
    p = hummingbird.propeller
    assert hummingbird.mass_kg == parameters["mass"]
    assert hummingbird.inertia_kg_m2 == tuple(parameters[k] for k in ("Ixx", "Iyy", "Izz"))
    drag = tuple(parameters[k] for k in ("c_Dx", "c_Dy", "c_Dz"))
    assert hummingbird.quadratic_drag_n_s2_per_m2 == drag
    assert p.thrust_coefficient_n_s2 == parameters["k_eta"]
    assert p.drag_coefficient_n_s2_per_m == parameters["k_d"]
    assert p.axial_drag_coefficient_n_s2_per_m == parameters["k_z"]
    assert p.translational_lift_n_s2_per_m2 == parameters["k_h"]
    assert hummingbird.motor.time_constant_up_s == parameters["tau_m"]
    theirs = peer.Multirotor(parameters).f_to_TM
    np.testing.assert_allclose(allocation_matrix(hummingbird), theirs, atol=1e-9)
    weight = parameters["mass"] * 9.81
    hover = np.sqrt(weight / 4 / parameters["k_eta"])
    assert hover_speed_rad_s(hummingbird) == pytest.approx(hover, rel=1e-12)
    most = 4 * parameters["k_eta"] * parameters["rotor_speed_max"] ** 2
    assert thrust_to_weight(hummingbird) == pytest.approx(most / weight, rel=1e-12)


def test_it_flies_as_rotorpys_hummingbird_does_on_the_same_inputs(hummingbird):
    """A second of changing rotor speeds, in wind, with all of rotorpy's aerodynamics."""
    rng = np.random.default_rng(21)
    hover = hover_speed_rad_s(hummingbird)
    state = {
        "x": np.array([0.0, 0.0, 50.0]),
        "v": np.array([2.0, 1.0, -0.5]),
        "q": Rotation.from_euler("xyz", [0.1, -0.2, 0.6]).as_quat(),
        "w": np.array([0.3, -0.2, 0.5]),
        "wind": np.array(WIND),
        "rotor_speeds": np.full(4, hover),
    }
    theirs = peer.Multirotor(parameters, initial_state=state, integrator_kwargs=INTEGRATION)
    ours = Multirotor(
        hummingbird,
        p_map_body=state["x"],
        v_map_body=state["v"],
        q_map_body=state["q"],
        omega_map_body_in_body=state["w"],
        rotor_speed_rad_s=hover,
    )
    for _ in range(250):
        speeds = hover * (1.0 + rng.uniform(-0.05, 0.05, 4))
        state = theirs.step(state, {"cmd_motor_speeds": speeds}, DT)
        ours.step(None, DT, rotor_speed_setpoint_rad_s=speeds, wind_map=WIND)
    mine = ours.state
    # theirs: 1e-10 per step; ours: a fourth-order step against a lag of 5 ms, (h / tau)^4 / 120
    np.testing.assert_allclose(mine.p_map_body, state["x"], atol=2e-5)
    np.testing.assert_allclose(mine.v_map_body, state["v"], atol=4e-5)
    np.testing.assert_allclose(mine.omega_map_body_in_body, state["w"], atol=2e-5)
    sign = np.sign(mine.q_map_body @ state["q"])
    np.testing.assert_allclose(mine.q_map_body, sign * state["q"], atol=4e-6)
    np.testing.assert_allclose(mine.rotor_speed_rad_s, state["rotor_speeds"], rtol=1e-10)
    # and the accelerations that follow from that very state, exactly
    rates = theirs.statedot(state, {"cmd_motor_speeds": speeds}, DT)
    same = Multirotor(
        hummingbird,
        p_map_body=state["x"],
        v_map_body=state["v"],
        q_map_body=state["q"],
        omega_map_body_in_body=state["w"],
        rotor_speed_rad_s=state["rotor_speeds"],
    )
    same.step(None, 1e-12, rotor_speed_setpoint_rad_s=speeds, wind_map=WIND)
    np.testing.assert_allclose(same.state.a_map_body, rates["vdot"], atol=1e-8)
    np.testing.assert_allclose(same.state.alpha_in_body, rates["wdot"], atol=1e-6)
