# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Events of a flight: when they happen, to whom, what they do; and what is refused before it."""

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import replaced
from aerotwin_simulator import CameraSettings, ControllerSettings, Simulation, SimulatorParameters
from aerotwin_simulator.events.history import SAMPLE_RATE_HZ
from aerotwin_simulator.events.plan import load_events, parse_events
from aerotwin_simulator.signals import SIGNALS
from aerotwin_temporal_logic import judge, parse

SECOND = 1_000_000_000
SAMPLE_S = 1.0 / SAMPLE_RATE_HZ
INSTANCE = 83


@pytest.fixture
def fly_with(tmp_path, flat_world, controllers):
    """Fly with events until the end; return the simulation, closed."""

    def run(events, **changes):
        default = SimulatorParameters(
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            camera=CameraSettings(is_rendered=False),
            duration_s=4.0,
        )
        parameters = replaced(default, changes)
        plan = parse_events(yaml.safe_load(events), where="test")
        simulation = Simulation(parameters, flat_world, tmp_path, [], events=plan)
        try:
            simulation.start()
            while simulation.outcome is None:
                simulation.advance()
        finally:
            simulation.close()
        return simulation

    return run


def test_events_happen_at_their_time_or_when_a_condition_first_holds(fly_with):
    simulation = fly_with(
        """
        third: {when: 0.5 s after second, do: mark}
        second: {when: height_m > 1.5, do: mark}
        first: {at_s: 0.3, do: mark}
        later: {when: height_m > 50, do: mark}
        """
    )
    trace = simulation.events.trace()
    instants = trace.events
    height = trace.values["height_m"]
    second_s = trace.times_s[np.flatnonzero(height > 1.5)[0]]
    assert instants["first"] == pytest.approx(0.3)
    assert instants["second"] == pytest.approx(second_s)
    assert instants["third"] == pytest.approx(second_s + 0.5, abs=SAMPLE_S)
    assert instants["later"] is None


def test_the_record_has_every_signal_at_its_rate(fly_with):
    trace = fly_with("{}").events.trace()
    assert set(trace.values) == set(SIGNALS)
    np.testing.assert_allclose(np.diff(trace.times_s), SAMPLE_S)
    assert trace.times_s[-1] == pytest.approx(4.0)
    assert {len(array) for array in trace.values.values()} == {len(trace.times_s)}
    assert not trace.values["crashed"].any()
    assert judge(parse("always height_m < 2.5", SIGNALS), trace).is_met
    assert judge(parse("flying at end", SIGNALS), trace).is_met
    assert np.isnan(trace.values["position_error_m"]).all()  # no autopilot, no estimate


def test_a_fault_begins_grows_and_ends_as_the_event_says(fly_with):
    simulation = fly_with(
        """
        wind: {at_s: 1.0, do: gust, parameters: {east_m_s: 4.0}, ramp_s: 0.5, duration_s: 1.0}
        """
    )
    trace = simulation.events.trace()
    wind = dict(zip(np.round(trace.times_s, 2), trace.values["wind_speed_m_s"], strict=True))
    assert wind[0.96] == 0.0
    assert wind[1.24] == pytest.approx(2.0, abs=0.3)  # half of it, after half of the ramp
    assert wind[1.8] == pytest.approx(4.0)
    assert wind[2.6] == 0.0


def test_a_fault_when_a_condition_holds_is_that_at_its_time(fly_with):
    by_time = fly_with("jam: {at_s: 2.0, do: motor_jam, parameters: {rotor: 0}}").events.trace()
    text = "jam: {when: time_s >= 2, do: motor_jam, parameters: {rotor: 0}}"
    by_condition = fly_with(text).events.trace()
    for name in SIGNALS:
        np.testing.assert_array_equal(by_time.values[name], by_condition.values[name])
    assert by_time.values["tilt_deg"].max() > 20.0


def test_weather_has_all_vehicles_of_a_fleet_and_a_fault_its_own(fly_with):
    simulation = fly_with(
        """
        wind: {at_s: 0.5, do: gust, parameters: {north_m_s: 2.0}}
        broken: {at_s: 0.5, do: imu_stuck, vehicle: uav1}
        """,
        **{"fleet.instances": 3, "duration_s": 1.0},
    )
    names = [[fault.name for fault in v.faults.of("air")] for v in simulation.vehicles]
    assert names == [["wind"]] * 3
    stuck = [[fault.name for fault in v.faults.of("imu")] for v in simulation.vehicles]
    assert stuck == [[], ["broken"], []]


def test_the_same_seed_gives_the_same_flight(fly_with):
    events = (
        "noise: {at_s: 1.0, do: gnss_jamming}\nw: {at_s: 1.0, do: gust, parameters: {up_m_s: 1}}"
    )
    first, second = (fly_with(events, seed=5).events.trace() for _ in range(2))
    for name in SIGNALS:
        np.testing.assert_array_equal(first.values[name], second.values[name])


def test_a_reset_begins_the_events_again(tmp_path, flat_world, controllers):
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
        camera=CameraSettings(is_rendered=False),
    )
    plan = parse_events({"stuck": {"at_s": 0.2, "do": "imu_stuck"}}, where="test")
    simulation = Simulation(parameters, flat_world, tmp_path, [], events=plan)
    simulation.start()
    vehicle = simulation.vehicles[0]
    for _ in range(100):
        simulation.advance()
    assert len(vehicle.faults.of("imu")) == 1
    simulation.reset()
    assert simulation.events.instants_s == {"stuck": None}
    assert not vehicle.faults.of("imu")
    while not vehicle.faults.of("imu"):
        simulation.advance()
    assert simulation.stamp_ns == pytest.approx(0.604 * SECOND, abs=4_000_000)
    simulation.close()


