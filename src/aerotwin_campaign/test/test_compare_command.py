# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Two stores or tables beside each other: which runs are pairs, and what is said of them."""

import json
import shutil

import numpy as np
import pytest

from aerotwin_campaign import compare_command
from aerotwin_campaign.paired_results import pair_results, read_results
from aerotwin_core.cli import parser_of
from aerotwin_core.errors import UserError
from support.campaigns import campaign_of, carried_out

CAMPAIGN = {
    "base": {"bias_m": 1.0, "wind_m_s": 0.0},
    "axes": {"wind_m_s": [0.0, 5.0, 10.0]},
    "seeds": {"first": 1, "count": 12},
}


def compare(*arguments) -> int:
    parser = parser_of(compare_command, "aerotwin campaign compare")
    return compare_command.run(parser.parse_args([str(each) for each in arguments]))


def compared(capsys, *arguments) -> dict:
    code = compare(*arguments, "--json", "-")
    return json.loads(capsys.readouterr().out) | {"code": code}


def flown(store, function="flown", **changes):
    carried_out(campaign_of(function, **CAMPAIGN | changes), store, n_workers=2)
    return store


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return flown(tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    return flown(tmp_path_factory.mktemp("again"))


@pytest.fixture(scope="module")
def after(tmp_path_factory, before):
    """The results of a worse version: its error is larger by a tenth of the wind's part."""
    store = tmp_path_factory.mktemp("after")
    shutil.copytree(before, store, dirs_exist_ok=True)
    change_table(store, lambda wind, error: error + 0.01 * wind + 1e-4 * error)
    return store


def change_table(store, error_of):
    from pyarrow import Table, parquet

    table = parquet.read_table(store / "results.parquet")
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    pairs = zip(columns["axes.wind_m_s"], columns["metrics.error_m"])
    columns["metrics.error_m"] = [error_of(wind, error) for wind, error in pairs]
    parquet.write_table(Table.from_pydict(columns, schema=table.schema), store / "results.parquet")


def drop_specs(store):
    for path in store.glob("runs/*/*/spec.json"):
        path.unlink()


def test_the_same_campaign_twice_is_the_same(before, again, capsys):
    found = compared(capsys, before, again, "--fail-if", "changed")
    assert (found["code"], found["verdict"], found["n_pairs"]) == (0, "same", 36)
    assert found["n_repeatable_pairs"] == 36
    assert compare(before, again) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[-1].startswith("same: 36 pairs of runs have equal values")


def test_a_worse_metric_is_named_with_where_it_is_worse(before, after, capsys, tmp_path):
    # Other results of one specification and versions: such runs do not repeat, only tests count.
    found = compared(capsys, before, after)
    error = found["metrics"]["error_m"]
    assert (error["verdict"], error["unit"], error["better"]) == ("worse", "m", "lower")
    assert error["difference"] == pytest.approx(0.05 + 1e-4 * error["mean_a"], rel=1e-9)
    assert error["p_adjusted"] == error["p_value"] == pytest.approx(2.0 / 2**12)
    assert error["low"] < error["difference"] < error["high"]
    assert found["metrics"]["score"]["verdict"] == "same"
    page = tmp_path / "difference.html"
    assert compare(before, after, "--fail-if", "worse", "-o", page) == 3
    text = capsys.readouterr().out
    assert "wind_m_s = 10" in text
    assert text.splitlines()[-1].startswith("worse: error_m (+")
    assert "error_m: where" in page.read_text() and "http-equiv" in page.read_text()
    assert compare(after, before, "--fail-if", "worse") == 0  # the other way it is better


def test_tables_alone_are_paired_by_axes(before, after, capsys):
    found = compared(capsys, before / "results.parquet", after / "results.parquet")
    assert found["verdict"] == "worse" and found["n_pairs"] == 36
    assert sum("no documents" in note for note in found["notes"]) == 2


def test_runs_without_a_counterpart_are_counted_and_named(before, tmp_path, capsys):
    fewer = flown(tmp_path, axes={"wind_m_s": [5.0, 10.0, 15.0]}, seeds=[2, 3, 99])
    found = compared(capsys, before, fewer)
    assert (found["n_pairs"], found["only_a"], found["only_b"]) == (4, 32, 5)
    assert any("5 runs only in B" in note and "wind_m_s=15" in note for note in found["notes"])
    assert found["verdict"] == "same"


def test_pairs_are_of_one_document_whatever_the_axes_are(before, tmp_path, capsys):
    other = flown(tmp_path, axes={"bias_m": [1.0, 2.0]}, base={"bias_m": 0.0, "wind_m_s": 5.0})
    found = compared(capsys, before, other)
    assert (found["n_pairs"], found["only_a"], found["only_b"]) == (12, 24, 12)


def test_nothing_in_common_is_an_error_that_says_what_differs(before, tmp_path):
    other = flown(tmp_path, base={"bias_m": 3.0, "wind_m_s": 0.0}, seeds=[1])
    with pytest.raises(UserError, match=r"documents differ in bias_m: 1.0 .*3.0"):
        compare(before, other)


def test_files_in_other_folders_are_the_same_documents(tmp_path, capsys):
    stores = []
    for name, value in (("one", "1.0"), ("two", "2.0")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "value.txt").write_text(value)
        base = {"file": str(folder / "value.txt"), "files": {str(folder / "value.txt"): value}}
        store = folder / "store"
        stores.append(
            flown(store, "changes_with_the_file", base=base, axes={}, seeds=[1], repeats=2)
        )
    found = compared(capsys, *stores)
    assert found["n_pairs"] == 2
    assert "files with other content: value.txt" in found["notes"]
    # Repeats that are equal say that runs repeat, so that a difference is a change.
    assert found["metrics"]["value"]["verdict"] == "changed"


def test_runs_that_do_not_repeat_are_not_called_changed(tmp_path, capsys):
    stores = []
    for name, value in (("one", "1.0"), ("two", "2.0")):
        base = {"file": str(tmp_path / "value.txt")}
        (tmp_path / "value.txt").write_text(value)
        stores.append(
            flown(tmp_path / name, "changes_with_the_file", base=base, axes={}, seeds=[1, 2])
        )
    found = compared(capsys, *stores)  # one id, two results
    assert found["verdict"] == "no difference" and found["n_repeatable_pairs"] == 0
    assert compared(capsys, *stores, "--repeatable")["verdict"] == "changed"


def test_a_direction_may_be_named(before, after, capsys):
    found = compared(capsys, before, after, "--higher-is-better", "error_m")
    assert found["metrics"]["error_m"]["verdict"] == "better"
    with pytest.raises(UserError, match="no metric speed"):
        compare(before, after, "--lower-is-better", "speed")


def test_what_is_no_table_of_results_is_refused(before, tmp_path):
    with pytest.raises(UserError, match="no such file"):
        compare(before, tmp_path)
    (tmp_path / "results.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(UserError, match="cannot be read"):
        compare(before, tmp_path)
    from pyarrow import parquet, table

    parquet.write_table(table({"run_id": ["../../../etc/passwd"]}), tmp_path / "results.parquet")
    with pytest.raises(UserError, match="no table of a campaign"):
        compare(before, tmp_path)


def test_ids_of_a_table_are_no_paths(before, tmp_path):
    from pyarrow import array, parquet, string

    table = parquet.read_table(before / "results.parquet")
    ids = array(["../" * 8 + "etc"] * table.num_rows, string())
    parquet.write_table(table.set_column(0, "run_id", ids), tmp_path / "results.parquet")
    with pytest.raises(UserError, match="no id of a run"):
        compare(before, tmp_path)


def test_a_specification_that_was_changed_is_refused(before, tmp_path):
    shutil.copytree(before, tmp_path / "copy")
    path = next((tmp_path / "copy").glob("runs/*/*/spec.json"))
    path.write_text(path.read_text().replace('"seed":', '"seed":1'))
    with pytest.raises(UserError, match="is damaged"):
        compare(before, tmp_path / "copy")


def test_a_store_without_specifications_is_paired_by_axes(before, again, tmp_path):
    shutil.copytree(again, tmp_path / "copy")
    drop_specs(tmp_path / "copy")
    pairs = pair_results(read_results(str(before)), read_results(str(tmp_path / "copy")))
    assert len(pairs.units) == 36 and len(np.unique(pairs.units)) == 12
