# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin plot imu`: pictures, numbers, and what it says to wrong input."""

import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_sensor_models import plot_imu_command

SHORT = ["--seconds", "60"]


def run(*arguments):
    parser = argparse.ArgumentParser()
    plot_imu_command.configure(parser)
    return plot_imu_command.run(parser.parse_args([str(a) for a in arguments]))


@pytest.fixture
def recording(tmp_path):
    """Two seconds as EuRoC writes them: gyroscope 1e-3 rad/s, accelerometer 1e-2 m/s^2."""
    rng = np.random.default_rng(0)
    stamps = 1403715273262142976 + 5_000_000 * np.arange(400)
    values = rng.normal(size=(400, 6)) * ([1e-3] * 3 + [1e-2] * 3)
    rows = [f"{s}," + ",".join(map(str, v)) for s, v in zip(stamps, values)]
    path = tmp_path / "data.csv"
    path.write_text("#timestamp [ns],w_x,w_y,w_z,a_x,a_y,a_z\n" + "\n".join(rows), "utf-8")
    return path


def test_it_draws_and_tells_the_numbers(tmp_path, recording):
    out, numbers = tmp_path / "deep" / "allan.png", tmp_path / "allan.json"
    assert run(*SHORT, "--recording", recording, "-o", out, "--json", numbers) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    result = json.loads(numbers.read_text("utf-8"))
    assert result["preset"] == "adis16448"
    assert result["rate_hz"] == 250.0
    # at one sample the deviation is that of the noise: density * sqrt(rate)
    assert result["simulated"]["accelerometer"][0][0] == pytest.approx(0.0632, rel=0.05)
    assert result["parameters"]["gyroscope"][0] == pytest.approx(5.37e-3, rel=0.01)
    real = result["recording"]
    assert real["seconds"][0] == pytest.approx(0.005, rel=1e-6)
    assert np.mean(real["gyroscope"], axis=0)[0] == pytest.approx(1e-3, rel=0.1)
    assert np.mean(real["accelerometer"], axis=0)[0] == pytest.approx(1e-2, rel=0.1)


def test_a_recording_carries_its_caveat_and_a_simulation_alone_does_not(tmp_path, recording):
    with_it, without = tmp_path / "a.svg", tmp_path / "b.svg"
    run(*SHORT, "--recording", recording, "-o", with_it)
    run(*SHORT, "-o", without)
    texts = [path.read_text("utf-8") for path in (with_it, without)]
    assert ["vibration of its vehicle" in text for text in texts] == [True, False]
    assert all("noise density" in text for text in texts)


def test_the_stand_still_of_a_real_imu_lies_where_the_facts_say(tmp_path, shared_data):
    """EuRoC V1_01, its quiet second: densities of 2-6e-4 rad/s and 4-8e-3 m/s^2 per root hertz."""
    path = shared_data("image_sequences/micro_euroc/imu0/data.csv")
    numbers = tmp_path / "allan.json"
    run(
        *SHORT,
        "--recording",
        path,
        "--still",
        1.5,
        2.5,
        "-o",
        tmp_path / "a.png",
        "--json",
        numbers,
    )
    real = json.loads(numbers.read_text("utf-8"))["recording"]
    root = np.sqrt(real["seconds"][-1])
    gyroscope, accelerometer = (
        root * np.array(real[k])[:, -1] for k in ("gyroscope", "accelerometer")
    )
    assert ((gyroscope > 2e-4) & (gyroscope < 6e-4)).all()
    assert ((accelerometer > 4e-3) & (accelerometer < 8e-3)).all()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--preset", "ideal"], "ideal has no noise to draw"),
        (["--rate-hz", "0"], "--rate-hz: must be 1 to 100000, got 0"),
        (["--seconds", "1"], "--seconds: must be 10 to 14400"),
        (["--seconds", "3600", "--rate-hz", "10000"], "at most 2e7 readings"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, reason):
    with pytest.raises(UserError, match=reason):
        run(*arguments, "-o", tmp_path / "allan.png")


def test_an_unknown_preset_is_answered_with_those_there_are(tmp_path):
    with pytest.raises(ParameterError, match="choose one of adis16448"):
        run("--preset", "vn100", "-o", tmp_path / "allan.png")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n", "expected rows of 7 numbers"),
        ("1,2,3\n4,5,6\n", "expected rows of 7 numbers"),
        ("1,0,0,0,0,0,9.8\n", "0 to 5 s holds 1 readings, expected 50 or more"),
    ],
)
def test_a_recording_that_is_none_is_refused(tmp_path, content, reason):
    path = tmp_path / "data.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=reason):
        run("--recording", path, "-o", tmp_path / "allan.png")


def test_missing_files_and_unknown_endings_are_named(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        run("--recording", tmp_path / "none.csv", "-o", tmp_path / "allan.png")
    with pytest.raises(UserError, match=r"must end in \.png, \.svg or \.pdf"):
        run(*SHORT, "-o", tmp_path / "allan.txt")
    assert not list(tmp_path.glob(".*"))
