# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Other airframes, wind, and offboard by attitude: flights that need more than the iris in calm."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from aerotwin_autopilot import AirframeParameters, parameters_text
from aerotwin_autopilot.control.allocation import allocate, allocation_matrix
from aerotwin_autopilot.control.cascade import hold_attitude
from aerotwin_autopilot.control.kernel import gains
from aerotwin_autopilot.control.setpoint import N_INTEGRAL
from aerotwin_autopilot.estimator.layout import GRAVITY, N_OUTPUT, O_ATTITUDE
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.offboard import AttitudeTarget
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_multirotor_dynamics import WindParameters

ROUNDING = 1e-9
HOVER_LIMIT_M = 0.1
WIND_LIMIT_M = 0.5
"""Control error, set-point minus estimate, RMS."""
GNSS_SIGMA_M = math.sqrt(2 * (0.2**2 + 0.3**2) + 0.4**2 + 0.5**2)
"""Of one fix of `gnss_default`, white and correlated, all axes."""
WIND = WindParameters(east_m_s=8.0, turbulence_wind_m_s=8.0)
AIRFRAMES = ("iris", "x500", "hummingbird", "firefly")


def control_errors(flight, seconds: float) -> np.ndarray:
    errors = []
    end = flight.time_s + seconds
    while flight.time_s < end:
        flight.step()
        errors.append(flight.modes.setpoint.position - flight.modes.position)
    return np.array(errors)


def rms(errors: np.ndarray) -> float:
    return float(np.sqrt((errors**2).sum(axis=1).mean()))


@pytest.mark.parametrize("name", AIRFRAMES)
def test_each_airframe_takes_off_hovers_moves_and_lands(flight_of, simulated_vehicle, name):
    flight = flight_of(simulated_vehicle(seed=1000, airframe=name))
    flight.take_off()
    flight.wait(3.0)
    assert rms(control_errors(flight, 3.0)) < HOVER_LIMIT_M
    assert flight.modes.go_to(flight.modes.position + np.array([4.0, 3.0, 1.0]), 0.0, 3.0) == ""
    flight.wait(5.0)
    assert rms(control_errors(flight, 1.0)) < HOVER_LIMIT_M
    flight.modes.set_mode(Mode.LAND)
    flight.run(lambda: not flight.modes.is_armed, 20.0)
    assert not flight.vehicle.body.is_crashed


@pytest.mark.parametrize("seed", [1000, 1001])
def test_hovering_in_8_m_s_of_gusty_wind(flight_of, simulated_vehicle, seed):
    flight = flight_of(simulated_vehicle(seed=seed, wind=WIND))
    flight.modes.settings.set("MIS_TAKEOFF_ALT", 5.0)
    flight.take_off()
    flight.wait(5.0)
    assert rms(control_errors(flight, 10.0)) < WIND_LIMIT_M
    truth = flight.vehicle.plane.to_geodetic(flight.vehicle.body.state.p_map_body)
    error = flight.autopilot.estimator.plane.from_geodetic(*truth) - flight.modes.position
    assert np.linalg.norm(error) < 3.0 * GNSS_SIGMA_M


def test_a_parameter_file_from_numbers_is_read_back(tmp_path):
    airframe = AirframeParameters(
        name="hexa", mass_kg=2.0, inertia_kg_m2=(0.02, 0.02, 0.04),
        rotor_x_m=(0.3, 0.0, -0.3, -0.3, 0.0, 0.3), rotor_y_m=(0.2, 0.3, 0.2, -0.2, -0.3, -0.2),
        rotor_is_ccw=(1.0, -1.0, 1.0, -1.0, 1.0, -1.0), thrust_coefficient=8e-6,
        moment_ratio_m=0.016, command_offset_rad_s=150.0, command_scale_rad_s=700.0,
    )  # fmt: skip
    path = tmp_path / "hexa.yaml"
    path.write_text(parameters_text(airframe), encoding="utf-8")
    parameters = load_autopilot_parameters(path)
    assert parameters.airframe == airframe
    assert parameters.control == load_autopilot_parameters().control


@pytest.mark.parametrize("n", [6, 8])
def test_many_rotors_share_a_wrench_with_the_smallest_thrusts(n):
    angle = np.arange(n) * 2.0 * math.pi / n + 0.3
    airframe = AirframeParameters(
        name="ring", mass_kg=2.0, inertia_kg_m2=(0.02, 0.02, 0.04),
        rotor_x_m=tuple(0.3 * np.cos(angle)), rotor_y_m=tuple(0.3 * np.sin(angle)),
        rotor_is_ccw=tuple((-1.0) ** np.arange(n)), thrust_coefficient=8e-6,
        moment_ratio_m=0.016, command_offset_rad_s=0.0, command_scale_rad_s=1000.0,
    )  # fmt: skip
    matrix = allocation_matrix(airframe)
    wrench = np.array([20.0, 0.4, -0.3, 0.05])
    thrusts = np.empty(n)
    inverse = np.ascontiguousarray(np.linalg.pinv(matrix))
    allocate(thrusts, inverse, *wrench, 0.0, 8.0)
    assert matrix @ thrusts == pytest.approx(wrench, abs=ROUNDING)
    least = np.linalg.lstsq(matrix, wrench, rcond=None)[0]
    assert thrusts == pytest.approx(least, abs=ROUNDING)
    allocate(thrusts, inverse, 100.0, 0.4, -0.3, 5.0, 0.0, 8.0)
    assert (matrix @ thrusts)[1:3] == pytest.approx(wrench[1:3], abs=ROUNDING)
    assert thrusts.max() <= 8.0


