# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which arguments of launch files name files, and what is refused of them."""

import os

import pytest

from aerotwin_launch.shipped import shipped_launch_files
from aerotwin_view.start.form import OF_THE_PAGE
from aerotwin_view.start.named_files import FieldError, check_named_files, names_a_file

FILES = {file.name: file for file in shipped_launch_files(os.environ, declaring=OF_THE_PAGE[:2])}
FLIGHT = FILES["sitl_flight"].arguments
NAMING = {
    "airframe", "ardupilot", "ardupilot_parameters", "cameras", "cases", "controller_options",
    "events", "fleet", "formation_parameters", "lidar", "mission", "px4_dir", "px4_parameters",
    "radar", "recording", "simulator_parameters", "slam_parameters", "vehicle", "world",
}  # fmt: skip
"""A new argument whose description tells of a file is one more here, or is said otherwise."""


def test_the_arguments_that_name_files_are_known():
    found = {each.name for file in FILES.values() for each in file.arguments if names_a_file(each)}
    assert found == NAMING


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("world", "medow"), ("world", "meadw@3"), ("airframe", "irsi"), ("fleet", "fleet.yaml"),
        ("lidar", "my/lidar.yaml"), ("mission", "/nowhere/mission.yaml"), ("mission", "a\0b"),
        ("mission", "~nobody/x.yaml"), ("px4_dir", "PX5"), ("px4_dir", "~no-such-user/PX4"),
        ("world", "~no-such-user/x.yaml"), ("world", "a\0b"), ("events", "~no-such-user/x.yaml"),
        ("cameras", "x" * 500 + ".yaml"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_at_its_field(name, value):
    with pytest.raises(FieldError) as refused:
        check_named_files(FLIGHT, {name: value})
    assert refused.value.field == name and len(str(refused.value)) < 1500


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("world", "cliff"), ("world", "cliff@1003"), ("airframe", "x500"), ("lidar", "spinning_64"),
        ("lidar", "ideal"), ("lidar", "none"), ("mission", "none"), ("seed", "medow"),
        ("name", "nowhere.yaml"), ("airframe", __file__), ("px4_dir", os.path.dirname(__file__)),
    ],
)  # fmt: skip
def test_what_exists_or_is_named_otherwise_is_accepted(name, value):
    check_named_files(FLIGHT, {name: value})


def test_a_tilde_is_a_home_only_where_the_reader_takes_it_for_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "events.yaml").touch()
    check_named_files(FLIGHT, {"px4_dir": "~"})
    with pytest.raises(FieldError, match=r"found no file '~/events\.yaml'"):
        check_named_files(FLIGHT, {"events": "~/events.yaml"})
