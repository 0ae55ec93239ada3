# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What users' classes and nodes do wrong, and what becomes of the flight."""

import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_autopilot import load_autopilot_parameters
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.messages import odometry_message
from aerotwin_core.parameters import to_mapping
from aerotwin_multirotor_dynamics import layout, load_airframe
from aerotwin_px4_bridge import VisionPose
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    SensorSettings,
    Simulation,
    SimulatorParameters,
    VisionSettings,
)
from aerotwin_simulator.controllers.autopilot_process import make_process
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.preflight import check_before_flight

LIMIT_S = 0.02
INSTANCE = 88
FAULTS = textwrap.dedent(
    """
    from types import SimpleNamespace
    from own_controllers import Climber as _Climber

    class Climber(_Climber):
        def __init__(self, context):
            super().__init__(context)


    class CloseRaises(Climber):
        def close(self):
            raise OSError("the file is gone")


    class Negative(Climber):
        def step(self, sample):
            return [100.0, 100.0, 100.0, -1.0]


    class PhaseRaises(Climber):
        def __setattr__(self, name, value):
            if name != "phase":
                super().__setattr__(name, value)

        @property
        def phase(self):
            raise ZeroDivisionError("no phase")


    class ProgressIsText(Climber):
        progress = "half"


    class ProgressIsNotFinite(Climber):
        progress = float("nan")


    class FailureIsNumber(Climber):
        failure = 3


    class FinishedIsMethod:
        def __init__(self, context):
            pass

        def is_finished(self):
            return False

        def step(self, sample):
            return [0.0] * 4


    class SetpointIsList(Climber):
        setpoint = [1.0, 2.0, 3.0]


    class SetpointIsNotFinite(Climber):
        setpoint = SimpleNamespace(p_map=(float("nan"), 0.0, 0.0), yaw=0.0)


    class _Sensor:
        topic, msgtype, rate_hz = "sonar/range", "sensor_msgs/msg/Range", 50.0

        def __init__(self, parameters, rng):
            pass

        def sample(self, stamp_ns, truth):
            return {"range": 1.0}


    class Sonar(_Sensor):
        pass


    class SonarRaises(_Sensor):
        def sample(self, stamp_ns, truth):
            raise RuntimeError("no echo")


    class SonarReturnsNumber(_Sensor):
        def sample(self, stamp_ns, truth):
            return 3.0


    class SonarNamesUnknownField(_Sensor):
        def sample(self, stamp_ns, truth):
            return {"distance": 3.0}


    class Taken(_Sensor):
        topic = "imu/data_raw"


    class Absolute(_Sensor):
        topic = "/tf"


    class Invalid(_Sensor):
        topic = "sonar range"
    """
)


@pytest.fixture
def faults(controllers, tmp_path) -> str:
    """The name of an importable module with controllers and sensors that go wrong."""
    sys.modules.pop("own_controllers", None)
    sys.modules.pop("faulty", None)
    (tmp_path / "faulty.py").write_text(FAULTS)
    return "faulty"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Negative", r"Negative at t = 0\.004 s: expected 4 finite rotor speeds .*none negative"),
        ("PhaseRaises", r"PhaseRaises at t = 0\.004 s: phase failed: ZeroDivisionError: no phase"),
        ("ProgressIsText", "ProgressIsText .* progress: expected a number or None, found str"),
        ("ProgressIsNotFinite", "progress: expected a finite number, found nan"),
        ("FailureIsNumber", "FailureIsNumber .* failure: expected a text or None, found int"),
        ("FinishedIsMethod", "is_finished: expected True or False, found method"),
        ("SetpointIsList", "SetpointIsList .* setpoint failed: AttributeError"),
        ("SetpointIsNotFinite", "setpoint: expected a finite p_map"),
    ],
)
def test_what_a_class_says_wrongly_ends_the_flight_with_a_reason(faults, fly, name, reason):
    simulation, _ = fly(controller=ControllerSettings(kind=f"python:{faults}:{name}"))
    assert not simulation.is_success
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(simulation.outcome)


def test_a_controller_that_fails_to_close_keeps_no_other_vehicle_from_its_end(
    faults, flat_world, tmp_path
):
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind=f"python:{faults}:CloseRaises"),
        fleet=FleetSettings(instances=2),
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    closed = []
    simulation.vehicles[1].close = lambda: closed.append(1)
    with pytest.raises(UserError, match=r"CloseRaises .* close failed: OSError: the file is gone"):
        simulation.close()
    assert closed == [1]


