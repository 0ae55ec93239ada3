# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The form of the start page: what launch files declare, and the command of its values."""

import os
import shlex
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_launch.shipped import shipped_launch_files
from aerotwin_view.start.form import (
    OF_THE_PAGE,
    StartForm,
    fields_of,
    groups_of,
    shown_line,
)

FILES = {file.name: file for file in shipped_launch_files(os.environ, declaring=OF_THE_PAGE[:2])}
FLIGHT = "sitl_flight"


@pytest.fixture(scope="module")
def form() -> StartForm:
    return StartForm(Path("runs"))


def test_the_launch_files_with_a_view_are_offered_flights_first(form):
    assert next(iter(form.files)) == FLIGHT
    assert set(form.files) == {
        "distributed_flight", "formation", "ground_vehicle", "recorded_flight", "relay",
        "sitl_flight", "teach_drive",
    }  # fmt: skip
    assert all(file.summary.endswith(".") or ":" in file.summary for file in FILES.values())


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_form_has_every_declared_argument_with_its_default_once(name):
    file = FILES[name]
    shown = [field for group in groups_of(fields_of(file)).values() for field in group]
    declared = {a.name: a for a in file.arguments if a.name not in OF_THE_PAGE}
    assert sorted(field.name for field in shown) == sorted(declared)
    for field in shown:
        argument = declared[field.name]
        assert (field.default, field.description) == (argument.default, argument.description)
        if argument.choices:
            assert field.options == argument.choices


def test_the_kind_of_a_control_follows_from_the_declaration():
    kinds = {name: field.kind for name, field in fields_of(FILES[FLIGHT]).items()}
    expected = {
        "world": "world", "slam": "choice", "camera": "flag", "seed": "number",
        "airframe": "suggested", "px4_dir": "text", "mission": "text", "name": "text",
    }  # fmt: skip
    assert {name: kinds[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("airframe", ("iris", "x500", "hummingbird", "firefly")),
        ("autopilot", ("embedded", "px4", "ardupilot")),
        ("lidar", ("none", "spinning_16", "spinning_32", "spinning_64")),
        ("dynamics", ("multirotor", "point_mass")),
    ],
)
def test_what_a_description_lists_is_offered(name, options):
    assert fields_of(FILES[FLIGHT])[name].options[: len(options)] == options


def test_what_must_be_given_is_never_hidden():
    groups = groups_of(fields_of(FILES["teach_drive"]))
    assert [field.name for field in groups["Needed"]] == ["route"]
    assert fields_of(FILES["teach_drive"])["route"].default is None


def test_the_command_names_what_differs_and_nothing_else(form):
    values = {"seed": "3", "world": "meadow", "slam": "stereo_odometry", "name": "", "speed": "0.0"}
    line = shown_line(*form.arguments(FLIGHT, values))
    assert line == "aerotwin launch sitl_flight world:=meadow seed:=3 view:=true"


def test_a_default_number_written_otherwise_is_no_change(form):
    values = {"start_east_m": "0", "wind_east_m_s": "0.00", "seed": "00", "duration_s": "5.0"}
    assert form.arguments(FLIGHT, values)[1] == ["duration_s:=5.0"]


def test_a_summary_does_not_end_before_what_is_not_shown(form):
    for file in form.files.values():
        assert not file.summary.endswith(":")


def test_the_command_is_quoted_for_a_shell(form):
    line = shown_line(*form.arguments(FLIGHT, {"name": "a b;$(c)'d"}))
    assert shlex.split(line) == ["aerotwin", "launch", FLIGHT, "name:=a b;$(c)'d", "view:=true"]


def test_another_folder_of_runs_is_named():
    form = StartForm(Path("elsewhere"))
    assert form.arguments(FLIGHT, {})[1] == ["runs_dir:=elsewhere"]
    assert form.arguments("ground_vehicle", {})[1] == []


@pytest.mark.parametrize(
    ("scenario", "values", "message"),
    [
        ("fly", {}, "scenario: expected one of sitl_flight, .* found 'fly'"),
        (["a"], {}, "scenario: expected one of"),
        (FLIGHT, {"slm": "none"}, "argument 'slm': expected one of .* did you mean 'slam'"),
        (FLIGHT, {"view": "false"}, "argument 'view': expected one of"),
        (FLIGHT, {"runs_dir": "/"}, "argument 'runs_dir': expected one of"),
        (FLIGHT, {"slam": "best"}, "'slam' must be one of .*; got 'best'"),
        (FLIGHT, {"name": "a\nb"}, "name: expected a text of at most 1000 letters"),
        (FLIGHT, {"name": "a" * 1001}, "name: expected a text of at most 1000 letters"),
        (FLIGHT, {"seed": 3}, "seed: expected a text"),
        (FLIGHT, "seed", "values: expected names with values, found str"),
        ("recorded_flight", {}, "^recording: no default; give a value above"),
    ],
)
def test_what_cannot_be_launched_is_refused_in_one_sentence(form, scenario, values, message):
    with pytest.raises(UserError, match=message):
        form.arguments(scenario, values)


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_default_is_shown_as_the_syntax_of_launch_files(name):
    for field in fields_of(FILES[name]).values():
        assert "$(" not in field.shown_default
        if field.is_computed:
            assert field.follows or field.shown_default
            assert not field.shown_default.startswith("/") or Path(field.shown_default).exists()


def test_a_default_that_follows_from_others_names_them():
    fields = fields_of(FILES[FLIGHT])
    slam, step = fields["slam_parameters"], fields["step_s"]
    assert (slam.shown_default, slam.follows) == ("", ("slam",))
    assert (step.shown_default, step.follows) == ("", ("dynamics",))
    assert fields["network"].shown_default == "loopback"
