# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_px4_bridge import MissionPlan, Waypoint
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.fleet import mission_file, mission_of, plan_vehicles, side_by_side
from aerotwin_simulator.preflight import check_before_flight

INSTANCE = 60
PLACING_M = 1e-6
GROUND_CLEARANCE_M = 0.3
HOVER = "takeoff_altitude_m: 2.0\nwaypoints: [{position_m: [0.0, 0.0, 2.0], hold_s: 60.0}]\n"


def _fleet(tmp_path, text):
    path = tmp_path / "fleet.yaml"
    path.write_text(text)
    return str(path)


def test_one_vehicle_has_no_name_and_the_parameters_of_the_flight():
    parameters = SimulatorParameters(fleet=FleetSettings(instance=3))
    (plan,) = plan_vehicles(parameters)
    assert plan.name == ""
    assert plan.parameters == parameters


def test_like_vehicles_have_names_and_instances_of_their_own():
    plans = plan_vehicles(SimulatorParameters(fleet=FleetSettings(instances=3, instance=9)))
    assert [plan.name for plan in plans] == ["uav0", "uav1", "uav2"]
    assert [plan.parameters.fleet.instance for plan in plans] == [9, 10, 11]
    assert all(plan.is_alike for plan in plans)


def test_a_fleet_file_says_what_differs(tmp_path):
    path = _fleet(
        tmp_path,
        "vehicles:\n"
        "  - {name: a}\n"
        "  - {name: b, instance: 40, start_yaw_deg: 90.0, gnss: ideal, controller: ros2}\n",
    )
    a, b = plan_vehicles(SimulatorParameters(fleet=FleetSettings(file=path, instance=2)))
    assert (a.parameters.fleet.instance, a.parameters.controller.kind) == (2, "embedded")
    assert (b.parameters.fleet.instance, b.parameters.controller.kind) == (40, "ros2")
    assert (a.parameters.sensors.gnss, b.parameters.sensors.gnss) == ("gnss_default", "ideal")
    assert b.start_yaw_deg == 90.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vehicles: [{name: a}, {name: a}]", ":1: a.name: expected different ones, found a"),
        ("vehicles: [{name: a}, {name: b, instance: 0}]", ":1: b.instance: expected different"),
        ("vehicles:\n  - {name: 2a}", r":2: vehicles\[0\].*name: expected a letter"),
        ("vehicles:\n  - {name: a}\n  - {name: map}", r":3: .*name: 'map' is the name of a node"),
        ("vehicles: []", "at least one vehicle"),
        ("- {name: a}", "expected the key vehicles with a list below it"),
        ("vehicles: [{name: a, colour: red}]", "unknown key 'colour'"),
        ("vehicles: [{name: a, controller: auto}]", ":1: a.controller: expected embedded"),
        (
            "vehicles:\n  - name: a\n    dynamics: ground_robot\n    imu: ideal",
            ":4: a.imu: expected none with dynamics ground_robot, .*found 'ideal'",
        ),
        (
            "vehicles: [{name: a, dynamics: point_mass, controller: px4}]",
            "a.controller: expected none with dynamics point_mass",
        ),
        ("vehicles: [{name: a, ground_vehicle: bicycle}]", "a.ground_vehicle: expected none"),
        (
            "vehicles:\n  - {name: a, leaves_at_s: 5.0}\n  - {name: b, leaves_at_s: 7.0}",
            ":3: b.leaves_at_s: expected a vehicle that stays in the world, found none after 7 s",
        ),
        (
            "vehicles:\n  - {name: a, leaves_at_s: 5.0}\n  - {name: b, joins_at_s: 7.0}",
            ":2: a.leaves_at_s: .*found none after 5 s",
        ),
        (
            "vehicles: [{name: a, mission: none.yaml}]",
            ":1: a.mission: expected a file or folder as seen from the fleet file, found none",
        ),
        ("vehicles: [{name: a, imu: my/imu.yaml}]", ":1: a.imu: expected a file or folder"),
        ("vehicles: [{name: a, mission: /no/where.yaml}]", ":1: a.mission: expected a file or"),
        (
            "vehicles: [{name: a, dynamics: ground_robot, camera_pitch_deg: 0.0}]",
            "a.camera_pitch_deg: expected none with dynamics ground_robot",
        ),
    ],
)
def test_a_wrong_fleet_file_is_reported(tmp_path, text, message):
    file = _fleet(tmp_path, text)
    with pytest.raises(ParameterError, match=rf"^{re.escape(file)}.*{message}"):
        plan_vehicles(SimulatorParameters(fleet=FleetSettings(file=file)))


