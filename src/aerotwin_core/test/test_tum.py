# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.time import stamp_of_text
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import read_tum, write_tum

NINE_DECIMALS = 1e-9  # and what normalising adds


def test_a_file_of_poses_is_read_to_the_nanosecond(tmp_path):
    path = tmp_path / "poses.tum"
    path.write_text(
        "# time x y z qx qy qz qw\n"
        "1700000000.123456789 1 2 3 0 0 0 2\n"
        "\n"
        "1700000001 4 5 6 0 0 0.7071067811865476 0.7071067811865476\n"
    )
    found = read_tum(path)
    assert found.stamps_ns.tolist() == [1_700_000_000_123_456_789, 1_700_000_001_000_000_000]
    np.testing.assert_array_equal(found.p_ref_body, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(found.transforms()[1, :3, 0], [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2 3 0 0 0\n", ":1: no line of a TUM trajectory .8 numbers expected, 7 are there"),
        ("# a\n0 1 2 x 0 0 0 1\n", ":2: no line of a TUM trajectory"),
        ("# nothing\n", "1 to 10000000 poses, got 0"),
        ("0 1 2 nan 0 0 0 1\n", "must be finite"),
        ("0 1 2 3 0 0 0 0\n", "quaternions must not be zero"),
        ("1 1 2 3 0 0 0 1\n0 1 2 3 0 0 0 1\n", "must strictly increase"),
    ],
)
def test_what_is_no_trajectory_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "poses.tum"
    path.write_text(text)
    with pytest.raises(
        UserError, match=rf"poses.tum{'' if message[0] == ':' else ': .*'}{message}"
    ):
        read_tum(path)
    with pytest.raises(UserError, match=r"none\.tum: cannot be read"):
        read_tum(tmp_path / "none.tum")


def test_what_is_written_is_read_back_to_the_nanosecond(tmp_path):
    rng = np.random.default_rng(4)
    stamps = 1_700_000_000_123_456_789 + np.arange(5) * 100_000_001
    sent = Trajectory(stamps, rng.normal(size=(5, 3)), rng.normal(size=(5, 4)))
    write_tum(tmp_path / "a.tum", sent)
    found = read_tum(tmp_path / "a.tum")
    np.testing.assert_array_equal(found.stamps_ns, stamps)
    np.testing.assert_allclose(found.p_ref_body, sent.p_ref_body, atol=NINE_DECIMALS)
    np.testing.assert_allclose(found.q_ref_body, sent.q_ref_body, atol=NINE_DECIMALS)


def test_times_keep_every_digit():
    assert stamp_of_text("-0.5") == -500_000_000
    assert stamp_of_text("1e-3") == 1_000_000
    assert stamp_of_text("1700000000.000000001") == 1_700_000_000_000_000_001
    assert stamp_of_text("1700000000000000001", 0) == 1_700_000_000_000_000_001
    for text in ("1e999999999", "", "x", "nan", "inf", "1e12"):
        with pytest.raises(ValueError, match="is no time"):
            stamp_of_text(text)