class TestWithAutopilot:
    """Orders of an operator, on the ground link of the embedded autopilot."""

    MISSION = "takeoff_altitude_m: 4.0\nwaypoints: [{position_m: [30.0, 0.0, 4.0]}]\n"

    @pytest.fixture
    def fly_mission(self, tmp_path, fly_with):
        (tmp_path / "mission.yaml").write_text(self.MISSION)

        def run(events, **changes):
            return fly_with(
                events,
                **{
                    "controller.kind": "embedded", "mission.file": str(tmp_path / "mission.yaml"),
                    "mission.failure_ends_flight": False, "fleet.instance": INSTANCE,
                    "duration_s": 60.0,
                } | changes,
            )  # fmt: skip

        return run

    def test_an_order_is_followed_and_the_flight_goes_on_until_the_motors_are_off(
        self, fly_mission
    ):
        simulation = fly_mission("down: {when: east_m > 3, do: set_mode, parameters: {mode: LAND}}")
        trace = simulation.events.trace()
        assert simulation.events.refusals == []
        assert judge(parse("landed within 20 s of down", SIGNALS, ["down"]), trace).is_met
        assert judge(parse("mode is LAND within 1 s of down", SIGNALS, ["down"]), trace).is_met
        assert trace.values["east_m"].max() < 10.0
        assert "it left OFFBOARD" in simulation.outcome
        assert not simulation.is_success
        assert simulation.stamp_ns < 40 * SECOND
        assert simulation.is_repeatable

    def test_a_position_that_is_ordered_is_flown_to(self, fly_mission):
        simulation = fly_mission(
            """
            there: {when: east_m > 3, do: go_to, parameters: {east_m: 0.0, north_m: 6.0, up_m: 5.0}}
            """,
            duration_s=35.0,
        )
        trace = simulation.events.trace()
        at_end = [trace.values[name][-1] for name in ("east_m", "north_m", "up_m")]
        np.testing.assert_allclose(at_end, [0.0, 6.0, 5.0], atol=2.5)  # GNSS is off by so much
        assert trace.values["mode"][-1] == "HOLD"

    def test_a_lost_companion_is_noticed_by_the_autopilot(self, fly_mission):
        simulation = fly_mission("cut: {when: east_m > 3, do: companion_loss}", duration_s=30.0)
        trace = simulation.events.trace()
        wanted = parse("mode is HOLD within 3 s of cut", SIGNALS, ["cut"])
        assert judge(wanted, trace).is_met  # COM_OF_LOSS_T is 1 s

    def test_an_order_that_is_refused_is_named(self, fly_mission):
        simulation = fly_mission(
            "far: {at_s: 12.0, do: go_to, parameters: {east_m: 0, north_m: 0, up_m: 99999.0}}",
            duration_s=20.0,
        )
        (refusal,) = simulation.events.refusals
        assert refusal.startswith("far: the autopilot answered ")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("{do: gust}", "expected either at_s or when, found neither"),
        ("{at_s: 1, when: landed, do: gust}", "expected either at_s or when, found both"),
        ("{at_s: 1, do: gnss_los}", "no 'gnss_los'; did you mean gnss_loss"),
        ("{at_s: 1, do: motor_jam}", "'rotor' is missing"),
        ("{at_s: 1, do: gust, parameters: {west_m_s: 1}}", "unknown key 'west_m_s'"),
        ("{at_s: 1, do: mark, parameters: {east_m_s: 1}}", "mark has none"),
        ("{at_s: 1, do: set_mode, parameters: {mode: FLIP}}", "expected one of HOLD"),
        ("{at_s: 1, do: mark, duration_s: 3}", "mark is done at once"),
        ("{when: hight_m > 1, do: mark}", "no signal or event 'hight_m'; did you mean height_m"),
        ("{when: always height_m > 1, do: mark}", "needs the future"),
        (
            "{when: 1 s after other, do: mark}",
            "'other' was found; events: none",
        ),
        ("{at_s: -1, do: mark}", "expected at least 0"),
        ("[1, 2]", "expected names with values"),
    ],
)
def test_what_is_wrong_in_an_event_is_named_with_its_place(event, words):
    with pytest.raises(UserError, match=r"my\.yaml: events\.gone") as error:
        parse_events(yaml.safe_load(f"gone: {event}"), where="my.yaml")
    assert words in str(error.value)


@pytest.mark.parametrize("name", ["a b", "1st", "height_m", "", "x" * 99, "a.b"])
def test_a_name_that_conditions_could_not_use_is_refused(name):
    with pytest.raises(ParameterError, match="events: "):
        parse_events({name: {"at_s": 1.0, "do": "mark"}}, where="my.yaml")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("x: {at_s: 1, do: motor_jam, parameters: {rotor: 7}}", "expected 0 to 3"),
        ("x: {at_s: 1, do: mark, vehicle: uav7}", "no 'uav7'; the vehicles are a single one"),
        ("x: {at_s: 1, do: set_mode, parameters: {mode: LAND}}", "an order needs an autopilot"),
        ("x: {at_s: 1, do: lidar_loss}", "the vehicle has no lidar"),
    ],
)
def test_what_the_vehicle_cannot_do_is_refused_before_the_flight(fly_with, event, words):
    with pytest.raises(ParameterError, match=words):
        fly_with(event)


def test_a_file_without_events_is_refused(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text("world: flat\n")
    with pytest.raises(ParameterError, match="expected the key events"):
        load_events(path)
