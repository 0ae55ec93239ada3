# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights of a real ArduCopter with all of our sensors, where ARDUPILOT_DIR names a built one.

ARDUPILOT_MINUTES is the simulated length of the flight without a missed step; 30 takes ten minutes.
"""

import os
import signal
import time
from itertools import pairwise

import numpy as np
import psutil
import pytest
import yaml
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.bag import BagReader
from aerotwin_core.parameters import replaced
from aerotwin_faults import FaultTiming
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.events.plan import parse_events
from aerotwin_simulator.recording import BagSink

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("ARDUPILOT_DIR"), reason="real ArduPilot not present: set ARDUPILOT_DIR"
    ),
]
INSTANCE = 62
MISSION = """
takeoff_altitude_m: 5.0
speed_m_s: 3.0
waypoints:
  - {position_m: [15.0, 0.0, 6.0], yaw_deg: 0.0}
  - {position_m: [15.0, 15.0, 7.0], yaw_deg: 90.0}
  - {position_m: [0.0, 0.0, 6.0], yaw_deg: 180.0}
"""
CROSS_TRACK_M = 0.6
GONE_WITHIN_S = 2.0
RESENDS_AFTER_S = 1.3  # wall time; ArduPilot asks again after 1.1 s
MINUTES = float(os.environ.get("ARDUPILOT_MINUTES", "1"))


@pytest.fixture
def parameters(tmp_path):
    mission = tmp_path / "mission.yaml"
    mission.write_text(MISSION)
    return {
        "controller.kind": "ardupilot", "camera.is_rendered": False, "duration_s": 200.0,
        "mission.file": str(mission), "fleet.instance": INSTANCE,
    }  # fmt: skip


@pytest.fixture
def flight(tmp_path, flat_world):
    """Make a simulation that is closed at the end; `step_until` is its loop."""
    made = []

    def make(values, events=""):
        bag = BagSink(tmp_path / "bag")
        plan = parse_events(yaml.safe_load(events), where="test") if events else None
        default = replaced(SimulatorParameters(), values)
        simulation = Simulation(default, flat_world, tmp_path, [bag], events=plan)
        made.append((simulation, bag))
        simulation.start()
        return simulation

    yield make
    for simulation, bag in made:
        simulation.close()
        bag.close()


def run(simulation, until_s=np.inf):
    while simulation.outcome is None and simulation.stamp_ns < until_s * 1e9:
        simulation.advance()


def cross_track_m(bag):
    """RMS distance of the flown path from the mission's legs, above 4 m."""
    p = np.array([
        (m.pose.pose.position.x, m.pose.pose.position.y, m.pose.pose.position.z)
        for _, _, m in bag.messages(["/truth/odom"])
    ])  # fmt: skip
    corners = np.array([(0, 0, 5), (15, 0, 6), (15, 15, 7), (0, 0, 6), (0, 0, 0)], dtype=float)
    flown = p[p[:, 2] > 4.5]
    distances = []
    for begin, end in pairwise(corners):
        leg = end - begin
        share = np.clip((flown - begin) @ leg / (leg @ leg), 0.0, 1.0)
        distances.append(np.linalg.norm(flown - begin - share[:, None] * leg, axis=1))
    return np.sqrt(np.mean(np.min(distances, axis=0) ** 2))


@pytest.mark.parametrize(
    "weather", [{}, {"wind.east_m_s": 5.0, "wind.turbulence_m_s": 7.7}], ids=["calm", "wind"]
)
def test_it_flies_a_mission_and_lands(fly, parameters, weather):
    simulation, bag = fly(**parameters, **weather)
    assert simulation.outcome == "the mission is flown" and simulation.is_success
    assert cross_track_m(bag) < CROSS_TRACK_M
    counters = simulation.vehicles[0].backend.link.counters
    assert counters.n_sent == counters.n_answered
    assert counters.n_skipped == counters.n_refused == 0


def test_it_flies_without_gnss_on_external_vision(fly, parameters):
    vision = {"sensors.gnss": "none", "vision.source": "simulated"}
    simulation, bag = fly(**parameters, **vision)
    assert simulation.outcome == "the mission is flown"
    assert cross_track_m(bag) < CROSS_TRACK_M