def test_who_leaves_after_the_end_leaves_nobody_missing(tmp_path):
    path = _fleet(tmp_path, "vehicles: [{name: a, leaves_at_s: 60.0}]")
    fleet = FleetSettings(file=path)
    assert plan_vehicles(SimulatorParameters(fleet=fleet, duration_s=60.0))[0].name == "a"
    for duration_s in (0.0, 61.0):
        with pytest.raises(ParameterError, match="found none after 60 s"):
            plan_vehicles(SimulatorParameters(fleet=fleet, duration_s=duration_s))


def test_what_a_fleet_file_names_is_beside_it(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    text = "vehicles: [{name: a, mission: m.yaml, extra_sensors: ['my:Sensor@m.yaml']}]"
    path = _fleet(tmp_path / "there", text)
    monkeypatch.chdir(tmp_path / "here")
    for folder in ("here", "there"):
        (tmp_path / folder / "m.yaml").write_text(HOVER)
    parameters = SimulatorParameters(fleet=FleetSettings(file=path))
    beside = str(tmp_path / "there" / "m.yaml")
    own = plan_vehicles(parameters)[0].parameters
    assert (own.mission.file, own.sensors.extra) == (beside, (f"my:Sensor@{beside}",))
    Path(beside).unlink()
    with pytest.warns(FutureWarning, match="m.yaml was found in the working folder"):
        assert plan_vehicles(parameters)[0].parameters.mission.file == "m.yaml"


def test_what_is_found_before_the_flight_names_the_line_of_the_vehicle(tmp_path):
    text = "vehicles:\n  - {name: a}\n  - {name: b, airframe: zeppelin, controller: ros2}"
    path = _fleet(tmp_path, text)
    with pytest.raises(ParameterError, match=r"fleet.yaml:3: b.airframe: there is none"):
        check_before_flight(SimulatorParameters(fleet=FleetSettings(file=path)))


def test_a_fleet_file_and_instances_exclude_each_other(tmp_path):
    path = _fleet(tmp_path, "vehicles: [{name: a}]")
    with pytest.raises(ParameterError, match="expected 1 beside a fleet file"):
        plan_vehicles(SimulatorParameters(fleet=FleetSettings(file=path, instances=2)))


@pytest.mark.parametrize(
    "world", ["place", "place@1003", "my/place.yaml", "my/place/world.yaml", "my/place"]
)
def test_a_folder_of_missions_has_one_for_the_world(tmp_path, world):
    for name in ("place", "other"):
        (tmp_path / f"{name}.yaml").write_text("waypoints: []")
    (tmp_path / "world.yaml").write_text("waypoints: []")
    values = {"world": world, "mission.file": str(tmp_path)}
    assert mission_file(replaced(SimulatorParameters(), values)) == tmp_path / "place.yaml"


def test_a_world_without_a_mission_is_reported(tmp_path):
    (tmp_path / "other.yaml").write_text("waypoints: []")
    parameters = replaced(SimulatorParameters(), {"world": "pit", "mission.file": str(tmp_path)})
    with pytest.raises(ParameterError, match=r"no mission pit.yaml for the world pit .*other.yaml"):
        mission_file(parameters)
    parameters = replaced(parameters, {"controller.kind": "ros2"})
    (plan,) = plan_vehicles(parameters)
    assert mission_of(plan) is None  # it takes none


def test_a_start_beside_the_world_is_reported(tmp_path, flat_world):
    path = _fleet(tmp_path, "vehicles: [{name: a, start_east_m: 500.0}]")
    parameters = SimulatorParameters(
        fleet=FleetSettings(file=path),
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind="ros2"),
    )
    with pytest.raises(ParameterError, match=r"a: its start \(500.0, 0.0\) m in map lies beside"):
        Simulation(parameters, flat_world, tmp_path, [])


def test_vehicles_stand_at_their_starts_and_their_homes_are_there(tmp_path, flat_world):
    path = _fleet(
        tmp_path,
        "vehicles: [{name: a}, {name: b, start_east_m: 5.0, start_north_m: -2.0,"
        " start_yaw_deg: 90.0}]",
    )
    parameters = SimulatorParameters(
        fleet=FleetSettings(file=path),
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind="ros2"),
    )
    a, b = Simulation(parameters, flat_world, tmp_path, []).vehicles
    plane = LocalTangentPlane(flat_world.origin)
    for vehicle, place in ((a, (0.0, 0.0)), (b, (5.0, -2.0))):
        home = vehicle.home
        p_map = plane.from_geodetic(home.latitude_deg, home.longitude_deg, home.altitude_m)
        assert p_map[:2] == pytest.approx(place, abs=PLACING_M)
        assert 0.0 < p_map[2] < GROUND_CLEARANCE_M
    assert b.body.R_map_body[:, 0] == pytest.approx([0.0, 1.0, 0.0], abs=PLACING_M)


