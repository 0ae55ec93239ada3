# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import command, read_trajectory, write_tum

NINE_DECIMALS = 1e-9


def some_trajectory(n=20):
    rng = np.random.default_rng(6)
    stamps = 1_403_715_529_112_143_517 + np.arange(n) * 50_000_001
    attitudes = Rotation.from_rotvec(rng.normal(0, 1, (n, 3))).as_quat()
    return Trajectory(stamps, rng.normal(0, 10, (n, 3)), attitudes)


def same_attitude(a, b):
    return np.abs(np.sum(a.q_ref_body * b.q_ref_body, axis=1)).min() > 1 - 1e-12


def test_tum_keeps_every_nanosecond(tmp_path):
    write_tum(tmp_path / "t.txt", some_trajectory())
    again = read_trajectory(tmp_path / "t.txt")
    assert (again.stamps_ns == some_trajectory().stamps_ns).all()
    np.testing.assert_allclose(again.p_ref_body, some_trajectory().p_ref_body, atol=NINE_DECIMALS)
    assert same_attitude(again, some_trajectory())


def test_euroc_has_nanoseconds_and_w_first(tmp_path):
    truth = some_trajectory()
    rows = ["#timestamp, x, y, z, qw, qx, qy, qz, vx"]
    for stamp, p, q in zip(truth.stamps_ns, truth.p_ref_body, truth.q_ref_body):
        rows.append(
            ",".join(map(repr, [int(stamp), *p.tolist(), q[3].item(), *q[:3].tolist(), 0.0]))
        )
    (tmp_path / "t.csv").write_text("\n".join(rows))
    again = read_trajectory(tmp_path / "t.csv")
    assert (again.stamps_ns == truth.stamps_ns).all()
    assert same_attitude(again, truth)


def test_kitti_is_row_major(tmp_path):
    T = some_trajectory().transforms()[:, :3]
    np.savetxt(tmp_path / "t.txt", T.reshape(-1, 12))
    again = read_trajectory(tmp_path / "t.txt")
    np.testing.assert_allclose(again.transforms()[:, :3], T, atol=NINE_DECIMALS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no pose"),
        ("1 2 3\n", "3 columns are no trajectory"),
        ("1 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 1\n", "go back at pose 2"),
        ("1 nan 0 0 0 0 0 1\n", "finite"),
        ("1 0 0 0 0 0 0 0\n", "quaternions"),
        ("1 0 0 0 0 0 0 1\n2 0 0\n", "pose 2 has 3 columns"),
        ("1 a b c 0 0 0 1\n", "could not convert"),
    ],
)
def test_damaged_files_are_refused_in_words(tmp_path, text, words):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(UserError, match=words):
        read_trajectory(tmp_path / "t.txt")


def test_the_verb_writes_the_agreed_keys(tmp_path, capsys):
    for name in ("a.txt", "b.txt"):
        write_tum(tmp_path / name, some_trajectory())
    parser = argparse.ArgumentParser()
    command.configure(parser)
    args = parser.parse_args(
        [str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--json", "-", "-o", str(tmp_path / "o")]
    )
    assert command.run(args) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n_pairs"] == 20
    assert result["coverage"] == 1.0
    assert result["ape"]["trans_m"].keys() >= {"rmse", "mean", "median", "std", "min", "max"}
    assert result["ape"]["rot_deg"]["max"] < 1e-5
    assert result["rpe"]["metre"]["trans_m"]["max"] < 1e-6
    assert json.loads((tmp_path / "o/metrics.json").read_text()) == result
    assert len(list((tmp_path / "o").glob("*.svg"))) == 4
