# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a run, whatever its function does."""

import json
import resource
import shutil

import pytest

from aerotwin_campaign import RunOptions, RunSpec, Store, WorkerPlace, run_locally, versions_of
from aerotwin_campaign.campaign_report import report_of_campaign
from aerotwin_campaign.execution import MachineFailure, run
from aerotwin_core.errors import UserError
from support.campaigns import STUBS, campaign_of, carried_out, leftovers, opened, result_files

ROUNDING = 1e-12  # two orders of one sum
OUTCOMES = {
    "fine": "fine",
    "raises": "the function raised ValueError: a wrong value",
    "names its folder": "the function raised ValueError: nothing in <folder>",
    "system exit": "the function raised SystemExit: 3",
    "exits": "the process ended with exit code 7",
    "kills itself": "the process was killed by SIGKILL",
    "forks and dies": "the process ended with exit code 5",
    "hangs": "exceeded its limit of 2 s",
    "garbage": "the function returned ['no', 'mapping'] (list), not "
    "['is_success', 'metrics', 'outcome']",
    "not a number": "the function returned the metric x = nan; what is not known is None",
}


def spec_of(function, document=None, **fields):
    name = f"{STUBS}:{function}"
    given = {"document": document or {}, "seed": 0, "repeat": 0, "versions": versions_of(name)}
    return RunSpec(run=name, **(given | fields))


def place_at(folder):
    return WorkerPlace(number=0, cores=(0,), ros_domain_id=None, scratch=folder)


def test_whatever_a_function_does_is_a_result_once(tmp_path):
    campaign = campaign_of("mixed", base={"kind": ""}, axes={"kind": [*OUTCOMES]}, timeout_s=2.0)
    found = carried_out(campaign, tmp_path, n_workers=2)
    table = found.table.table().to_pydict()
    assert dict(zip(table["axes.kind"], table["outcome"])) == OUTCOMES
    assert table["is_success"] == [kind == "fine" for kind in OUTCOMES]
    assert found.progress.n_left == 0 and found.progress.n_failures == len(OUTCOMES) - 1
    assert len(result_files(tmp_path)) == len(OUTCOMES)
    assert leftovers(tmp_path) == []
    for run_id, kind in zip(table["run_id"], table["axes.kind"]):  # the log of a killed one, too
        folder = tmp_path / "runs" / run_id[:2] / run_id
        assert folder.joinpath("log.txt").read_text().startswith(f"begin {kind}\n")
        assert json.loads(folder.joinpath("spec.json").read_text())["document"] == {"kind": kind}


def test_a_process_that_is_killed_once_costs_a_run_nothing(tmp_path):
    marker = str(tmp_path / "marker")
    found = carried_out(
        campaign_of("dies_once", base={"marker": marker}), tmp_path / "s", n_workers=1
    )
    assert found.table.table()["outcome"].to_pylist() == ["survived"]
    assert leftovers(tmp_path / "s") == []


def test_a_complete_run_is_left_untouched(tmp_path):
    spec, store = spec_of("numeric", {"a": 2}), Store(str(tmp_path / "store"))
    run(spec, store, place_at(tmp_path), RunOptions())
    folder = tmp_path / "store" / store.path_of(spec.id)
    before = {path: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]}
    run(spec, store, place_at(tmp_path), RunOptions())
    assert {path: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]} == before
    assert {path.name for path in folder.iterdir()} == {
        "spec.json", "result.json", "cost.json", "log.txt", "trace.txt"
    }  # fmt: skip
    cost = json.loads((folder / "cost.json").read_text())
    assert cost["cpu_s"] > 0.0 and cost["wall_s"] > 0.0


@pytest.mark.parametrize(
    ("keep", "of_success", "of_failure"),
    [
        ("all", {"log.txt"}, {"log.txt"}),
        ("failures", set(), {"log.txt"}),
        ("metrics", set(), {"log.txt"}),
    ],
)
def test_a_campaign_says_what_is_kept_of_a_run(tmp_path, keep, of_success, of_failure):
    store, own = Store(str(tmp_path / "store")), {"spec.json", "result.json", "cost.json"}
    for kind, expected in (("fine", of_success), ("raises", of_failure)):
        spec = spec_of("mixed", {"kind": kind})
        run(spec, store, place_at(tmp_path), RunOptions(keep=keep))
        folder = tmp_path / "store" / store.path_of(spec.id)
        assert {path.name for path in folder.iterdir()} == own | expected


def test_a_run_of_other_versions_is_refused(tmp_path):
    spec = spec_of("no_op", versions=versions_of(f"{STUBS}:no_op") | {"numpy": "1.0"})
    with pytest.raises(UserError, match=r"versions: numpy is .* but 1.0 where the campaign"):
        run(spec, Store(str(tmp_path)), place_at(tmp_path), RunOptions())


def test_a_function_that_is_not_there_ends_the_campaign(tmp_path):
    with pytest.raises(UserError, match=r"support.campaign_stubs:missing cannot be imported"):
        carried_out(campaign_of("missing"), tmp_path, n_workers=2)


