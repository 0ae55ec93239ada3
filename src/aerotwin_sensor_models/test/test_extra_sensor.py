# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A sensor of one's own: found by a line of YAML, its messages, and airspeed as the example."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import deserialize, serialize, stamp_ns
from aerotwin_sensor_models import (
    Airspeed,
    SensorTruth,
    extra_message,
    load_preset,
    make_extra_sensor,
    seed_sequence,
)

AIRSPEED = "aerotwin_sensor_models.airspeed:Airspeed"
OWN = """
class Sonar:
    topic = "sonar"
    msgtype = "sensor_msgs/msg/Range"
    frame_id = "sonar_link"

    def __init__(self, parameters, rng):
        self.rate_hz = parameters.get("rate_hz", 20.0)
        self.rng = rng

    def sample(self, stamp_ns, truth):
        return {"range": truth.p_map_body[2], "max_range": 8.0}


class Broken(Sonar):
    def __init__(self, parameters, rng):
        raise KeyError("depth")


class Mute:
    rate_hz = 1.0

    def __init__(self, parameters, rng):
        pass


class Unknown(Sonar):
    msgtype = "my_msgs/msg/Depth"


class Scan(Sonar):
    msgtype = "sensor_msgs/msg/LaserScan"

    def sample(self, stamp_ns, truth):
        return {"ranges": [1.0, 2.0, 3.0]}


class Still(Sonar):
    def __init__(self, parameters, rng):
        self.rate_hz = 0.0


class Nowhere(Sonar):
    T_body_sensor = [1.0, 2.0, 3.0]
"""


def truth(v_map=(10.0, 0.0, 0.0), wind=(0.0, 0.0, 0.0), yaw=0.0, altitude=0.0):
    attitude = Rotation.from_euler("z", yaw)
    return SensorTruth(
        p_map_body=np.array([0.0, 0.0, 2.5]),
        v_map_body=np.array(v_map),
        q_map_body=attitude.as_quat(),
        R_map_body=attitude.as_matrix(),
        omega_map_body_in_body=np.zeros(3),
        specific_force_in_body=np.array([0.0, 0.0, 9.81]),
        wind_map=np.array(wind),
        altitude_amsl_m=altitude,
    )


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "my_sensors.py").write_text(OWN, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_class_and_a_line_are_enough(own):
    sensor = make_extra_sensor("my_sensors:Sonar", seed=1, vehicle=0)
    message = extra_message(sensor, 7_000_000_002, sensor.sample(7_000_000_002, truth()))
    read = deserialize(serialize(message), "sensor_msgs/msg/Range")
    assert (stamp_ns(read), read.header.frame_id) == (7_000_000_002, "sonar_link")
    assert (read.range, read.max_range, read.field_of_view) == (2.5, 8.0, 0.0)


def test_its_parameters_come_from_the_file_after_the_at_sign(own):
    (own / "sonar.yaml").write_text("rate_hz: 5.0\n", "utf-8")
    line = f"my_sensors:Sonar@{own / 'sonar.yaml'}"
    assert make_extra_sensor(line, seed=1, vehicle=0).rate_hz == 5.0
    (own / "sonar.yaml").write_text("- 5.0\n", "utf-8")
    with pytest.raises(ParameterError, match="expected names with values"):
        make_extra_sensor(line, seed=1, vehicle=0)


def test_its_noise_does_not_depend_on_where_its_file_lies(own):
    draws = []
    for folder in ("here", "there"):
        (own / folder).mkdir()
        (own / folder / "sonar.yaml").write_text("rate_hz: 5.0\n", "utf-8")
        line = f"my_sensors:Sonar@{own / folder / 'sonar.yaml'}"
        draws.append(make_extra_sensor(line, seed=1, vehicle=0).rng.random())
    assert draws[0] == draws[1]


def test_each_vehicle_and_seed_has_noise_of_its_own(own):
    def first(seed, vehicle):
        return make_extra_sensor("my_sensors:Sonar", seed=seed, vehicle=vehicle).rng.random()

    assert first(1, 0) == first(1, 0)
    assert len({first(1, 0), first(2, 0), first(1, 1)}) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("my_sensors", "expected module:Class, found 'my_sensors'"),
        ("my_sonars:Sonar", "no module 'my_sonars' found; install it"),
        ("my_sensors:Radar", "my_sensors has no class 'Radar'"),
        ("my_sensors:Broken", "cannot be made: KeyError: 'depth'"),
        ("my_sensors:Mute", r"lacks \['topic', 'msgtype', 'sample'\]"),
        ("my_sensors:Unknown", "no message type 'my_msgs/msg/Depth' is known"),
        ("my_sensors:Still", "rate_hz must be positive, got 0.0"),
        ("my_sensors:Nowhere", r"T_body_sensor must be a \(4, 4\) pose in body axes, got \[1"),
    ],
)
def test_what_is_wrong_with_a_class_is_said(own, line, reason):
    with pytest.raises(UserError, match=reason):
        make_extra_sensor(line, seed=1, vehicle=0)


def test_a_module_that_does_not_import_is_named(own):
    (own / "broken_sensors.py").write_text("1 / 0\n", "utf-8")
    with pytest.raises(UserError, match="broken_sensors cannot be imported: ZeroDivisionError"):
        make_extra_sensor("broken_sensors:Sonar", seed=1, vehicle=0)


