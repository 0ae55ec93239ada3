# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator of a run refuses is refused at its field, before the run is started."""

import os
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_launch.shipped import shipped_launch_files
from aerotwin_px4_bridge import HilLink, hil_port
from aerotwin_view.start.answers import StartAnswers
from aerotwin_view.start.checked_start import check_with_simulator, refused
from aerotwin_view.start.named_files import FieldError

pytestmark = pytest.mark.ros
FLIGHT = next(file for file in shipped_launch_files(os.environ) if file.name == "sitl_flight")
HELD = 181
"""No other test uses the ports from here on."""
SHORT = {"world": "meadow", "mission": "none", "instance": f"{HELD + 4}"}
BLIND = r"^camera: expected true with slam stereo_odometry, .* found false; render it, or "


@pytest.mark.parametrize(
    ("values", "field", "text"),
    [
        ({"duration_s": "-5"}, "duration_s", r"expected at least 0\.0 s, found -5\.0; correct it$"),
        ({"camera": "false"}, "camera", BLIND),
        ({"name": "a/b c"}, "name", "^name: expected a part of a folder's name"),
        ({"autopilot": "px4"}, "px4_dir", "^px4_dir: found no PX4 in .*; give its source folder"),
        ({"instance": f"{HELD}"}, "instance", f"^instance: HIL link: TCP port .*; {HELD + 1} is"),
    ],
)
def test_what_cannot_work_is_refused_at_its_field_before_a_run(
    tmp_path, monkeypatch, values, field, text
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PX4_DIR", raising=False)
    answers = StartAnswers(tmp_path, "127.0.0.1", 18_700)
    link = HilLink(hil_port(HELD))
    try:
        with pytest.raises(FieldError, match=text) as caught:
            answers.start({"scenario": "sitl_flight", "values": {**SHORT, **values}})
    finally:
        link.close()
        answers.end()
    assert caught.value.field == field
    assert answers.state() == {"phase": "none"} and [*tmp_path.glob("*-flight")] == []


@pytest.mark.parametrize(
    ("scenario", "values", "field", "text"),
    [
        ("ground_vehicle", {"lidar": "sonar"}, "lidar", "^lidar: .*sonar"),
        ("ground_vehicle", {"speed": "0"}, "speed", r"^speed: expected at least 0\.01"),
        ("teach_drive", {"route": "{taken}"}, None, "cannot be written .*; name a new file"),
    ],
)
def test_what_a_ground_robot_cannot_do_is_refused_before_a_run(
    tmp_path, scenario, values, field, text
):
    taken = tmp_path / "drive.tum"
    taken.touch()
    file = next(file for file in shipped_launch_files(os.environ) if file.name == scenario)
    given = {name: value.replace("{taken}", str(taken)) for name, value in values.items()}
    with pytest.raises(UserError, match=text) as caught:
        check_with_simulator(file, {"world": "meadow", **given})
    assert getattr(caught.value, "field", None) == field


@pytest.mark.parametrize(
    ("scenario", "values", "field", "text"),
    [
        ("relay", {"name": "a/b"}, "name", "^name: "),
        ("relay", {"world": "nowhere"}, None, "world 'nowhere': no such file"),
        ("relay", {"seed": "-1"}, "seed", "^seed: expected "),
        ("distributed_flight", {"mission": "{folder}"}, None, "cannot be read"),
        ("distributed_flight", {"instance": str(HELD)}, None, f"port {hil_port(HELD)}.* in use"),
        ("distributed_flight", {"duration_s": "-1"}, "duration_s", "^duration_s: expected "),
    ],
)
def test_what_other_flights_cannot_do_is_refused_before_a_run(
    tmp_path, monkeypatch, scenario, values, field, text
):
    monkeypatch.chdir(tmp_path)
    file = next(file for file in shipped_launch_files(os.environ) if file.name == scenario)
    given = {name: value.replace("{folder}", str(tmp_path)) for name, value in values.items()}
    link = HilLink(hil_port(HELD))
    try:
        with pytest.raises(UserError, match=text) as caught:
            check_with_simulator(file, given)
    finally:
        link.close()
    assert getattr(caught.value, "field", None) == field
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("scenario", "values"), [("relay", {}), ("distributed_flight", {"instance": "186"})]
)
def test_what_other_flights_can_do_is_not_refused(tmp_path, monkeypatch, scenario, values):
    monkeypatch.chdir(tmp_path)
    file = next(file for file in shipped_launch_files(os.environ) if file.name == scenario)
    check_with_simulator(file, values)
    assert [*tmp_path.iterdir()] == []


def test_a_ground_robot_that_can_drive_is_not_refused(tmp_path):
    files = {file.name: file for file in shipped_launch_files(os.environ)}
    check_with_simulator(files["ground_vehicle"], {"world": "meadow"})
    check_with_simulator(
        files["teach_drive"], {"world": "meadow", "route": str(tmp_path / "drive.tum")}
    )
    assert [*Path(tmp_path).iterdir()] == []


def test_what_can_fly_is_not_refused_and_nothing_is_flown(tmp_path):
    check_with_simulator(FLIGHT, {**SHORT, "instance": "185", "runs_dir": str(tmp_path)})
    assert [*Path(tmp_path).iterdir()] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lidar.preset: expected one; name it", "lidar: expected one; name it"),
        ("PX4_DIR: found nothing", "px4_dir: found nothing; correct it"),
        ("wind.up_m_s: expected less", "wind.up_m_s: expected less"),
        ("no disk left", "no disk left"),
    ],
)
def test_a_parameter_is_called_as_the_argument_that_sets_it(text, shown):
    assert str(refused(FLIGHT, text)) == shown