def test_a_full_disk_is_no_result_is_named_and_the_campaign_goes_on_later(tmp_path):
    flag = tmp_path / "full"
    flag.touch()
    base = {"flag": str(flag), "a": 0}
    campaign = campaign_of("full_disk", base=base, axes={"a": [1, 2, 3, 4, 5]})
    found = carried_out(campaign, tmp_path / "store", n_workers=1)
    assert found.progress.n_done == 0 and len(found.progress.not_made) == 3  # given up
    for why in found.progress.not_made.values():
        assert "No space left on device; free space (3 attempts)" in why
    assert result_files(tmp_path / "store") == {} and leftovers(tmp_path / "store") == []
    flag.unlink()
    assert carried_out(campaign, tmp_path / "store", n_workers=1).progress.n_left == 0


def test_a_full_disk_of_the_store_is_no_result(tmp_path, monkeypatch):
    def write(*_):
        raise OSError(28, "No space left on device", "result.json")

    monkeypatch.setattr("aerotwin_campaign.execution.write_json_file", write)
    with pytest.raises(MachineFailure, match=r"result.json: No space left on device; free space"):
        run(
            spec_of("no_op", {"a": 1}), Store(str(tmp_path / "s")), place_at(tmp_path), RunOptions()
        )
    assert leftovers(tmp_path / "s") == []


def test_a_specification_that_is_there_twice_is_one_run(tmp_path):
    axes = {"a": [1.0, 2.0]}
    campaign = campaign_of(
        "no_op", base={"a": 0.0}, axes=axes, sampling="random", samples=20, sampling_seed=1
    )
    found = carried_out(campaign, tmp_path, n_workers=2)
    assert len(found.specs) == 20
    assert found.progress.n_runs == found.progress.n_done == len(result_files(tmp_path)) == 2
    assert sorted(found.table.table()["axes.a"].to_pylist()) == [1.0, 2.0]


def test_only_what_is_missing_is_run(tmp_path):
    campaign = campaign_of("no_op", base={"a": 0}, axes={"a": [1, 2, 3]}, repeats=2)
    first = carried_out(campaign, tmp_path, n_workers=2)
    lost = first.specs[3].id
    shutil.rmtree(tmp_path / "runs" / lost[:2] / lost)
    found = opened(campaign, tmp_path)
    assert (found.progress.n_done, found.progress.n_left) == (5, 1)
    made = list(
        run_locally(found._missing(), found.store, found.options, run=f"{STUBS}:no_op", n_workers=2)
    )
    assert [report.id for report in made] == [lost]


def test_workers_have_cores_domains_and_numbers_of_their_own(tmp_path):
    campaign = campaign_of("places", seeds={"first": 0, "count": 4})
    table = carried_out(campaign, tmp_path, n_workers=2).table.table().to_pydict()
    assert len(set(table["metrics.number"])) == len(set(table["metrics.domain"])) == 2
    assert set(table["metrics.n_cores"]) == {1} and set(table["metrics.threads"]) == {"1"}


def test_the_table_has_a_row_for_each_run_and_the_summary_is_of_its_columns(tmp_path):
    from pyarrow import parquet

    campaign = campaign_of(
        "numeric", base={"a": 0}, axes={"a": [1, 20]}, seeds=[1, 2, 3],
        measure=["value", "absent"], fail_if=["value.max > 1"],
    )  # fmt: skip
    found = carried_out(campaign, tmp_path, n_workers=2)
    frame = parquet.read_table(tmp_path / "results.parquet").to_pandas()
    assert frame["run_id"].tolist() == [spec.id for spec in found.specs]
    assert frame["axes.a"].tolist() == [1, 1, 1, 20, 20, 20]
    assert frame["seed"].tolist() == [1, 2, 3, 1, 2, 3]
    assert "metrics.count" not in frame and frame["metrics.absent"].isna().all()
    assert found.table.unknown_metrics() == ["absent"]
    summary, values = found.table.summary(), frame["metrics.value"]
    assert summary["n_runs"] == 6 and summary["success_share"] == frame["is_success"].mean()
    expected = values.describe()
    for name, key in {
        "mean": "mean",
        "std": "std",
        "min": "min",
        "max": "max",
        "median": "50%",
    }.items():
        assert summary["value"][name] == pytest.approx(expected[key], rel=1e-12)
    assert summary["value"]["p95"] == pytest.approx(values.quantile(0.95), rel=1e-12)
    assert report_of_campaign(found, "test.yaml").exit_code() == 3


def test_a_full_file_system_is_no_result(tmp_path):
    """A limit of the size of files, as a quota, which the function meets in its own files."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    campaign = campaign_of("writes_a_megabyte")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, limits[1]))  # inherited by children
        found = carried_out(campaign, tmp_path, n_workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (why,) = found.progress.not_made.values()
    assert "File too large; free space" in why
    assert result_files(tmp_path) == {} and leftovers(tmp_path) == []
    assert carried_out(campaign, tmp_path, n_workers=1).progress.n_left == 0
