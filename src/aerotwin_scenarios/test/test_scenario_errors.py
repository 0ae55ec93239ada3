# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrong scenario files: each is refused with its line, what was found, and the way out."""

import re

import pytest
import yaml

from aerotwin_core.errors import UserError
from aerotwin_scenarios.flights.scenario import load_scenario, read_scenario

RIGHT = """\
text: A square
world: meadow
seed: 5
wind: {east_m_s: 3.0}
mission:
  takeoff_altitude_m: 8.0
  waypoints:
    - {position_m: [40.0, 0.0, 8.0]}
    - {position_m: [0.0, 0.0, 8.0], hold_s: 1.0}
events:
  lost: {when: east_m > 15, do: gnss_loss}
  gust:
    when: 3 s after lost
    do: gust
    parameters: {north_m_s: 6.0}
    duration_s: 2.0
  back: {at_s: 30.0, do: set_mode, parameters: {mode: RETURN}}
  person:
    at_s: 5.0
    do: obstacle
    parameters:
      waypoints_m: [[10.0, -5.0], [10.0, 5.0]]
      speed_m_s: 1.0
expect:
  - landed within 60 s of lost
  - always tilt_deg < 50 after lost
  - rms_position_error_m < 3
"""
WRONG = [
    # replaced, by what, line, words
    ("world:", "wolrd:", 2, "unknown key 'wolrd'; did you mean 'world'"),
    ("expect:", "expct:", 24, "unknown key 'expct'; did you mean 'expect'"),
    ("seed: 5", "seed: five", 3, "seed: expected an integer, found 'five'"),
    ("seed: 5", "seed: -5", 3, "seed: expected at least 0, found -5"),
    ("seed: 5", "seed: 5\nseed: 6", 4, "the key 'seed' is there twice"),
    ("seed: 5", "seed: [5", 4, "not valid YAML"),
    ("seed: 5", "record: some", 3, "expected one of all, inertial, none"),
    ("{east_m_s: 3.0}", "{east: 3.0}", 4, "unknown key 'wind.east'; did you mean"),
    ("{east_m_s: 3.0}", "{east_m_s: 99.0}", 4, "wind.east_m_s: expected at most 60.0 m/s"),
    ("{east_m_s: 3.0}", "strong", 4, "wind: expected names with values"),
    ("seed: 5", "controller: {kind: pilot}", 3, "expected embedded, px4"),
    ("seed: 5", "fleet: {instances: 2001}", 3, "fleet.instances: expected at most 2000"),
    ("seed: 5", "fleet: {file: gone.yaml}", 3, "gone.yaml: cannot be read"),
    ("takeoff_altitude_m", "takeof_altitude_m", 6, "did you mean 'takeoff_altitude_m'"),
    ("waypoints:", "waypoint:", 7, "did you mean 'waypoints'"),
    ("[40.0, 0.0, 8.0]", "[40.0, 0.0]", 8, "waypoints[0].position_m: expected 3 values, found 2"),
    ("hold_s: 1.0", "hold_s: -1.0", 9, "waypoints[1].hold_s: expected at least 0.0 s"),
    ("hold_s: 1.0", "hold: 1.0", 9, "unknown key 'hold'; did you mean 'hold_s'"),
    ("do: gnss_loss", "do: gnss_los", 11, "events.lost.do: no 'gnss_los'; did you mean gnss_loss"),
    ("east_m > 15", "eest_m > 15", 11, "no signal or event 'eest_m'; did you mean east_m"),
    ("east_m > 15", "east_m > speed_m_s", 11, "only equal units"),
    ("when: east_m > 15, ", "", 11, "expected either at_s or when, found neither"),
    ("  lost:", "  height_m:", 11, "height_m is a signal; give the event another name"),
    ("  lost:", "  lo st:", 11, "'lo st' is no name"),
    ("3 s after lost", "3 s after lots", 13, "'lots' was found; did you mean lost"),
    ("3 s after lost", "always landed", 13, "needs the future"),
    ("{north_m_s: 6.0}", "{nort_m_s: 6.0}", 15, "did you mean 'north_m_s'"),
    ("{north_m_s: 6.0}", "{north_m_s: fast}", 15, "north_m_s: expected a number, found 'fast'"),
    ("duration_s: 2.0", "duration_s: -2.0", 16, "duration_s: expected at least 0.0 s"),
    ("duration_s: 2.0", "vehicle: uav7", 16, "no 'uav7'; the vehicles are a single one"),
    ("mode: RETURN", "mode: FLIP", 17, "expected one of HOLD, MISSION, RETURN, LAND, found"),
    ("{at_s: 30.0, do", "{at_s: 30.0, ramp_s: 1.0, do", 17, "done at once; remove it"),
    ("[10.0, -5.0]", "[10.0]", 22, "waypoints_m[0]: expected 2 values, found 1"),
    ("speed_m_s: 1.0", "speed_m_s: 99.0", 23, "speed_m_s: expected at most 50.0 m/s"),
    ("speed_m_s: 1.0", "kinds: car", 23, "unknown key 'kinds'; did you mean 'kind'"),
    ("of lost\n", "of lots\n", 25, "'lots' was found; did you mean lost"),
    ("tilt_deg < 50", "titl_deg < 50", 26, "no signal or event 'titl_deg'; did you mean tilt_deg"),
    ("always tilt_deg", "tilt_deg", 26, "say when"),
    ("rms_position_error_m < 3", "rms_position_error_m = 3", 27, "'=' is not understood"),
    ("- rms_position_error_m < 3", "- 3", 27, "expected a text, found 3"),
    ("- rms_position_error_m < 3", "- uav1.tilt_deg < 3", 27, "no signal or event 'uav1.tilt_deg'"),
]


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "my.yaml"
        path.write_text(text)
        return path

    return write


def test_the_right_file_is_read(written):
    assert len(load_scenario(written(RIGHT)).events) == 4


@pytest.mark.parametrize(("old", "new", "line", "words"), WRONG)
def test_an_error_names_its_line_what_was_found_and_the_way_out(written, old, new, line, words):
    assert RIGHT.count(old) >= 1
    with pytest.raises(UserError) as error:
        load_scenario(written(RIGHT.replace(old, new, 1)))
    text = str(error.value)
    assert re.match(rf"\S*my\.yaml:{line}: ", text), text
    assert words in text, text


def test_without_a_file_it_names_the_origin_alone():
    document = yaml.safe_load(RIGHT.replace("do: gust", "do: guts"))
    with pytest.raises(UserError, match=r"^run 7: events\.gust\.do: no 'guts'"):
        read_scenario(document, name="x", where="run 7")


def test_what_an_alias_repeats_has_the_line_where_it_is_written(written):
    text = RIGHT.replace("parameters: {north_m_s: 6.0}", "parameters: &p {north_m_s: 6.0}")
    text = text.replace("parameters: {mode: RETURN}", "parameters: *p")
    with pytest.raises(UserError, match=r"my\.yaml:15: events\.back\.parameters: unknown key"):
        load_scenario(written(text))
