# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point masses in a simulation: their flight, their ground, their topics, many of them."""

import os
import textwrap

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import deserialize
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout, load_airframe, standing_pose
from aerotwin_point_mass_simulator.pilots import LANDING_M_S, RETURN_HEIGHT_M
from aerotwin_px4_bridge import HilLink, hil_port
from aerotwin_px4_bridge.setpoint_stream import SILENCE_NS, PoseTarget, VelocityTarget
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.recording import MemorySink

STEP_S, INSTANCE = 0.02, 190
STANDING_M = standing_pose(load_airframe("iris"), ground_point=np.zeros(3))[0][2]
SETTLED_M = 0.05  # a first-order approach of 1 s, 5 s later, from within 5 m
STEP_ERROR_M = 2.0 * STEP_S  # a command changes at the next step, at up to 2 m/s


@pytest.fixture
def make(tmp_path, flat_world):
    """A simulation of point masses and the sink of its messages."""
    made = []

    def run(n=1, rows=None, **changes):
        if rows is not None:
            (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": rows}))
            changes["fleet.file"] = str(tmp_path / "fleet.yaml")
        values = {
            "dynamics": "point_mass",
            "camera.is_rendered": False,
            "step_s": STEP_S,
            "fleet.instances": n,
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values | changes)
        simulation = Simulation(parameters, flat_world, tmp_path, [sink])
        made.append(simulation)
        simulation.start()
        return simulation, sink

    yield run
    for simulation in made:
        simulation.close()


def fly(simulation, seconds):
    for _ in range(round(seconds / simulation.parameters.step_s)):
        simulation.advance()


def airborne(simulation, height_m=5.0):
    """Let all take off to a height and hover."""
    for vehicle in simulation.vehicles:
        vehicle.backend.arm(True)
        vehicle.backend.take_off(height_m)
    fly(simulation, 12.0)


def test_it_stands_takes_off_hovers_and_lands_where_it_took_off(make):
    simulation, _ = make()
    (vehicle,) = simulation.vehicles
    fly(simulation, 1.0)
    assert vehicle.p_map_body == pytest.approx([0.0, 0.0, STANDING_M], abs=1e-12)
    assert vehicle.truth[layout.N_CONTACTS] and vehicle.backend.phase == "ready for orders"
    airborne(simulation)
    assert vehicle.backend.phase == "hovering"
    assert vehicle.p_map_body == pytest.approx([0.0, 0.0, STANDING_M + 5.0], abs=SETTLED_M)
    vehicle.backend.land()
    fly(simulation, 2.0)
    assert vehicle.truth[layout.VELOCITY][2] == pytest.approx(-LANDING_M_S, abs=0.01)
    fly(simulation, 10.0)
    assert vehicle.p_map_body == pytest.approx([0.0, 0.0, STANDING_M], abs=0.01)
    assert not vehicle.backend.motors.kind and simulation.outcome is None


def test_orders_that_do_not_fit_are_refused_in_words(make):
    simulation, _ = make()
    pilot = simulation.vehicles[0].backend
    for order, text in (
        (lambda: pilot.take_off(3.0), "disarmed; arm it first"),
        (pilot.hold, "hold: it stands on the ground"),
        (pilot.land, "land: it stands"),
        (pilot.resume, "no mission is held"),
    ):
        with pytest.raises(UserError, match=text):
            order()
    pilot.set_target(VelocityTarget(velocity=[1.0, 0.0, 0.0]))
    fly(simulation, 1.0)
    assert np.linalg.norm(simulation.vehicles[0].truth[layout.VELOCITY]) == 0.0
    assert pilot.counters()["setpoints_ignored"] == "1"
    with pytest.raises(ValueError, match="finite"):
        pilot.set_target(PoseTarget(p_map=[np.nan, 0.0, 0.0]))
    airborne(simulation)
    with pytest.raises(UserError, match="it flies; land first"):
        pilot.arm(False)


def test_a_velocity_is_flown_with_the_lag_of_the_model_and_silence_stops_it(make):
    simulation, _ = make(**{"point_mass.time_constant_s": 0.3})
    (vehicle,) = simulation.vehicles
    airborne(simulation)
    start, v0 = vehicle.p_map_body.copy(), vehicle.truth[layout.VELOCITY].copy()
    target = VelocityTarget(velocity=[0.6, 0.0, 0.2], is_body=False)
    for _ in range(50):
        vehicle.backend.set_target(target)
        simulation.advance()
    response = solve_ivp(
        lambda _, x: np.r_[x[3:], (target.velocity - x[3:]) / 0.3],
        (0.0, 1.0), np.r_[start, v0], rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    assert vehicle.p_map_body == pytest.approx(response.y[:3, -1], abs=1e-6)
    fly(simulation, 1e-9 * SILENCE_NS + 3.0)
    assert vehicle.backend.phase == "hovering"
    assert np.linalg.norm(vehicle.truth[layout.VELOCITY]) < 0.02
    before = vehicle.p_map_body.copy()
    fly(simulation, 5.0)
    assert vehicle.p_map_body == pytest.approx(before, abs=SETTLED_M)


def test_a_velocity_in_body_axes_turns_with_the_vehicle(make):
    simulation, _ = make(rows=[{"name": "a", "start_yaw_deg": 90.0}])
    (vehicle,) = simulation.vehicles
    airborne(simulation)
    for _ in range(200):
        vehicle.backend.set_target(VelocityTarget(velocity=[1.0, 0.0, 0.0], yaw_rate=-0.3))
        simulation.advance()
    yaw = np.pi / 2.0 - 0.3 * 4.0
    v = vehicle.truth[layout.VELOCITY]
    assert np.arctan2(v[1], v[0]) == pytest.approx(yaw + 0.3 * 0.3, abs=0.02)  # lags by T
    assert vehicle.truth[layout.ANGULAR_VELOCITY] == pytest.approx([0.0, 0.0, -0.3])


def test_an_operator_who_holds_is_not_fought_by_a_stream_that_goes_on(make):
    simulation, _ = make()
    (vehicle,) = simulation.vehicles
    airborne(simulation)
    target = VelocityTarget(velocity=[2.0, 0.0, 0.0], is_body=False)

    def stream(seconds):
        for _ in range(round(seconds / STEP_S)):
            vehicle.backend.set_target(target)
            simulation.advance()

    stream(2.0)
    vehicle.backend.hold()
    held = vehicle.p_map_body.copy()
    stream(5.0)
    assert vehicle.p_map_body == pytest.approx(held, abs=1.5)  # it brakes from 2 m/s
    fly(simulation, 1.0)
    stream(3.0)
    assert vehicle.truth[layout.VELOCITY][0] == pytest.approx(2.0, abs=0.01)


def test_it_flies_to_a_pose_and_home_again(make):
    simulation, _ = make()
    (vehicle,) = simulation.vehicles
    airborne(simulation, 3.0)
    vehicle.backend.set_target(PoseTarget(p_map=[4.0, -3.0, 4.0], yaw=1.0))
    fly(simulation, 10.0)
    assert vehicle.p_map_body == pytest.approx([4.0, -3.0, 4.0], abs=SETTLED_M)
    assert vehicle.truth[layout.QUATERNION] == pytest.approx(
        [0, 0, np.sin(0.5), np.cos(0.5)], abs=1e-3
    )
    vehicle.backend.return_home()
    highest = []
    while vehicle.backend.phase != "ready for orders":
        simulation.advance()
        highest.append(vehicle.p_map_body[2])
    assert max(highest) == pytest.approx(STANDING_M + RETURN_HEIGHT_M, abs=0.35)
    assert vehicle.p_map_body == pytest.approx([0.0, 0.0, STANDING_M], abs=0.35)


MISSION = textwrap.dedent(
    """
    takeoff_altitude_m: 3.0
    speed_m_s: 2.0
    corner_radius_m: 0.0
    waypoints:
      - {position_m: [6.0, 0.0, 3.0]}
      - {position_m: [6.0, 6.0, 3.0]}
    """
)


def test_a_mission_is_flown_held_and_resumed(make, tmp_path):
    (tmp_path / "mission.yaml").write_text(MISSION)
    simulation, _ = make(**{"mission.file": str(tmp_path / "mission.yaml")})
    (vehicle,) = simulation.vehicles
    path, held = [], False
    while simulation.outcome is None:
        simulation.advance()
        path.append(vehicle.p_map_body.copy())
        if not held and path[-1][0] > 3.0:
            vehicle.backend.hold()
            fly(simulation, 4.0)
            assert vehicle.backend.phase == "holding"
            assert np.linalg.norm(vehicle.truth[layout.VELOCITY]) < 0.05
            vehicle.backend.resume()
            held = True
    assert simulation.outcome == "the mission is flown" and simulation.is_success
    near = min(np.linalg.norm(np.array(path) - [6.0, 0.0, 3.0], axis=1))
    assert near < 0.2
    assert path[-1] == pytest.approx([6.0, 6.0, STANDING_M], abs=0.1)


def test_one_that_flies_into_another_ends_the_run_with_both_names(make):
    rows = [{"name": "a"}, {"name": "b", "start_east_m": 5.0}]
    simulation, _ = make(rows=rows)
    airborne(simulation)
    a, b = simulation.vehicles
    while simulation.outcome is None:
        a.backend.set_target(VelocityTarget(velocity=[2.0, 0.0, 0.0], is_body=False))
        simulation.advance()
    assert a.outcome.startswith("the vehicle crashed: it hit b at 2.0 m/s")
    assert b.outcome.startswith("the vehicle crashed: it hit a at 2.0 m/s")
    assert simulation.outcome.startswith("a: the vehicle crashed")


def test_a_multirotor_and_a_point_mass_share_a_run_and_see_each_other(make):
    rows = [
        {"name": "real", "dynamics": "multirotor", "controller": "ros2"},
        {"name": "mass", "start_east_m": 4.0},
    ]
    simulation, sink = make(rows=rows, **{"step_s": 0.004, "lidar.preset": "ideal"})
    fly(simulation, 1.2)
    real, mass = simulation.vehicles
    assert [v.kind for v in (real, mass)] == ["multirotor iris, flown by ros2", "point mass iris"]
    names = {name for name, _, _ in sink.messages}
    for name in ("truth/odom", "autopilot/status", "lidar/points", "robot_description"):
        assert {f"real/{name}", f"mass/{name}"} <= names
    seen = simulation._traffic.seen_by("real", lambda _: ())(simulation.stamp_ns)
    assert [placed.object.name for placed in seen] == ["mass"]


def test_a_step_that_is_too_long_for_a_multirotor_is_refused(make):
    rows = [{"name": "real", "dynamics": "multirotor"}, {"name": "mass", "start_east_m": 4.0}]
    with pytest.raises(ParameterError, match=r"real: step_s: expected at most 0.004 .* found 0.02"):
        make(rows=rows)
    with pytest.raises(ParameterError, match="controller of its own"):
        make(**{"controller.kind": "px4"})


def test_what_it_publishes_is_where_it_is_and_where_it_thinks_it_is(make):
    simulation, sink = make(3, **{"point_mass.estimate.own_m": 0.5, "point_mass.rate_hz": 10.0})
    fly(simulation, 1.0)
    truth = {(n, s): c for n, s, c in sink.messages if n == "uav1/truth/odom"}
    odom = {(n, s): c for n, s, c in sink.messages if n == "uav1/autopilot/odom"}
    assert [stamp for _, stamp in truth] == [round(k * 1e8) for k in range(1, 11)]
    assert [stamp for _, stamp in odom] == [stamp for _, stamp in truth]
    message = deserialize([*odom.values()][-1], "nav_msgs/msg/Odometry")
    p = message.pose.pose.position
    off = np.array([p.x, p.y, p.z]) - simulation.vehicles[1].p_map_body
    assert 0.05 < np.linalg.norm(off) < 3.0
    assert message.child_frame_id == "uav1/base_link_autopilot"


def test_many_fly_the_same_bytes_twice_and_a_reset_puts_all_back(make):
    flights = []
    for _ in range(2):
        simulation, sink = make(
            20, **{"wind.turbulence_m_s": 5.0, "point_mass.estimate.own_m": 0.1}
        )
        airborne(simulation, 2.0)
        rng = np.random.default_rng(3)
        for vehicle in simulation.vehicles:
            vehicle.backend.set_target(
                VelocityTarget(velocity=rng.uniform(-1.0, 1.0, 3) * [1, 1, 0.2])
            )
        fly(simulation, 2.0)
        flights.append(sink.messages)
    assert simulation.outcome is None
    assert flights[0] == flights[1] and len(flights[0]) > 20 * 20
    starts = [vehicle.p_map_start for vehicle in simulation.vehicles]
    simulation.reset()
    fly(simulation, 0.1)
    for start, vehicle in zip(starts, simulation.vehicles, strict=True):
        assert vehicle.p_map_body == pytest.approx(start, abs=1e-12)
    airborne(simulation, 2.0)
    assert simulation.vehicles[7].p_map_body[2] == pytest.approx(STANDING_M + 2.0, abs=1.0)


def test_when_one_leaves_orders_still_reach_the_others(make):
    rows = [{"name": name, "start_east_m": 5.0 * k} for k, name in enumerate("abc")]
    rows[0]["leaves_at_s"] = 13.0
    simulation, _ = make(rows=rows)
    airborne(simulation)
    a, b, c = simulation.vehicles
    fly(simulation, 2.0)
    assert simulation.vehicles == [b, c] and simulation.left == [a]
    b.backend.set_target(PoseTarget(p_map=[5.0, 3.0, 6.0]))
    simulation.leave("b")
    before = c.p_map_body.copy()
    b.backend.set_target(PoseTarget(p_map=[0.0, 0.0, 9.0]))  # reaches nobody any more
    c.backend.set_target(PoseTarget(p_map=np.add(before, [0.0, 2.0, 0.0])))
    fly(simulation, 8.0)
    assert c.p_map_body == pytest.approx(np.add(before, [0.0, 2.0, 0.0]), abs=SETTLED_M)
    assert a.backend.phase == "hovering" and a.p_map_body[2] == pytest.approx(5.0, abs=0.3)
    assert simulation.outcome is None


def test_a_hold_during_the_take_off_of_a_mission_is_refused(make, tmp_path):
    (tmp_path / "mission.yaml").write_text(MISSION)
    simulation, _ = make(**{"mission.file": str(tmp_path / "mission.yaml")})
    fly(simulation, 1.0)
    with pytest.raises(UserError, match="hold: the mission is taking off"):
        simulation.vehicles[0].backend.hold()


def test_a_landing_by_request_ends_the_run_where_the_parameters_say(make, tmp_path):
    (tmp_path / "mission.yaml").write_text(MISSION)
    heights = []
    for ends in (True, False):
        changes = {"mission.file": str(tmp_path / "mission.yaml")}
        simulation, _ = make(**changes, **{"mission.failure_ends_flight": ends})
        fly(simulation, 6.0)
        simulation.vehicles[0].backend.land()
        while simulation.outcome is None:
            simulation.advance()
        heights.append(simulation.vehicles[0].p_map_body[2])
        assert "the mission failed: it was ended by request" in simulation.outcome
    assert heights[0] > 2.0 and heights[1] == pytest.approx(STANDING_M, abs=0.02)


def test_without_autopilots_all_processors_stay_in_use(make):
    before = os.sched_getaffinity(0)
    simulation, _ = make(2)
    fly(simulation, 0.1)
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize("n", [1, 2])
def test_no_port_of_an_autopilot_is_needed(n):
    """A simulator that runs beside it may hold them."""
    port = hil_port(INSTANCE + n - 1)
    fleet = {"fleet.instances": n, "fleet.instance": INSTANCE}
    point_masses = {"dynamics": "point_mass", "step_s": STEP_S}
    with HilLink(port):
        check_before_flight(replaced(SimulatorParameters(), fleet | point_masses))
        with pytest.raises(UserError, match=f"TCP port {port} "):
            check_before_flight(replaced(SimulatorParameters(), fleet))
