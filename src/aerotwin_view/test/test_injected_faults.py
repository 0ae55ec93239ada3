# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults as the page asks for them, and the events that repeat them."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from aerotwin_core.parameters import flat_parameters, to_mapping
from aerotwin_faults import KINDS, read_fault_entry
from aerotwin_simulator.events.plan import load_events
from aerotwin_view.panels.fault_panel import BeginFault, FaultPanel
from aerotwin_view.panels.injected_faults import (
    MOST_FAULTS,
    SaidFault,
    entry_text,
    events_text,
    fault_lines,
    free_name,
    heard_faults,
)

TIMES = {"at_s": "12.004", "ramp_s": "2.0", "duration_s": "inf", "vehicle": "uav0"}
WIND = {"east_m_s": "6.0", "north_m_s": "0.0", "up_m_s": "0.0"}
ZERO = "[0.0, 0.0, 0.0]"


def said(name, kind, *, is_active=True, **values):
    return SaidFault(name=name, kind=kind, is_active=is_active, values=[*values.items()])


GUST = said("gust_1", "gust", **WIND, **TIMES)
BIAS = said(
    "imu_bias_1", "imu_bias", is_active=False, accelerometer_m_s2="[0.1, 5e-05, 0.0]",
    gyroscope_rad_s=ZERO, at_s="20.0", ramp_s="0.0", duration_s="3.5", vehicle="uav1",
)  # fmt: skip
HOSTILE = {
    "no name": said("", "gust", **WIND, **TIMES),
    "a name that is none": said("a b", "gust", **WIND, **TIMES),
    "a long name": said("x" * 1000, "gust", **WIND, **TIMES),
    "a kind that is none": said("x", "gusts", **WIND, **TIMES),
    "no times": said("x", "gust", **WIND),
    "a time that is none": said("x", "gust", **WIND, **TIMES | {"at_s": "now"}),
    "no number": said("x", "gust", **WIND, **TIMES | {"at_s": "nan"}),
    "an infinite time": said("x", "gust", **WIND, **TIMES | {"at_s": "inf"}),
    "an infinite ramp": said("x", "gust", **WIND, **TIMES | {"ramp_s": "inf"}),
    "a negative duration": said("x", "gust", **WIND, **TIMES | {"duration_s": "-1"}),
    "a duration that is none": said("x", "gust", **WIND, **TIMES | {"duration_s": "nan"}),
    "a long vehicle": said("x", "gust", **WIND, **TIMES | {"vehicle": "v" * 100}),
    "a vehicle that turns lines": said("x", "gust", **WIND, **TIMES | {"vehicle": "\u202e"}),
    "a long text": said("x", "gust", **WIND | {"up_m_s": "0" * 10**6}, **TIMES),
    "a parameter that is none": said("x", "gust", **WIND, **TIMES, more="1"),
    "a parameter out of range": said("x", "gust", **WIND | {"up_m_s": "1e9"}, **TIMES),
    "a list for a number": said("x", "gust", **WIND | {"up_m_s": ZERO}, **TIMES),
    "a list too short": said("x", "imu_bias", accelerometer_m_s2="[]", **TIMES),
    "too many values": said("x", "gust", **TIMES, **{f"v{k}": "" for k in range(10_000)}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_for_as_the_service_takes_it(kind):
    values = {
        name: (field.metadata["minimum"] or 0) if default is dataclasses.MISSING else default
        for name, field, default in flat_parameters(KINDS[kind])
    }
    text = entry_text(kind, {**values, "ramp_s": 0.0, "duration_s": 5.0, "vehicle": ""})
    entry = read_fault_entry(text, where="a test")
    assert isinstance(entry.fault("a test"), KINDS[kind])
    assert entry.duration_s == 5.0 and entry.vehicle == ""


def test_the_weather_is_of_no_vehicle():
    for kind, vehicle in (("gust", ""), ("gnss_loss", "uav0")):
        entry = read_fault_entry(entry_text(kind, {"vehicle": "uav0"}), where="a test")
        assert entry.vehicle == vehicle


def of_events(tmp_path, *faults, vehicles=("uav0", "uav1")):
    path = tmp_path / "events.yaml"
    path.write_text(events_text(heard_faults(faults)))
    return load_events(path, vehicles=vehicles)


def test_what_was_injected_is_repeated_by_events(tmp_path):
    other = dataclasses.replace(
        GUST, values=[*WIND.items(), *(TIMES | {"vehicle": "uav1"}).items()]
    )
    gust, bias = of_events(tmp_path, GUST, other, BIAS)
    assert gust.at_s == 12.004 and gust.action.east_m_s == 6.0 and gust.ramp_s == 2.0
    assert gust.vehicle == "" and gust.duration_s == float("inf")
    assert bias.vehicle == "uav1" and bias.action.accelerometer_m_s2 == (0.1, 5e-5, 0.0)
    assert bias.duration_s == 3.5


def test_small_times_are_numbers_of_an_events_file(tmp_path):
    times = {"at_s": "5e-05", "ramp_s": "1e-06", "duration_s": "4e-06"}
    (loss,) = of_events(tmp_path, said("dark", "gnss_loss", **TIMES | times))
    assert (loss.at_s, loss.ramp_s, loss.duration_s) == (5e-5, 1e-6, 4e-6)


def test_what_was_ended_at_once_does_not_last_for_ever(tmp_path):
    (loss,) = of_events(tmp_path, said("dark", "gnss_loss", **TIMES | {"duration_s": "0.0"}))
    assert loss.duration_s == 0.0
    assert "duration_s" not in yaml.safe_load(entry_text("gnss_loss", {"duration_s": 0.0}))


def test_a_camera_named_by_a_number_stays_a_name(tmp_path):
    (black,) = of_events(tmp_path, said("black", "camera_black", camera="7", **TIMES))
    assert black.action.camera == "7"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_is_said_is_an_event_with_the_same_parameters(tmp_path, kind):
    values = {
        name: (field.metadata["minimum"] or 0) if default is dataclasses.MISSING else default
        for name, field, default in flat_parameters(KINDS[kind])
    }
    fault = KINDS[kind](**values)
    texts = {name: str(value) for name, value in to_mapping(fault).items()}
    (event,) = of_events(tmp_path, said("x", kind, **texts, **TIMES))
    assert event.action == fault


def test_names_are_free():
    assert free_name("gust", {"gust_1", "gust_3"}) == "gust_2"


def test_those_that_act_are_listed():
    assert [*fault_lines(heard_faults([GUST, BIAS]))] == ["gust_1 of uav0 since 12.0 s"]


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_fault_is_not_heard(what):
    heard = heard_faults([HOSTILE[what], GUST])
    assert [fault.name for fault in heard] == ["gust_1"]


def test_no_more_faults_are_heard_than_a_page_can_show():
    many = (said(f"gust_{k}", "gust", **WIND, **TIMES) for k in range(100_000))
    assert len(heard_faults(many)) == MOST_FAULTS


def test_a_name_that_does_not_act_cannot_be_ended(page):
    panel = FaultPanel(page)
    panel._end()
    assert panel.take_order() is None and "no fault is active" in panel.notice._text
    panel.set_faults(heard_faults([HOSTILE["no name"], BIAS]))
    panel._end()
    assert panel.take_order() is None


@pytest.mark.ros
class TestLink:
    """The link with a simulator that anyone may pose as."""

    @pytest.fixture
    def link(self, page):
        """Return a link to a stand-in of a node; what is asked for is in `asked`."""
        from aerotwin_view.ros.fault_link import FaultLink

        asked = []
        client = SimpleNamespace(
            srv_name="/simulator/set_faults",
            service_is_ready=lambda: True,
            call_async=lambda request: SimpleNamespace(
                add_done_callback=lambda done: asked.append((request, done))
            ),
        )
        node = SimpleNamespace(create_client=lambda *_: client, create_subscription=lambda *_: None)
        link = FaultLink(node, FaultPanel(page), "/simulator")
        link.asked, link.panel = asked, link._panel
        return link

    def test_hostile_faults_leave_the_page_as_it_was(self, link):
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

        rng = np.random.default_rng(3)
        for each in (*HOSTILE.values(), BIAS, GUST):
            pairs = [KeyValue(key=key, value=value) for key, value in each.values]
            status = DiagnosticStatus(
                name=each.name, message=each.kind, level=bytes([int(each.is_active)]), values=pairs
            )
            noise = DiagnosticStatus(name=rng.bytes(30).decode("latin-1"), message="gust")
            link._on_faults(DiagnosticArray(status=[noise, status]))
        link.panel._end()
        link.step("uav0")
        ((request, _),) = link.asked
        assert [parameter.name for parameter in request.parameters] == ["gust_1"]

    def test_a_fault_gets_a_name_that_nobody_has(self, link):
        for _ in range(2):
            link.panel._order(BeginFault(kind="gnss_loss", values={}))
        link.step("uav0")
        names = [request.parameters[0].name for request, _ in link.asked]
        assert names == ["gnss_loss_1", "gnss_loss_2"]

    @pytest.mark.parametrize("n", [None, 0, 2])
    def test_an_answer_of_another_length_is_said(self, link, n):
        from rcl_interfaces.msg import SetParametersResult
        from rcl_interfaces.srv import SetParameters

        link.panel._order(BeginFault(kind="gnss_loss", values={}))
        link.step("uav0")
        ((_, done),) = link.asked
        reply = None if n is None else SetParameters.Response(results=[SetParametersResult()] * n)
        done(SimpleNamespace(result=lambda: reply))
        assert "no answer" in link.panel.notice._text