@pytest.mark.parametrize(
    "companion",
    [
        "embedded",
        pytest.param(
            "px4",
            marks=pytest.mark.skipif(
                not os.environ.get("PX4_DIR"), reason="real PX4 not present: set PX4_DIR"
            ),
        ),
    ],
)
def test_it_flies_in_one_fleet_with_another_autopilot(fly, parameters, tmp_path, companion):
    other = tmp_path / "other.yaml"  # its own way: vehicles hit each other
    other.write_text("waypoints: [{position_m: [12.0, -9.0, 6.0]}, {position_m: [0.0, -9.0, 5.0]}]")
    fleet = {"vehicles": [
        {"name": "red", "controller": "ardupilot"},
        {"name": "blue", "controller": "ardupilot", "start_north_m": 5.0, "mission": "none"},
        {
            "name": "green", "controller": companion, "start_north_m": -9.0,
            "mission": str(other),
        },
    ]}  # fmt: skip
    file = tmp_path / "fleet.yaml"
    file.write_text(yaml.safe_dump(fleet))
    simulation, _ = fly(**parameters, **{"fleet.file": str(file)})
    assert simulation.outcome == "all missions are flown"
    blue = simulation.vehicles[1]
    assert blue.backend.link.counters.n_skipped == 0 and blue.p_map_body[2] < 0.5


def test_one_that_starts_again_flies_its_mission(flight, parameters):
    simulation = flight(parameters)
    run(simulation, 20.0)
    backend = simulation.vehicles[0].backend
    backend.client.link.send_command(mavlink.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN, 1.0)
    run(simulation)
    assert backend.link.counters.n_restarts == 1
    assert simulation.outcome == "the mission is flown"


def test_it_is_sent_home_by_an_operator_and_lands_there(flight, parameters):
    events = "home: {when: east_m > 10, do: set_mode, parameters: {mode: RETURN}}"
    simulation = flight(
        {**parameters, "mission.failure_ends_flight": False, "duration_s": 130.0}, events
    )
    run(simulation)
    trace = simulation.events.trace()
    home = trace.times_s >= trace.events["home"] + 2.0
    assert trace.values["mode"][home][0] == "RETURN"
    x, y, z = simulation.vehicles[0].p_map_body
    assert np.hypot(x, y) < 2.0 and z < 0.5


def test_it_obeys_the_services_of_a_vehicle(flight, parameters):
    simulation = flight(
        {**parameters, "mission.file": "none", "duration_s": 0.0, "fleet.instance": INSTANCE + 1}
    )
    vehicle = simulation.vehicles[0]
    backend = vehicle.backend
    while not backend.autopilot_state.can_fly and simulation.stamp_ns < 90e9:
        simulation.advance()
    backend.arm(True)
    run(simulation, simulation.stamp_ns * 1e-9 + 2.0)
    assert backend.autopilot_state.is_armed
    backend.take_off(2.5)
    run(simulation, simulation.stamp_ns * 1e-9 + 10.0)
    assert vehicle.p_map_body[2] == pytest.approx(2.5, abs=0.5)
    backend.hold()
    run(simulation, simulation.stamp_ns * 1e-9 + 3.0)
    assert backend.autopilot_state.common_mode_name == "HOLD"
    backend.land()
    run(simulation, simulation.stamp_ns * 1e-9 + 20.0)
    assert not backend.autopilot_state.is_armed and vehicle.p_map_body[2] < 0.3


def test_an_operator_sends_it_to_a_place(flight, parameters):
    events = "there: {when: height_m > 2, do: go_to, parameters: {east_m: 9, north_m: -4, up_m: 6}}"
    simulation = flight(
        {**parameters, "mission.file": "none", "duration_s": 0.0, "fleet.instance": INSTANCE + 3},
        events,
    )
    vehicle = simulation.vehicles[0]
    while not vehicle.backend.autopilot_state.can_fly and simulation.stamp_ns < 90e9:
        simulation.advance()
    vehicle.backend.arm(True)
    run(simulation, simulation.stamp_ns * 1e-9 + 2.0)
    vehicle.backend.take_off(3.0)
    run(simulation, simulation.stamp_ns * 1e-9 + 25.0)
    assert vehicle.p_map_body == pytest.approx([9.0, -4.0, 6.0], abs=1.0)


