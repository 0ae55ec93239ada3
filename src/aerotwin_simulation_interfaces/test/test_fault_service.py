# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of clients: what the bag, the report and `~/faults` hold of them."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.time import from_seconds
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_simulator.recording import BagSink, MemorySink

pytestmark = pytest.mark.ros


def robot(name):
    own = SimpleNamespace(seed=1, fleet=SimpleNamespace(instance=0))
    return SimpleNamespace(name=name, title=name, parameters=own, faults=VehicleFaults())


@pytest.fixture
def host(tmp_path):
    """Return a stand-in of the node, with a fleet of two and a bag."""
    bag = BagSink(tmp_path / "bag")
    simulation = SimpleNamespace(vehicles=[robot("uav0"), robot("uav1")], stamp_ns=0, events=None)
    host = Mock(simulation=simulation, sink=MemorySink(), bag=bag, warnings=[])
    yield host
    bag.close()


@pytest.fixture
def set_fault(host):
    """Return what asks the service at a simulated time [s]."""
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    from aerotwin_simulation_interfaces.ros.fault_service import FaultService

    service = FaultService(host)

    def ask(name, text=None, *, at_s=0.0):
        value = ParameterValue()
        if text is not None:
            value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)
        host.simulation.stamp_ns = from_seconds(at_s)
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        (result,) = service._set_faults(request, SetParameters.Response()).results
        return result

    ask.look = service._look
    return ask


def said(publisher):
    """Return what was published last: (name, whether it acts, duration) of each fault."""
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.serialization import deserialize_message

    message = deserialize_message(publisher.publish.call_args.args[0], DiagnosticArray)
    return [
        (s.name, s.level == b"\x01", {pair.key: pair.value for pair in s.values}["duration_s"])
        for s in message.status
    ]


def events(messages):
    return [
        (stamp_ns, s.name, s.message, {pair.key: pair.value for pair in s.values})
        for stamp_ns, message in messages
        for s in message.status
    ]


def test_the_bag_holds_the_end_of_a_fault_with_its_duration(host, set_fault, tmp_path):
    assert set_fault("dark", "{do: gnss_loss, vehicle: uav1, ramp_s: 0.5}", at_s=1.0).successful
    assert set_fault("dark", at_s=3.5).successful
    host.bag.close()
    reader = BagReader(tmp_path / "bag")
    begin, end = events((stamp, message) for _, stamp, message in reader.messages(["/events"]))
    assert begin[:3] == (from_seconds(1.0), "dark", "gnss_loss")
    assert begin[3]["duration_s"] == "inf"
    assert end[:3] == (from_seconds(3.5), "dark", "gnss_loss")
    assert end[3] == {"at_s": "1.0", "ramp_s": "0.5", "duration_s": "2.5", "vehicle": "uav1"}
    assert [name for name, _, _ in host.sink.messages] == ["/events"] * 2


def test_the_end_of_weather_is_that_of_every_vehicle(host, set_fault, tmp_path):
    assert set_fault("wind", "{do: gust, parameters: {east_m_s: 3.0}}", at_s=1.0).successful
    assert set_fault("wind", at_s=2.0).successful
    host.bag.close()
    reader = BagReader(tmp_path / "bag")
    _, *ends = events((stamp, message) for _, stamp, message in reader.messages(["/events"]))
    assert [end[3]["vehicle"] for end in ends] == ["uav0", "uav1"]
    assert {end[3]["duration_s"] for end in ends} == {"1.0"}
    assert {end[3]["east_m_s"] for end in ends} == {"3.0"}


def test_the_report_has_one_line_of_all_that_clients_did(host, set_fault):
    host.warnings.append("another")
    for k in range(50):
        assert set_fault("dark", "{do: gnss_loss}", at_s=2.0 * k).successful
        assert set_fault("dark", at_s=2.0 * k + 1.0).successful
        for each in host.simulation.vehicles:
            each.faults = VehicleFaults()  # as a reset does
    other, own = host.warnings
    assert other == "another"
    assert own.startswith("clients began 50 faults and ended 50, last dark: ends at 99.000 s")
    assert "not repeatable to the byte, but by events" in own


def test_a_name_is_that_of_one_fault_in_the_whole_fleet(host, set_fault):
    assert set_fault("dark", "{do: gnss_loss, vehicle: uav0}").successful
    again = set_fault("dark", "{do: imu_stuck, vehicle: uav1}")
    assert not again.successful and "uav0 has or had a fault of this name" in again.reason


@pytest.mark.parametrize(
    ("name", "reason"), [("later", "an event has"), ("height_m", "a signal has")]
)
def test_a_name_that_an_events_file_could_not_have_is_refused(host, set_fault, name, reason):
    host.simulation.events = SimpleNamespace(instants_s={"later": None})
    result = set_fault(name, "{do: gnss_loss}")
    assert not result.successful and reason in result.reason


def test_too_many_faults_of_a_vehicle_are_refused(set_fault):
    for k in range(100):
        assert set_fault(f"dark_{k}", "{do: gnss_loss, vehicle: uav1}").successful
    result = set_fault("one_more", "{do: gnss_loss, vehicle: uav1}")
    assert not result.successful and "reset first" in result.reason
    assert set_fault("one_more", "{do: gnss_loss, vehicle: uav0}").successful


def test_what_acts_is_published_when_it_changes_and_not_otherwise(host, set_fault, monkeypatch):
    from aerotwin_simulation_interfaces.ros import fault_service

    publisher = host.create_publisher.return_value
    set_fault.look()
    assert not publisher.publish.called
    set_fault("short", "{do: gnss_loss, duration_s: 1.0}")
    set_fault("long", "{do: imu_stuck}")
    assert said(publisher) == [("short", True, "1.0"), ("long", True, "inf")]
    n_published = publisher.publish.call_count
    with monkeypatch.context() as patch:  # what stays is not read again
        patch.setattr(fault_service, "to_mapping", Mock(side_effect=AssertionError))
        host.simulation.stamp_ns = from_seconds(0.5)
        set_fault.look()
        assert publisher.publish.call_count == n_published
        host.simulation.stamp_ns = from_seconds(1.5)
        set_fault.look()
    assert said(publisher) == [("short", False, "1.0"), ("long", True, "inf")]
    set_fault("long", at_s=2.0)
    assert said(publisher)[1] == ("long", False, "2.0")
    host.simulation = None
    set_fault.look()
    assert said(publisher) == []
