# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External vision: flight without GNSS, frames that are turned and that jump, the messages."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.estimator.pose import LevelVisionPose
from aerotwin_autopilot.estimator.vision import anchor, correct_vision
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_core.geodesy import GeodeticPoint

ROUNDING = 1e-9
DIFFERENCE = 1e-6
NOISE_M, YAW_NOISE_RAD = 0.02, 0.01
EVERY_US, DELAY_US = 32_000, 60_000
ONBOARD = 1
HOVER_ERROR_M = 0.1
"""Of the true place in the vision's frame: its noise of 2 cm, averaged; the rest is control."""


class Tracker:
    """A camera that sees the vehicle: ODOMETRY in its own frame, late and noisy."""

    def __init__(self, flight, frame: int = 20) -> None:
        self.flight = flight
        self.server = MavlinkServer(flight.autopilot)
        self.frame = frame
        self.turn, self.shift = 0.7, np.array([5.0, -3.0, 1.0])
        self.reset_counter = 0
        self.is_on = True
        self._rng = np.random.default_rng(7)
        self._encoder = common.MAVLink(None, srcSystem=1, srcComponent=197)
        self._waiting: list = []

    def seen(self) -> tuple[np.ndarray, float]:
        """The true position and yaw in the tracker's frame (forward-like axis last turned)."""
        state = self.flight.vehicle.body.state
        turn = Rotation.from_rotvec([0.0, 0.0, self.turn])
        nose = state.R_map_body[:, 0]
        return (
            turn.apply(state.p_map_body) + self.shift,
            math.atan2(nose[1], nose[0]) + self.turn,
        )

    def __call__(self) -> None:
        vehicle = self.flight.vehicle
        if vehicle.time_us % EVERY_US == 0 and self.is_on:
            self._waiting.append((vehicle.time_us, self._odometry(vehicle.time_us)))
        while self._waiting and self._waiting[0][0] + DELAY_US <= vehicle.time_us:
            self.server.on_datagram(ONBOARD, self._waiting.pop(0)[1])

    def _odometry(self, time_us: int) -> bytes:
        place, yaw = self.seen()
        x, y, z = place + self._rng.normal(size=3) * NOISE_M
        heading = math.pi / 2 - (yaw + self._rng.normal() * YAW_NOISE_RAD)
        q = (math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading))
        covariance = [math.nan] * 21
        for i in (0, 6, 11):
            covariance[i] = NOISE_M**2
        covariance[20] = YAW_NOISE_RAD**2
        nothing = [math.nan] * 21
        nan = math.nan
        return common.MAVLink_odometry_message(
            time_us, self.frame, 12, y, x, -z, q, nan, nan, nan, 0.0, 0.0, 0.0, covariance,
            nothing, self.reset_counter, 2, 100,
        ).pack(self._encoder)  # fmt: skip


@pytest.fixture
def tracker(flight) -> Tracker:
    flight.has_fixes = False
    flight.each = Tracker(flight)
    return flight.each


def take_off(flight) -> None:
    flight.run(lambda: flight.time_s > 0.5 and not flight.modes.refusals(), 12.0)
    assert flight.modes.take_off(None) == ""
    assert flight.modes.arm() == ""
    flight.run(lambda: flight.modes.mode is Mode.HOLD, 15.0)


def test_without_gnss_and_without_vision_arming_is_refused(flight):
    flight.has_fixes = False
    flight.wait(6.0)
    assert "waiting for GNSS" in flight.modes.arm()


def test_takeoff_hover_and_landing_on_vision_alone(flight, tracker):
    take_off(flight)
    flight.wait(3.0)
    errors, heights = [], []
    for _ in range(1000):
        flight.step()
        place, _ = tracker.seen()
        errors.append(place - flight.modes.setpoint.position)
        heights.append(flight.height)
    assert np.sqrt((np.array(errors) ** 2).sum(axis=1).mean()) < HOVER_ERROR_M
    assert np.mean(heights) == pytest.approx(2.6, abs=0.3)  # the body stands 0.1 m high
    assert not flight.autopilot.estimator.uses_gnss
    assert flight.modes.set_mode(Mode.LAND) == ""
    flight.run(lambda: not flight.modes.is_armed, 20.0)
    assert not flight.vehicle.body.is_crashed
    ratio = flight.autopilot.estimator.innovations()["ev"]
    assert 0.5 < ratio < 2.0  # 1 is consistent; low-passed over 50 numbers


def test_vision_lost_in_flight_is_landed_blindly(flight, tracker):
    take_off(flight)
    tracker.is_on = False
    flight.run(lambda: not flight.modes.is_armed, 40.0)
    assert any("Position lost" in text for text in flight.said)
    assert not flight.vehicle.body.is_crashed