def test_a_radio_flies_it_and_its_silence_is_a_fail_safe(flight, parameters, tmp_path):
    own = tmp_path / "modes.yaml"
    own.write_text("FLTMODE4: 5\n")  # LOITER, with the fifth channel in the middle
    simulation = flight(
        {
            **parameters, "mission.file": "none", "duration_s": 0.0, "rc": "joy",
            "fleet.instance": INSTANCE + 2, "ardupilot.parameters": str(own),
        }
    )  # fmt: skip
    vehicle, sticks = simulation.vehicles[0], simulation.vehicles[0].backend.sticks
    state = vehicle.backend.autopilot_state

    def hold_sticks(seconds, *positions):
        end_s = simulation.stamp_ns * 1e-9 + seconds
        while simulation.stamp_ns * 1e-9 < end_s:
            sticks.set(positions)
            run(simulation, simulation.stamp_ns * 1e-9 + 0.1)

    middle, loiter = 0.0, 0.0
    while not state.can_fly and simulation.stamp_ns < 90e9:
        hold_sticks(0.5, middle, middle, -1.0, middle, loiter)
    vehicle.backend.arm(True)
    hold_sticks(2.0, middle, middle, -1.0, middle, loiter)
    assert state.is_armed
    hold_sticks(4.0, middle, middle, 0.6, middle, loiter)
    height = vehicle.p_map_body[2]
    assert height > 2.0
    hold_sticks(4.0, middle, 0.5, 0.0, middle, loiter)  # forward
    assert vehicle.p_map_body[0] > 3.0 and abs(vehicle.p_map_body[1]) < 2.0
    run(simulation, simulation.stamp_ns * 1e-9 + 4.0)
    assert state.common_mode_name == "RETURN"


def test_gnss_that_is_off_from_the_start_does_not_arm(fly, parameters):
    simulation, _ = fly(**{**parameters, "sensors.gnss": "none", "duration_s": 60.0})
    assert not simulation.is_success or simulation.outcome == "60 s are over"
    assert simulation.vehicles[0].p_map_body[2] < 0.5


@pytest.mark.parametrize(
    ("number", "text"),
    [(signal.SIGKILL, "was killed by SIGKILL"), (signal.SIGSTOP, "stopped answering")],
)
def test_one_that_dies_or_hangs_in_flight_ends_it_with_a_reason(
    flight, parameters, tmp_path, number, text
):
    simulation = flight({**parameters, "autopilot.answer_s": 0.5})
    run(simulation, 60.0)
    assert simulation.vehicles[0].p_map_body[2] > 2.0
    process = psutil.Process(simulation.vehicles[0].backend.process.pid)
    begin = time.monotonic()
    process.send_signal(number)
    run(simulation)
    assert time.monotonic() - begin < 3 * 0.5 + GONE_WITHIN_S
    assert text in simulation.outcome and not simulation.is_success
    simulation.close()
    assert not process.is_running()
    assert BagReader(tmp_path / "bag").messages(["/truth/odom"])


def test_no_step_is_lost_or_doubled_while_it_asks_again_every_10_s(flight, parameters):
    simulation = flight({**parameters, "mission.file": "none", "duration_s": 0.0})
    for k in range(1, round(MINUTES * 6) + 1):
        run(simulation, 10.0 * k)
        time.sleep(RESENDS_AFTER_S)
    link = simulation.vehicles[0].backend.link
    assert link.counters.n_crossed + link.counters.n_resent >= round(MINUTES * 6) - 1
    n_steps = round(MINUTES * 60.0) * simulation.parameters.ardupilot.rate_hz
    assert link.counters.n_sent == link.counters.n_answered == n_steps
    assert link.counters.n_skipped == link.counters.n_restarts == 0


def test_a_fault_of_its_motor_is_seen(fly, parameters):
    fault = ("motor_power", {"rotor": 1}, FaultTiming(begin_ns=55_000_000_000))
    simulation, _ = fly(faults=[fault], **parameters)
    assert not simulation.is_success and "crashed" in simulation.outcome
