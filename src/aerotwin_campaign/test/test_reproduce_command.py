# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One run again: found by its first digits, all its files kept, its values compared."""

import json

import pytest
import yaml

from aerotwin_campaign import reproduce_command, run_command
from aerotwin_core.cli import parser_of
from aerotwin_core.errors import UserError
from support.campaigns import STUBS


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {
        "name": "edge", "run": f"{STUBS}:beyond_an_edge", "base": {"x": 0.0}, "keep": "metrics",
        "axes": {"x": [0.5, 1.0, 3.0]}, "seeds": [1, 2],
    }  # fmt: skip
    return written(tmp_path / "edge.yaml", content)


def written(path, content):
    path.write_text(yaml.safe_dump(content))
    return path


def call(module, *arguments) -> int:
    parser = parser_of(module, "aerotwin campaign verb")
    return module.run(parser.parse_args([str(each) for each in arguments]))


def stored_runs(folder):
    return sorted((folder / "runs/campaigns").glob("*/runs/*/*"))


def test_a_run_is_the_same_again_and_keeps_its_files(campaign, tmp_path, capsys):
    assert call(run_command, campaign, "--workers", "1") == 0
    run = stored_runs(tmp_path)[0]
    assert not (run / "flight.html").exists()
    capsys.readouterr()
    assert call(reproduce_command, campaign, run.name[:12], "-o", "again") == 0
    text = capsys.readouterr().out
    assert "report: flight.html" in text and "log: log.txt" in text and "bag: none" in text
    assert "the same: all 3 metrics, success and outcome" in text
    again = tmp_path / "again"
    assert (again / "result.json").read_bytes() == (run / "result.json").read_bytes()
    assert sorted(path.name for path in again.iterdir()) == [
        "cost.json", "flight.html", "log.txt", "result.json", "spec.json"
    ]  # fmt: skip


def test_another_result_is_said_with_its_difference(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    value = tmp_path / "value.txt"
    value.write_text("1.5")
    content = {
        "name": "file", "run": f"{STUBS}:changes_with_the_file", "base": {"file": str(value)}
    }  # fmt: skip
    campaign = written(tmp_path / "file.yaml", content)
    assert call(run_command, campaign, "--workers", "1") == 0
    (run,) = stored_runs(tmp_path)
    value.write_text("1.75")
    capsys.readouterr()
    assert call(reproduce_command, campaign, run.name) == 1
    assert "value: 1.5 before, 1.75 now (by 0.25)" in capsys.readouterr().out
    assert call(reproduce_command, campaign, run.name, "--json", "-") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["is_same"] is False and found["versions"] == []
    assert found["differences"] == [
        {"name": "value", "before": 1.5, "now": 1.75, "difference": 0.25}
    ]


def test_versions_that_differ_are_named(campaign, tmp_path, monkeypatch, capsys):
    assert call(run_command, campaign, "--workers", "1") == 0
    from aerotwin_campaign import single_run
    from aerotwin_campaign.store import Store

    run = stored_runs(tmp_path)[0]
    spec = Store(str(run.parents[2])).read_spec(run.name)
    older = {**spec.versions, "numpy": "1.0", "gone": "3"}
    assert single_run.changed_versions(older, spec.versions) == [
        "gone: 3 then, none now", f"numpy: 1.0 then, {spec.versions['numpy']} now"
    ]  # fmt: skip


def test_a_run_that_was_not_made_is_made(campaign, tmp_path, capsys):
    from aerotwin_campaign import Specifications, load_campaign, versions_of

    loaded = load_campaign(campaign)
    spec = Specifications(loaded, versions_of(loaded.run))[5]
    assert call(reproduce_command, campaign, spec.id[:20]) == 0
    text = capsys.readouterr().out
    assert "was not made before" in text and "outcome: outside" in text
    assert stored_runs(tmp_path) == []  # the store is as it was


def test_a_value_of_the_document_may_be_set(campaign, capsys):
    call(run_command, campaign, "--workers", "1")
    from aerotwin_campaign import Specifications, load_campaign, versions_of

    loaded = load_campaign(campaign)
    spec = Specifications(loaded, versions_of(loaded.run))[0]
    assert call(reproduce_command, campaign, spec.id[:20], "--set", "x=3.0") == 1
    assert "x: 0.5 before, 3.0 now (by 2.5)" in capsys.readouterr().out


def test_ids_that_are_none_or_several_are_refused(campaign, tmp_path):
    call(run_command, campaign, "--workers", "1")
    with pytest.raises(UserError, match="no run of"):
        call(reproduce_command, campaign, "0" * 64)
    with pytest.raises(UserError, match="expected the id"):
        call(reproduce_command, campaign, "../x")
    clashing = stored_runs(tmp_path)[0]
    twin = clashing.with_name(clashing.name[:-1] + ("0" if clashing.name[-1] != "0" else "1"))
    twin.mkdir()
    (twin / "result.json").write_text("{}")
    with pytest.raises(UserError, match="2 runs begin with"):
        call(reproduce_command, campaign, clashing.name[:20])
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    with pytest.raises(UserError, match="is not empty"):
        call(reproduce_command, campaign, clashing.name, "-o", "full")


def test_the_function_of_a_foreign_store_is_not_called(campaign, tmp_path):
    call(run_command, campaign, "--workers", "1")
    run = stored_runs(tmp_path)[0]
    content = yaml.safe_load(campaign.read_text()) | {"run": f"{STUBS}:no_op"}
    other = written(tmp_path / "other.yaml", content)
    with pytest.raises(UserError, match="name the campaign of that run"):
        call(reproduce_command, other, run.name)