def test_a_frame_that_jumps_with_its_counter_moves_nothing(flight, tracker):
    take_off(flight)
    flight.wait(2.0)
    before = flight.vehicle.body.state.p_map_body.copy()
    tracker.shift = tracker.shift + np.array([30.0, 0.0, 2.0])
    tracker.reset_counter = 1
    flight.wait(4.0)
    assert flight.vehicle.body.state.p_map_body == pytest.approx(before, abs=0.3)
    assert "Vision frame reset" in flight.said


def test_a_frame_that_jumps_without_a_word_is_refused_then_taken_as_new(flight, tracker):
    take_off(flight)
    flight.wait(2.0)
    before = flight.vehicle.body.state.p_map_body.copy()
    tracker.shift = tracker.shift + np.array([30.0, 0.0, 0.0])
    flight.wait(4.0)
    assert flight.vehicle.body.state.p_map_body == pytest.approx(before, abs=0.4)
    assert flight.autopilot.estimator.n_vision_resets == 1


def test_with_gnss_vision_in_a_turned_frame_agrees_and_carries_on_when_gnss_goes(flight):
    tracker = Tracker(flight)
    flight.take_off()
    flight.each = tracker
    flight.wait(5.0)
    estimator = flight.autopilot.estimator
    assert estimator.has_vision
    assert estimator.has_gnss
    assert estimator.state[at.X_TURN] == pytest.approx(tracker.turn, abs=0.1)
    assert 0.3 < estimator.innovations()["ev"] < 2.0
    flight.has_fixes = False
    before = flight.vehicle.body.state.p_map_body.copy()
    flight.wait(15.0)
    assert estimator.is_position_valid
    assert flight.modes.mode is Mode.HOLD
    assert flight.vehicle.body.state.p_map_body == pytest.approx(before, abs=0.3)


def test_an_origin_from_outside_gives_vision_a_place_on_earth(flight, tracker):
    flight.wait(6.0)
    estimator = flight.autopilot.estimator
    assert estimator.plane is None
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    message = common.MAVLink_set_gps_global_origin_message(1, 474000000, 85000000, 500000)
    tracker.server.on_datagram(2, message.pack(encoder))
    assert estimator.plane.origin == GeodeticPoint(
        latitude_deg=47.4, longitude_deg=8.5, altitude_m=500.0
    )


def pose_row(rng, **changes) -> np.ndarray:
    row = np.full(at.N_VISION, math.nan)
    row[at.V_POSITION : at.V_POSITION + 3] = rng.normal(size=3)
    row[at.V_YAW] = 0.3
    row[at.V_VARIANCE_P :] = 0.02**2, 0.01**2, 0.1**2
    return row


