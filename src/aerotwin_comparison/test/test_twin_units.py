# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The units of `evaluate twin`: clouds and model have their own, and holes are counted."""

import argparse
import json

import numpy as np
import pytest

from aerotwin_comparison import run_folder as runs
from aerotwin_comparison import twin_command
from aerotwin_core.cli import main

N_POINTS = 1000
METRES_PER_FOOT = 0.3048


def height(x, y):
    return 1.5 * np.sin(x / 3.0) * np.cos(y / 2.5)


def cloud(seed, noise_m):
    """Points of a terrain of 30 m by 20 m, with noise upwards."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform([[0.0], [0.0]], [[30.0], [20.0]], (2, N_POINTS))
    return np.column_stack([x, y, height(x, y) + rng.normal(0.0, noise_m, N_POINTS)])


def write_model(path, metres_per_unit):
    """Write the terrain as OBJ, its corners in a unit."""
    x, y = np.meshgrid(np.linspace(0.0, 30.0, 31), np.linspace(0.0, 20.0, 21))
    corners = np.column_stack([x.ravel(), y.ravel(), height(x, y).ravel()]) / metres_per_unit
    lines = ["v {} {} {}".format(*corner) for corner in corners]
    for i in range(20):
        for a in range(31 * i + 1, 31 * i + 31):
            lines += [f"f {a} {a + 1} {a + 32}", f"f {a} {a + 32} {a + 31}"]
    path.write_text("\n".join(lines))


@pytest.fixture
def words(tmp_path):
    """Return a command whose clouds are in feet, with a hole each, and whose model in mm."""
    write_model(tmp_path / "m.obj", 1.0)
    write_model(tmp_path / "mm.obj", 0.001)
    for name, seed, noise_m in (("a", 0, 0.02), ("b", 1, 0.03)):
        metres = cloud(seed, noise_m)
        np.save(tmp_path / f"{name}.npy", metres)
        hole = [[np.nan, 0.0, 0.0]]
        np.save(tmp_path / f"{name}_ft.npy", np.vstack([metres / METRES_PER_FOOT, hole]))
    (tmp_path / "quick.yaml").write_text(
        "name: quick\nmap: {sensitivity_m: [], floor_spacing_m: 0.5}\n"
        "twin: {n_resamples: 300, noise_m: [0.3]}\n"
    )

    def words_of(a, b, model):
        files = [str(tmp_path / a), str(tmp_path / b), "--reference", str(tmp_path / model)]
        return ["evaluate", "twin", *files, "--protocol", str(tmp_path / "quick.yaml")]

    return words_of


def test_clouds_and_model_have_units_of_their_own_and_holes_are_counted(words, tmp_path, capsys):
    assert main([*words("a.npy", "b.npy", "m.obj"), "--json", "-"]) == 0
    metres = json.loads(capsys.readouterr().out)
    others = [*words("a_ft.npy", "b_ft.npy", "mm.obj"), "--unit", "ft", "--model-unit", "mm"]
    assert main(others) == 2  # NaN is refused
    assert "NaN" in capsys.readouterr().err
    assert main([*others, "--drop-invalid", "--json", str(tmp_path / "found.json")]) == 0
    assert capsys.readouterr().out.count(f"1 of {N_POINTS + 1} points") == 2
    found = json.loads((tmp_path / "found.json").read_text())
    for part in ("correspondences", "surface"):
        for name in ("mean", "std"):
            one, other = (n["difference"][part][name]["estimate"] for n in (found, metres))
            assert one == pytest.approx(other, abs=1e-6)


def test_a_unit_that_nothing_is_in_is_refused_and_named(words, capsys, monkeypatch):
    asked = words("a.npy", "b.npy", "m.obj")
    assert main([*asked, "--reference-unit", "ell"]) == 2
    assert "--reference-unit must be one of" in capsys.readouterr().err
    monkeypatch.setattr(runs, "is_run_folder", lambda path: True)
    assert main([*asked, "--unit", "ft"]) == 2
    assert "A and B are run folders" in capsys.readouterr().err


def test_the_scale_has_one_name_and_its_old_one():
    parser = argparse.ArgumentParser()
    twin_command.configure(parser)
    for option in ("--scale", "--with-scale"):
        assert parser.parse_args(["a", "b", "--reference", "m", option]).scale
