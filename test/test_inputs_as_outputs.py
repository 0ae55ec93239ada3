# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""No verb writes over what it reads."""

import pytest

from aerotwin_core import cli

WORDS = (
    "report compare given other -o given",
    "report compare other given/metrics.json -o given",
    "evaluate twin given other --reference other -o given",
    "evaluate twin other given --reference other -o given",
    "evaluate study --runs given -o given",
    "evaluate study --runs * -o given",
    "repeat given --world campus -o given",
    "reconstruct given -o given",
    "localize given other -o given",
    "localize other given -o given",
    "degrade cloud.ply -o cloud.ply",
    "export euroc given -o given",
    "import euroc given -o given",
    "voxels cloud.ply --resolution-m 1 -o cloud.ply",
)


@pytest.mark.parametrize("words", WORDS)
def test_an_output_that_is_read_is_refused_before_anything_is_written(
    words, tmp_path, monkeypatch, capsys
):
    for name in ("given", "other"):
        (tmp_path / name / "bag").mkdir(parents=True)
        (tmp_path / name / "metrics.json").write_text("{}")
        (tmp_path / name / "config.yaml").write_text("parameters: {}\n")
    (tmp_path / "cloud.ply").write_text("ply\n")
    monkeypatch.chdir(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert cli.main(words.split()) == cli.EXIT_USAGE
    said = capsys.readouterr().err
    assert "would be written over; name another" in said or "are the same file" in said
    assert before == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