def _setup(tmp_path: Path, **parameters) -> SimpleNamespace:
    return SimpleNamespace(
        host=None,
        parameters=SimulatorParameters(**parameters),
        airframe=load_airframe("iris"),
        home=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=488.0),
        folder=tmp_path,
        title="vehicle 0",
        spin=lambda _: None,
        has_commander=lambda: True,
    )


def _gnss_preset(tmp_path: Path, delay_s: float) -> str:
    path = tmp_path / "late.yaml"
    path.write_text(
        "source: a test\nparameters: {rate_hz: 10.0, white_horizontal_m: 0.2,"
        " white_vertical_m: 0.4, velocity_horizontal_m_s: 0.05, velocity_vertical_m_s: 0.1,"
        f" delay_s: {delay_s}}}\n"
    )
    return str(path)


def test_the_embedded_autopilot_gets_the_delay_of_its_receiver(tmp_path):
    make_process(_setup(tmp_path, sensors=SensorSettings(gnss=_gnss_preset(tmp_path, 0.17))))
    reported = load_autopilot_parameters(tmp_path / "autopilot_0.yaml")
    assert reported.estimator.gnss_delay_s == 0.17


def test_a_delay_that_the_estimator_cannot_look_back_is_refused_before_the_flight(tmp_path):
    setup = _setup(tmp_path, sensors=SensorSettings(gnss=_gnss_preset(tmp_path, 0.5)))
    with pytest.raises(ParameterError, match=r"late\.yaml .*gnss_delay_s.*at most 0\.2 s.*0\.5"):
        make_process(setup)


def _readings(end_ns: int, imu_ns: int | None) -> SimpleNamespace:
    step = SimpleNamespace(end_ns=end_ns)
    return SimpleNamespace(step=step, has_imu=imu_ns is not None, imu_ns=imu_ns)


def test_a_step_without_an_imu_reading_does_not_wait_for_a_command(tmp_path):
    backend = TopicCommands(
        _setup(
            tmp_path,
            controller=ControllerSettings(kind="ros2", command_wait_s=LIMIT_S),
            step_s=0.002,
        )
    )
    backend.send_readings(_readings(2_000_000, None))
    backend.receive_command()
    backend.send_readings(_readings(4_000_000, 4_000_000))
    backend.on_rotor_command(4_000_000, [1.0] * 4)
    backend.receive_command()
    backend.send_readings(_readings(6_000_000, None))
    backend.receive_command()
    assert backend.n_missed == 0


def test_a_command_answers_the_stamp_of_a_reading_within_the_step(tmp_path):
    backend = TopicCommands(
        _setup(tmp_path, controller=ControllerSettings(kind="ros2", command_wait_s=LIMIT_S))
    )
    backend.send_readings(_readings(8_000_000, 5_000_000))
    backend.on_rotor_command(5_000_000, [1.0] * 4)
    backend.receive_command()
    assert backend.n_missed == 0


def test_a_command_from_the_future_is_refused_and_counted_in_lockstep(tmp_path):
    backend = TopicCommands(
        _setup(tmp_path, controller=ControllerSettings(kind="ros2", command_wait_s=LIMIT_S))
    )
    backend.send_readings(_readings(4_000_000, 4_000_000))
    backend.on_rotor_command(4_000_001, [1.0] * 4)
    assert (backend.n_received, backend.n_refused) == (0, 1)
    backend.receive_command()
    assert backend.n_missed == 1


def test_a_vehicle_that_crashes_after_its_mission_is_no_success(faults, flat_world, tmp_path):
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind=f"python:{faults}:Climber"),
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    simulation.advance()
    vehicle = simulation.vehicles[0]
    vehicle.end("the mission is flown", is_success=True)
    vehicle.mover.state[layout.IS_CRASHED] = 1.0
    vehicle.receive_command(simulation.stamp_ns)
    assert not vehicle.is_success
    assert "crashed" in vehicle.outcome


def test_vehicle_numbers_beyond_the_last_are_refused():
    assert SimulatorParameters(fleet=FleetSettings(instance=198, instances=3)).fleet.instances == 3
    with pytest.raises(ParameterError, match=r"fleet\.instance: expected at most 198 with 3"):
        SimulatorParameters(fleet=FleetSettings(instance=199, instances=3))