def test_like_vehicles_fly_one_mission_side_by_side_and_a_fleet_s_as_it_stands():
    mission = MissionPlan(waypoints=(Waypoint(position_m=(10.0, 2.0, 5.0), yaw_deg=30.0),))
    first, _, third = plan_vehicles(SimulatorParameters(fleet=FleetSettings(instances=3)))
    third = dataclasses.replace(third, start_north_m=6.0)
    assert side_by_side(mission, first) == mission
    (moved,) = side_by_side(mission, third).waypoints
    assert moved == Waypoint(position_m=(10.0, 8.0, 5.0), yaw_deg=30.0)
    named = dataclasses.replace(third, is_alike=False)
    assert side_by_side(mission, named) is mission


@pytest.fixture(scope="module")
def two_flights(tmp_path_factory, flat_world):
    """Two vehicles with embedded autopilots, flown for the same seconds twice."""
    from aerotwin_core.bag import BagReader
    from aerotwin_simulator.recording import BagSink

    folder = tmp_path_factory.mktemp("fleet")
    (folder / "hover.yaml").write_text(HOVER)
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        fleet=FleetSettings(instances=2, instance=INSTANCE),
        mission=MissionSettings(file=str(folder / "hover.yaml")),
        duration_s=5.0,
        seed=4,
    )
    flights = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        bag = BagSink(folder / name / "bag")
        simulation = Simulation(parameters, flat_world, folder / name, [bag])
        try:
            simulation.start()
            while simulation.outcome is None:
                simulation.advance()
        finally:
            simulation.close()
            bag.close()
        flights.append((simulation, BagReader(folder / name / "bag")))
    return flights


def test_two_autopilots_fly_at_once_each_with_counters_of_its_own(two_flights):
    simulation, bag = two_flights[0]
    assert simulation.outcome == "5 s are over, in the air"
    assert simulation.is_repeatable
    n_steps = simulation.stamp_ns // 4_000_000
    for vehicle in simulation.vehicles:
        counters = vehicle.backend.link.counters
        assert (counters.n_sent, counters.n_answered) == (n_steps, n_steps)
        assert bag.trajectory(f"/{vehicle.name}/truth/odom").p_ref_body[-1, 2] > 0.5
    names = [next(bag.messages([f"/uav{k}/autopilot/status"]))[2].status[0].name for k in (0, 1)]
    assert names == ["autopilot uav0", "autopilot uav1"]


def test_topics_and_frames_begin_with_the_vehicle_and_the_world_is_shared(two_flights):
    _, bag = two_flights[0]
    assert {"/uav0/imu/data_raw", "/uav1/imu/data_raw", "/clock", "/diagnostics"} <= set(bag.topics)
    assert not any(name in bag.topics for name in ("/imu/data_raw", "/uav0/clock"))
    for name in ("uav0", "uav1"):
        odometry = next(bag.messages([f"/{name}/truth/odom"]))[2]
        assert odometry.header.frame_id == "map"
        assert odometry.child_frame_id == f"{name}/base_link_truth"
        imu = next(bag.messages([f"/{name}/imu/data_raw"]))[2]
        assert imu.header.frame_id == f"{name}/imu_link"
        assert stamp_ns(imu) == 4_000_000
    fixed = next(bag.messages(["/tf_static"]))[2].transforms
    assert {t.header.frame_id for t in fixed} >= {"uav0/base_link", "uav1/base_link"}
    moving = {
        (e.header.frame_id, e.child_frame_id)
        for _, _, message in bag.messages(["/tf"])
        for e in message.transforms
    }
    both = [(f"{name}/odom", f"{name}/base_link") for name in ("uav0", "uav1")]
    assert moving == {*both, ("map", "uav0/odom"), ("map", "uav1/odom")}
    statuses = next(bag.messages(["/diagnostics"]))[2].status
    assert len(statuses) == 2


def test_a_fleet_repeats_byte_for_byte_and_its_vehicles_differ(two_flights):
    (_, first), (_, second) = two_flights
    names = [f"/uav{k}/{topic}" for k in (0, 1) for topic in ("imu/data_raw", "gnss/fix")]
    assert [*first.raw(names)] == [*second.raw(names)]
    forces = [
        np.array([m.linear_acceleration.z for _, _, m in first.messages([f"/uav{k}/imu/data_raw"])])
        for k in (0, 1)
    ]
    assert not np.array_equal(*forces)