def test_lists_arrays_and_nested_messages_are_filled(own):
    scan = make_extra_sensor("my_sensors:Scan", seed=1, vehicle=0)
    message = extra_message(scan, 0, scan.sample(0, truth()))
    read = deserialize(serialize(message), scan.msgtype)
    assert read.ranges.tolist() == [1.0, 2.0, 3.0]

    class Own(Airspeed):
        msgtype = "sensor_msgs/msg/Imu"

    imu = Own({}, np.random.default_rng(0))
    fields = {"angular_velocity": {"x": 1}, "orientation_covariance": [-1.0] + 8 * [0.0]}
    read = deserialize(serialize(extra_message(imu, 0, fields)), imu.msgtype)
    assert (read.angular_velocity.x, read.angular_velocity.y) == (1.0, 0.0)
    assert read.orientation_covariance[0] == -1.0

    class Report(Airspeed):
        msgtype = "diagnostic_msgs/msg/DiagnosticArray"

    report = Report({}, np.random.default_rng(0))
    status = {"name": "sonar", "values": [{"key": "depth", "value": "2"}]}
    message = extra_message(report, 0, {"status": [status]})
    read = deserialize(serialize(message), report.msgtype)
    assert read.status[0].values[0].key == "depth"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"pressure": 1.0}, r"has no field \['pressure'\]; it has header, fluid_pressure"),
        ({"variance": "large"}, "variance: expected a float64, found 'large'"),
    ],
)
def test_wrong_fields_are_named(fields, reason):
    with pytest.raises(UserError, match=reason):
        extra_message(Airspeed({}, np.random.default_rng(0)), 0, fields)


def test_wrong_lengths_and_kinds_of_arrays_are_named():
    class Own(Airspeed):
        msgtype = "sensor_msgs/msg/Imu"

    imu = Own({}, np.random.default_rng(0))
    with pytest.raises(UserError, match="covariance: expected 9 numbers, found 3"):
        extra_message(imu, 0, {"orientation_covariance": [1.0, 2.0, 3.0]})
    with pytest.raises(UserError, match=r"covariance: expected numbers \(float64\)"):
        extra_message(imu, 0, {"orientation_covariance": ["a"] * 9})


@pytest.mark.parametrize(
    ("speed", "wind", "yaw", "along"),
    [
        (10.0, 0.0, 0.0, 10.0),
        (10.0, -5.0, 0.0, 15.0),  # wind from the front
        (-3.0, 0.0, 0.0, -3.0),
        (10.0, 0.0, math.pi / 2, 0.0),  # the air comes from the side
    ],
)
def test_a_pitot_tube_feels_the_air_from_the_front(speed, wind, yaw, along):
    sensor = Airspeed({"noise_density_pa": 0.0}, np.random.default_rng(0))
    sample = sensor.sample(0, truth((speed, 0, 0), (wind, 0, 0), yaw))
    # 1.225 kg/m^3 at sea level
    assert sample["fluid_pressure"] == pytest.approx(0.5 * 1.225 * along * abs(along), rel=1e-4)


def test_thin_air_presses_less():
    sensor = Airspeed({"noise_density_pa": 0.0}, np.random.default_rng(0))
    sample = sensor.sample(0, truth(altitude=2000.0))
    assert sample["fluid_pressure"] == pytest.approx(50.0 * 1.00655, rel=1e-5)  # ICAO table


@pytest.mark.parametrize("rate_hz", [10.0, 40.0])
def test_its_noise_has_its_density_at_every_rate_and_is_reported(rate_hz):
    parameters = load_preset("airspeed", "default")
    values = {"rate_hz": rate_hz, "noise_density_pa": parameters.noise_density_pa}
    sensor, n = Airspeed(values, seed_sequence(0, 0, "airspeed")), 3000
    samples = [sensor.sample(0, truth((0, 0, 0))) for _ in range(n)]
    sigma = math.sqrt(rate_hz / 10.0)  # 0.01 hPa at 10 Hz
    assert np.std([s["fluid_pressure"] for s in samples]) == pytest.approx(
        sigma, abs=5 * sigma / math.sqrt(2 * n)
    )
    assert samples[0]["variance"] == pytest.approx(sigma**2, rel=1e-6)


def test_airspeed_is_made_by_its_line_and_refuses_what_it_does_not_know(tmp_path):
    assert make_extra_sensor(AIRSPEED, seed=1, vehicle="uav0").rate_hz == 10.0
    (tmp_path / "airspeed.yaml").write_text("noise: 1.0\n", "utf-8")
    with pytest.raises(ParameterError, match="airspeed: unknown key 'noise'"):
        make_extra_sensor(f"{AIRSPEED}@{tmp_path / 'airspeed.yaml'}", seed=1, vehicle=0)


def test_a_pitot_tube_turned_north_feels_the_way_north():
    sensor = Airspeed({"noise_density_pa": 0.0}, np.random.default_rng(0))
    sample = sensor.sample(0, truth((0.0, 10.0, 0.0), yaw=math.pi / 2))
    assert sample["fluid_pressure"] == pytest.approx(50.0 * 1.225, rel=1e-4)