@pytest.mark.parametrize("controller", ["ros2", "python:module:Class"])
def test_poses_from_a_topic_are_refused_without_a_consumer(controller):
    with pytest.raises(ParameterError, match=r"vision\.source: expected none or simulated"):
        SimulatorParameters(
            controller=ControllerSettings(kind=controller), vision=VisionSettings(source="topic")
        )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("SonarRaises", r"SonarRaises failed at t = 0\.020 s: RuntimeError: no echo"),
        ("SonarReturnsNumber", r"SonarReturnsNumber failed at t = 0\.020 s: TypeError"),
        ("SonarNamesUnknownField", r"SonarNamesUnknownField failed .*no field \['distance'\]"),
    ],
)
def test_what_a_sensor_of_one_s_own_does_wrongly_ends_the_flight(faults, fly, name, reason):
    simulation, _ = fly(
        controller=ControllerSettings(kind="ros2"),
        sensors=SensorSettings(extra=(f"{faults}:{name}",)),
    )
    assert not simulation.is_success
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(simulation.outcome)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["Taken"], "Taken: topic: expected one of its own, found imu/data_raw, .* the vehicle"),
        (["Sonar", "SonarRaises"], "SonarRaises: topic: .* sonar/range, .* another sensor"),
        (["Absolute"], "Absolute: topic: expected a relative name .* found '/tf'"),
        (["Invalid"], "Invalid: topic: expected a relative name .* found 'sonar range'"),
    ],
)
def test_topics_of_sensors_that_cannot_be_are_refused_before_the_flight(faults, names, reason):
    lines = tuple(f"{faults}:{name}" for name in names)
    with pytest.raises(ParameterError, match=reason):
        check_before_flight(
            SimulatorParameters(
                controller=ControllerSettings(kind="ros2"), sensors=SensorSettings(extra=lines)
            )
        )


def test_an_unused_mission_is_refused_if_it_does_not_exist(tmp_path):
    mission = tmp_path / "mission.yaml"
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"), mission=MissionSettings(file=str(mission))
    )
    with pytest.raises(ParameterError, match=r"mission\.file: expected none with controller ros2"):
        check_before_flight(parameters)
    mission.write_text("waypoints: []")
    check_before_flight(parameters)


def test_poses_in_another_frame_are_refused_counted_and_shown(flat_world, tmp_path):
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        vision=VisionSettings(source="topic"),
        fleet=FleetSettings(instance=INSTANCE),
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    try:
        vehicle = simulation.vehicles[0]
        still = (0.0, 0.0, 0.0)
        for frame in ("odom", "map", ""):
            vehicle.on_external_odometry_message(
                odometry_message(0, frame, "base_link", still, (0.0, 0.0, 0.0, 1.0), still, still)
            )
        _, _, _, values = vehicle.publish_status(0)
    finally:
        simulation.close()
    assert values["vision_refused"] == "1"


def test_poses_from_this_process_are_for_who_flies_on_vision(flat_world, tmp_path):
    pose = VisionPose(time_us=0, p_map=np.zeros(3), q_map_body=np.array([0.0, 0.0, 0.0, 1.0]))
    for kind in ("topic", "none"):
        parameters = SimulatorParameters(
            camera=CameraSettings(is_rendered=False),
            vision=VisionSettings(source=kind),
            fleet=FleetSettings(instance=INSTANCE),
        )
        simulation = Simulation(parameters, flat_world, tmp_path, [])
        try:
            vehicle = simulation.vehicles[0]
            if kind == "none":
                with pytest.raises(ValueError, match=r"vision\.source topic only, got none"):
                    vehicle.on_external_odometry(pose)
            else:
                vehicle.on_external_odometry(pose)
                assert vehicle._vision.collect(None) == [pose]
        finally:
            simulation.close()


def test_an_airframe_with_more_rotors_than_mavlink_carries_is_refused(iris_with):
    rotors = to_mapping(load_airframe("iris"))["rotors"] * 5
    airframe = iris_with(rotors=rotors)
    with pytest.raises(ParameterError, match=r"at most 16 rotors with .* found 20"):
        check_before_flight(
            SimulatorParameters(airframe=airframe, fleet=FleetSettings(instance=INSTANCE))
        )
    check_before_flight(
        SimulatorParameters(airframe=airframe, controller=ControllerSettings(kind="ros2"))
    )


def test_an_airframe_that_no_motor_command_lifts_is_refused(iris_with):
    airframe = iris_with(mass_kg=5.0)
    with pytest.raises(ParameterError, match="hovers with a motor command between 0 and 1, found"):
        check_before_flight(
            SimulatorParameters(airframe=airframe, fleet=FleetSettings(instance=INSTANCE))
        )