@pytest.mark.parametrize("seed", range(5))
def test_an_attitude_from_outside_is_turned_to(seed):
    """Follow the wished torque as a perfect vehicle would, gyroscopic torque and all."""
    parameters = load_autopilot_parameters()
    numbers = gains(parameters.airframe, parameters.control)
    rng = np.random.default_rng(seed)
    attitude = Rotation.from_rotvec(rng.normal(size=3) * 0.5)
    target = Rotation.from_rotvec(rng.normal(size=3) * 0.5)
    omega, inertia = np.zeros(3), np.array(parameters.airframe.inertia_kg_m2)
    estimate, wrench = np.zeros(N_OUTPUT), np.empty(4)
    for _ in range(1500):
        estimate[O_ATTITUDE : O_ATTITUDE + 4] = attitude.as_quat()
        estimate[O_ATTITUDE + 4 : O_ATTITUDE + 7] = omega
        hold_attitude(
            wrench, estimate, target.as_quat(), np.zeros(3), 7.0, np.zeros(N_INTEGRAL), numbers,
            0.004, False,
        )  # fmt: skip
        assert wrench[0] == 7.0
        omega = omega + 0.004 * (wrench[1:] - np.cross(omega, inertia * omega)) / inertia
        attitude = attitude * Rotation.from_rotvec(omega * 0.004)
    assert (attitude.inv() * target).magnitude() < 1e-4


def attitude_message(**changes):
    values = {
        "type_mask": 0b111, "q": (1.0, 0.0, 0.0, 0.0), "rates": (0.0, 0.0, 0.0), "thrust": 0.7,
    } | changes  # fmt: skip
    return common.MAVLink_set_attitude_target_message(
        0, 1, 1, values["type_mask"], values["q"], *values["rates"], values["thrust"]
    )


@pytest.fixture
def sent(flight):
    """Return a function that sends a message and gives the target it became."""
    server = MavlinkServer(flight.autopilot)
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)

    def send(message) -> AttitudeTarget | None:
        flight.modes.offboard.target = None
        server.on_datagram(0, message.pack(encoder))
        return flight.modes.offboard.target

    return send


def test_attitude_targets_turn_from_ned_and_frd(sent):
    """Level and north is pi/2 from east; rolled right by 0.2 is a rotation about forward."""
    half = 0.1
    target = sent(attitude_message(q=(math.cos(half), math.sin(half), 0.0, 0.0)))
    attitude = Rotation.from_quat(target.q_local_body)
    expected = Rotation.from_euler("z", math.pi / 2) * Rotation.from_euler("x", 0.2)
    assert (attitude * expected.inv()).magnitude() < 1e-6
    assert target.thrust == pytest.approx(0.7)
    target = sent(attitude_message(type_mask=128, rates=(0.1, 0.2, 0.3)))
    assert target.rate_body == pytest.approx((0.1, -0.2, -0.3))
    assert math.isnan(target.q_local_body[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"type_mask": 64},
        {"thrust": 1.5},
        {"thrust": math.nan},
        {"q": (0.0, 0.0, 0.0, 0.0)},
        {"q": (math.nan, 0.0, 0.0, 0.0)},
        {"type_mask": 128, "rates": (math.nan, 0.0, 0.0)},
        {"type_mask": 128 | 0b111},
    ],
)
def test_what_cannot_be_done_is_no_target(sent, changes):
    assert sent(attitude_message(**changes)) is None


def test_attitude_and_thrust_lift_off_tilt_and_come_down(flight, sent):
    """A pitch of 0.1 rad forward at hover thrust accelerates to the north against the rotors' drag.

    v' = g tan(0.1) - k v from rest, k = 4 C_D omega / m: between 1 s and 2 s.
    """
    flight.make_ready()
    hover = 0.707
    wish = {"pitch": 0.0, "thrust": hover * 1.1}

    def stream():
        if flight.vehicle.time_us % 20_000 == 0:
            half = 0.5 * wish["pitch"]
            sent(attitude_message(q=(math.cos(half), 0.0, math.sin(half), 0.0),
                                  thrust=wish["thrust"]))  # fmt: skip

    flight.each = stream
    flight.wait(0.5)
    assert flight.modes.set_mode(Mode.OFFBOARD) == ""
    assert flight.modes.arm() == ""
    flight.run(lambda: flight.height > 2.0, 6.0)
    wish.update(pitch=-0.1, thrust=hover)
    flight.wait(1.0)
    before = flight.vehicle.body.state.v_map_body.copy()
    flight.wait(1.0)
    gained = flight.vehicle.body.state.v_map_body - before
    a = flight.vehicle.body.airframe
    k = 4.0 * a.propeller.drag_coefficient_n_s2_per_m * 806.8 / a.mass_kg
    expected = GRAVITY * math.tan(0.1) / k * (math.exp(-k) - math.exp(-2.0 * k))
    turning = 0.1  # of the first second the vehicle is still turning for a tenth
    assert gained[1] == pytest.approx(expected, abs=turning)
    assert gained[0] == pytest.approx(0.0, abs=0.1)
    flight.each = None
    flight.run(lambda: flight.modes.mode is Mode.HOLD, 1.5)
    assert "Offboard set-points lost: holding" in flight.said
