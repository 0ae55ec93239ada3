# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dataflash logs, written by the format's own description, and what is no such log."""

from contextlib import suppress

import numpy as np
import pytest

from aerotwin_ardupilot_bridge.dataflash_log import (
    collect_logs,
    commanders_in_dataflash,
    read_dataflash,
    unknown_parameters,
)
from aerotwin_core.errors import UserError
from support.dataflash_writer import record, write_log


@pytest.fixture
def log_path(tmp_path):
    pulses = (1000, 1500, 2000, 1250, *(0,) * 10)
    return write_log(
        tmp_path / "one.bin",
        record("MSG", 1_000_000, b"Arming motors\x1b[31m"),
        record("MSG", 1_000_000, b"ArduCopter V4.7.0-dev (2598e9d4)"),
        record("PARM", 1_000_000, b"WP_SPD", 5.0),
        record("MODE", 2_000_000, 4, 4, 2),
        record("POS", 2_500_000, 473977420, 85455940, 488.5),
        record("XKF4", 2_500_000, 0, 0.1, 0.2, 0.3, 0.4, 0),
        record("XKF4", 2_500_000, 1, 9.0, 9.0, 9.0, 9.0, 0),
        record("RCOU", 2_500_000, *pulses),
        record("MAVC", 3_000_000, 1, 191, 22, 0),
        record("MAVC", 4_000_000, 255, 190, 20, 0),
        record("MAVC", 5_000_000, 255, 190, 20, 0),
    )


def test_a_log_has_what_was_written(log_path):
    log = read_dataflash(log_path)
    assert [time_s for time_s, _ in log.messages] == [1.0, 1.0, 2.0]
    first, version, second = (text for _, text in log.messages)
    assert first.startswith("Arming motors") and "\x1b" not in first
    assert log.version == version == "ArduCopter V4.7.0-dev (2598e9d4)"
    assert log.parameters == {"WP_SPD"} and second == "mode GUIDED"
    assert log.stamps_ns.tolist() == [2_500_000_000]
    np.testing.assert_allclose(log.geodetic, [[47.397742, 8.545594, 488.5]], rtol=1e-9)
    assert {name: values.tolist() for name, (_, values) in log.ratios.items()} == {
        "velocity": pytest.approx([0.1]), "position": pytest.approx([0.2]),
        "height": pytest.approx([0.3]), "magnetic field": pytest.approx([0.4]),
    }  # fmt: skip
    np.testing.assert_allclose(log.outputs[1].ravel(), [0.0, 0.5, 1.0, 0.25])


def test_a_client_from_outside_is_named_once_and_ours_not(log_path):
    (one,) = commanders_in_dataflash([read_dataflash(log_path)], 0)
    assert (one.system_id, one.component_id) == (255, 190)
    assert (one.order, one.time_s) == ("NAV_RETURN_TO_LAUNCH", 4.0)


def test_parameters_that_it_does_not_know_are_named(log_path, tmp_path):
    log = read_dataflash(log_path)
    assert unknown_parameters([log], ["WP_SPD", "WPNAV_SPEED"]) == ["WPNAV_SPEED"]
    without = write_log(tmp_path / "without.bin", record("MSG", 1_000_000, b"no list"))
    assert unknown_parameters([read_dataflash(without)], ["WPNAV_SPEED"]) == []


def test_a_log_that_ends_in_the_middle_is_read_as_far_as_it_goes(log_path):
    whole = log_path.read_bytes()
    for length in range(len(whole) - 40, len(whole)):
        log_path.write_bytes(whole[:length])
        assert read_dataflash(log_path).stamps_ns.size <= 1


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_log_is_read_or_refused(log_path, seed):
    rng = np.random.default_rng(seed)
    data = np.frombuffer(log_path.read_bytes(), dtype=np.uint8).copy()
    places = rng.integers(2, len(data), size=20)
    data[places] = rng.integers(0, 256, size=20)
    log_path.write_bytes(data.tobytes())
    with suppress(UserError):  # and nothing else
        read_dataflash(log_path)


@pytest.mark.parametrize("content", [b"", b"ULog\x01\x12\x35", bytes(100)])
def test_what_is_no_log_is_refused(tmp_path, content):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    with pytest.raises(UserError, match="expected a dataflash log"):
        read_dataflash(path)


def test_logs_of_a_run_are_copied_in_their_order_and_empty_ones_not(tmp_path):
    folder = tmp_path / "ardupilot_3" / "logs"
    folder.mkdir(parents=True)
    for number, content in ((1, b"first"), (2, b""), (3, b"third")):
        (folder / f"{number:08}.BIN").write_bytes(content)
    copies = collect_logs(tmp_path, 3)
    assert [path.name for path in copies] == ["ardupilot_3.bin", "ardupilot_3_2.bin"]
    assert [path.read_bytes() for path in copies] == [b"first", b"third"]