def moved(state: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The definition of the error state, vision frame included."""
    y = state.copy()
    y[:6] += error[:6]
    q = slice(at.X_ATTITUDE, at.X_ATTITUDE + 4)
    y[q] = (Rotation.from_rotvec(error[6:9]) * Rotation.from_quat(state[q])).as_quat()
    y[10:] += error[9:]
    return y


@pytest.fixture
def state() -> np.ndarray:
    rng = np.random.default_rng(4)
    x = rng.normal(size=at.N_STATE) * 0.1
    x[at.X_ATTITUDE : at.X_ATTITUDE + 4] = Rotation.from_euler("zyx", [0.4, 0.2, -0.1]).as_quat()
    x[at.X_POSITION : at.X_POSITION + 3] = (4.0, -2.0, 1.0)
    x[at.X_TURN] = 0.5
    return x


def expected_measurement(x: np.ndarray, late: float) -> np.ndarray:
    """Position and yaw in the vision frame, the slow obvious way."""
    turn = Rotation.from_rotvec([0.0, 0.0, x[at.X_TURN]])
    place = turn.apply(x[:3] - late * x[3:6]) + x[at.X_DATUM : at.X_DATUM + 3]
    nose = (turn * Rotation.from_quat(x[at.X_ATTITUDE : at.X_ATTITUDE + 4])).apply([1.0, 0.0, 0.0])
    return np.array([*place, math.atan2(nose[1], nose[0])])


def test_a_pose_changes_state_and_covariance_as_a_dense_filter(state):
    """H by numerical differences; the updates are small, so their order does not matter."""
    rng, late = np.random.default_rng(5), 0.03
    root = rng.normal(size=(at.N_ERROR, at.N_ERROR)) * 1e-3
    covariance = root @ root.T
    H = np.array(
        [
            (expected_measurement(moved(state, e), late)
             - expected_measurement(moved(state, -e), late)) / (2 * DIFFERENCE)
            for e in np.eye(at.N_ERROR) * DIFFERENCE
        ]
    ).T  # fmt: skip
    innovation = np.array([1e-4, -2e-4, 1e-4, 5e-5])
    row = pose_row(rng)
    row[at.V_POSITION : at.V_YAW + 1] = expected_measurement(state, late) + innovation
    R = np.diag([0.02**2] * 3 + [0.01**2])
    gain = covariance @ H.T @ np.linalg.inv(H @ covariance @ H.T + R)
    expected_state, expected = moved(state, gain @ innovation), covariance - gain @ H @ covariance
    scratch, monitor = np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR)
    correct_vision(state, covariance, scratch, monitor, row, late, 1e9)
    second_order = 1e-8
    assert state == pytest.approx(expected_state, abs=second_order)
    assert covariance == pytest.approx(expected, abs=second_order)


def test_anchoring_makes_the_frame_fit_and_its_errors_those_of_the_estimate(state):
    """Monte Carlo: draw errors of estimate and pose, anchor each; the spread is the covariance."""
    rng = np.random.default_rng(6)
    root = np.zeros((at.N_ERROR, at.N_CORE))
    root[: at.N_CORE] = rng.normal(size=(at.N_CORE, at.N_CORE)) * 2e-4
    covariance = np.zeros((at.N_ERROR, at.N_ERROR))
    covariance[: at.N_CORE, : at.N_CORE] = root[: at.N_CORE] @ root[: at.N_CORE].T
    truth = state.copy()
    drawn = []
    for _ in range(4000):
        estimate = moved(truth, -root @ rng.normal(size=at.N_CORE))
        row = pose_row(rng)
        row[at.V_VARIANCE_P :] = 1e-8, 1e-8, 1.0
        row[at.V_POSITION : at.V_YAW + 1] = expected_measurement(truth, 0.0)
        row[at.V_POSITION : at.V_YAW + 1] += rng.normal(size=4) * 1e-4
        anchored = covariance.copy()
        anchor(estimate, anchored, row, is_aligned=False)
        datum, turn = slice(at.X_DATUM, at.X_DATUM + 3), at.X_TURN
        drawn.append(
            np.concatenate([
                truth[:3] - estimate[:3], truth[datum] - estimate[datum],
                [truth[turn] - estimate[turn]],
            ])
        )  # fmt: skip
    spread = np.cov(np.array(drawn).T)
    order = [0, 1, 2, *range(at.E_DATUM, at.N_ERROR)]
    predicted = anchored[np.ix_(order, order)]
    sample_error = 5.0 * math.sqrt(2.0 / 4000)  # five sigma of a variance
    scale = np.sqrt(np.outer(np.diag(predicted), np.diag(predicted)))
    assert spread / scale == pytest.approx(predicted / scale, abs=sample_error)


def test_messages_turn_into_east_north_up(flight):
    server = MavlinkServer(flight.autopilot)
    poses = []
    flight.autopilot.on_external_odometry = poses.append
    encoder = common.MAVLink(None, srcSystem=1, srcComponent=197)
    nothing = [math.nan] * 21
    heading = 0.3
    message = common.MAVLink_vision_position_estimate_message(
        5_000_000, 1.0, 2.0, -3.0, 0.0, 0.0, heading, nothing, 4
    )
    server.on_datagram(ONBOARD, message.pack(encoder))
    q = (math.cos(0.15), 0.0, 0.0, math.sin(0.15))
    message = common.MAVLink_odometry_message(
        0, 1, 12, 1.0, 2.0, -3.0, q, 1.0, 0.0, -0.5, 0.0, 0.0, 0.0, nothing, nothing, 4, 2, 100
    )
    server.on_datagram(ONBOARD, message.pack(encoder))
    for pose in poses:
        assert pose.position == (2.0, 1.0, 3.0)
        assert pose.yaw == pytest.approx(math.pi / 2 - heading)
        assert pose.reset_counter == 4
        assert pose.is_aligned
        assert math.isnan(pose.position_std_m)
    forward_is = (math.sin(heading), math.cos(heading), 0.5)
    assert poses[1].velocity == pytest.approx(forward_is)
    assert isinstance(poses[1], LevelVisionPose)


def test_a_stamp_of_another_clock_is_not_believed(flight):
    """The autopilot's own delay counts then."""
    flight.wait(2.0)
    tracker = Tracker(flight)
    poses = []
    flight.autopilot.on_external_odometry = poses.append
    tracker.server.on_datagram(ONBOARD, tracker._odometry(1_700_000_000_000_000))
    tracker.server.on_datagram(ONBOARD, tracker._odometry(flight.vehicle.time_us - 50_000))
    delay = flight.autopilot.parameters.estimator.vision_delay_s
    assert poses[0].measured_s == pytest.approx(poses[0].arrival_s - delay)
    assert poses[1].measured_s == pytest.approx(flight.time_s - 0.05, abs=ROUNDING)
