# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: its numbers, and what it shows of none, one and many runs."""

import json
import re
from datetime import UTC, datetime

import numpy as np
import pyarrow
import pytest
import yaml
from pyarrow import parquet
from scipy.stats import binomtest

from aerotwin_campaign import ResultColumns, Store, report_of_campaign, report_of_store
from aerotwin_campaign.campaign_results import grouping_of
from aerotwin_campaign.report_runs import MOST_WORST
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_report import faults
from aerotwin_report.metrics import schema_of
from support.campaigns import STUBS, campaign_of, carried_out

CREATED = datetime(2026, 1, 2, tzinfo=UTC)


def rows(n, **more):
    return {
        "run_id": [f"{k:064x}" for k in range(n)], "seed": [*range(n)], "repeat": [0] * n,
        "is_success": [True] * n, "outcome": ["done"] * n, **more,
    }  # fmt: skip


def store_of(folder, columns, **content):
    folder.mkdir(parents=True)
    parquet.write_table(pyarrow.table(columns), folder / "results.parquet")
    given = {"name": "made", "run": "a.b:fly", "base": {}} | content
    (folder / "campaign.yaml").write_text(yaml.safe_dump(given))
    return Store(str(folder))


def page_of(store):
    return report_of_store(store).page(store.local, CREATED)


def test_the_page_of_a_campaign_has_its_numbers(tmp_path):
    found = carried_out(
        campaign_of("mixed", base={"kind": ""}, axes={"kind": ["fine", "raises"]}, seeds=[1, 2, 3]),
        tmp_path, n_workers=2,
    )  # fmt: skip
    report = report_of_campaign(found, "test.yaml")
    page, document = report.page(tmp_path, CREATED)
    assert faults(document, schema_of(document)) == []
    interval = binomtest(3, 6).proportion_ci(method="exact")
    success = document["sections"]["success"]
    assert success["interval"] == pytest.approx([interval.low, interval.high])
    assert success["success_share"] == found.table.summary()["success_share"] == 0.5
    assert "the function raised ValueError: a wrong value" in page
    for run_id in document["sections"]["worst_runs"]["runs"]:
        assert f'href="runs/{run_id[:2]}/{run_id}"' in page
        assert f"aerotwin campaign reproduce test.yaml {run_id[:16]} --store {tmp_path}" in page
    assert document["configuration"]["versions_of_the_runs"]["aerotwin files"]
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S*", "", page) and "src=" not in page


@pytest.mark.parametrize("n", [0, 1])
def test_few_runs_have_a_page(tmp_path, n):
    columns = rows(n) | {"axes.x": pyarrow.array([1.0] * n, "f8"),
                         "metrics.m": pyarrow.array([None] * n, "f8")}  # fmt: skip
    if not n:
        columns = {k: pyarrow.array([], v.type if hasattr(v, "type") else
                   {"is_success": "bool", "seed": "i8", "repeat": "i8"}.get(k, "string"))
                   for k, v in columns.items()}  # fmt: skip
    page, document = page_of(store_of(tmp_path / "s", columns, fail_if=["m.max > 1"]))
    assert faults(document, schema_of(document)) == []
    assert document["sections"]["success"]["n_runs"] == n
    assert "not judged: fails" in page and ("No run is done yet." in page) == (n == 0)


def test_the_worst_runs_are_failures_then_the_smallest_robustness(tmp_path):
    margins = [0.5, -0.1, None, 0.2, -3.0, 0.1]
    columns = rows(6, **{
        "is_success": [True, False, True, True, False, True],
        "metrics.expect.0.is_met": [True, False, None, True, False, True],
        "metrics.expect.0.robustness": margins,
        "metrics.expect.1.robustness": [1.0, 1.0, None, 1.0, 1.0, 0.05],
    })  # fmt: skip
    _, document = page_of(store_of(tmp_path / "s", columns))
    order = [int(run_id, 16) for run_id in document["sections"]["worst_runs"]["runs"]]
    assert order == [4, 1, 5, 3, 0, 2]
    assert document["sections"]["expectations"]["0"] == {"n": 5, "n_met": 3}
    tiles = {tile["label"]: tile["value"] for tile in document["headline"]}
    assert tiles["Worst margin"] == "-3"


def test_without_expectations_the_first_condition_says_which_runs_are_worst(tmp_path):
    columns = rows(3, **{"metrics.a": [1.0, 2.0, 3.0], "metrics.b": [2.0, 1.0, 3.0]})
    _, document = page_of(store_of(tmp_path / "s", columns, fail_if=["b.mean < 0"]))
    assert [int(x, 16) for x in document["sections"]["worst_runs"]["runs"]] == [1, 0, 2]


def test_of_repeats_the_worst_is_shown_alone(tmp_path):
    columns = rows(4, seed=[7, 7, 8, 8], repeat=[0, 1, 0, 1],
                   **{"metrics.a": [1.0, 4.0, 3.0, 2.0]})  # fmt: skip
    _, document = page_of(store_of(tmp_path / "s", columns))
    assert [int(x, 16) for x in document["sections"]["worst_runs"]["runs"]] == [1, 2]


def test_failures_that_differ_in_numbers_are_one_outcome(tmp_path):
    outcomes = ["fell at 1.5 m", "fell at 22 m", "lost", "fell at 3e-5 m", "lost"]
    columns = rows(5, is_success=[False] * 5, outcome=outcomes)
    page, document = page_of(store_of(tmp_path / "s", columns))
    assert document["sections"]["failures"]["n_outcomes"] == 2
    assert "fell at 1.5 m" in page and 'class="n">60.0' in page


def test_text_of_others_is_no_markup(tmp_path):
    bad = "<script>alert(1)</script>\x1b[2J"
    columns = rows(2, is_success=[False] * 2, outcome=[bad] * 2, **{f"axes.{bad}": [bad, "b"]})
    page, _ = page_of(store_of(tmp_path / "s", columns))
    assert "<script>alert" not in page and "\x1b" not in page
    assert "&lt;script&gt;alert" in page


def test_the_page_is_the_same_for_the_same_results(tmp_path):
    rng = np.random.default_rng(0)
    columns = rows(50, **{"axes.x": rng.normal(size=50), "metrics.m": rng.normal(size=50)})
    store = store_of(tmp_path / "s", columns)
    assert page_of(store)[0] == page_of(store)[0]


def test_ten_thousand_runs_of_thirty_metrics_are_a_page_of_less_than_4_mb(tmp_path):
    rng, n = np.random.default_rng(0), 10_000
    columns = rows(n) | {f"metrics.m{k:02}": rng.normal(size=n) for k in range(30)}
    columns |= {"axes.x": rng.uniform(size=n), "is_success": rng.uniform(size=n) < 0.5}
    page, document = page_of(store_of(tmp_path / "s", columns))
    assert len(page) < 4e6
    assert len(document["sections"]["worst_runs"]["runs"]) == MOST_WORST
    assert page.count("</svg>") >= 30


def test_groups_are_the_values_of_an_axis_or_classes_of_equal_count():
    few = grouping_of([2, 1, 2])
    assert few.labels == ("1", "2") and few.codes.tolist() == [1, 0, 1]
    numbers = np.random.default_rng(0).normal(size=500)
    many = grouping_of(numbers.tolist())
    assert np.bincount(many.codes).tolist() == [50] * 10
    assert (np.diff(many.middles) > 0.0).all()
    texts = grouping_of([f"t{k % 60}" for k in range(120)])
    assert texts.labels[-1] == "others" and texts.middles is None
    assert np.bincount(texts.codes).sum() == 120
    assert grouping_of([]).labels == ()


def test_repeats_of_one_seed_are_one_unit():
    table = pyarrow.table(rows(4) | {"seed": [1, 1, 2, 2], "axes.x": [0, 0, 0, 1]})
    assert ResultColumns(table).units.tolist() == [0, 0, 1, 2]


def test_a_condition_that_holds_is_exit_code_3(tmp_path, capsys):
    columns = rows(4, is_success=[True, True, False, True])
    store = store_of(tmp_path / "s", columns)
    page, numbers = tmp_path / "page.html", tmp_path / "page.json"
    command = ["campaign", "report", str(store.local), "-o", str(page), "--json", str(numbers)]
    assert main(command) == 0
    assert json.loads(numbers.read_text())["sections"]["success"]["n_failures"] == 1
    assert page.is_file() and not (store.local / "report.html").exists()
    assert main([*command, "--fail-if", "success_share < 0.9"]) == 3
    assert "success_share < 0.9: it is 0.75" in capsys.readouterr().err


def test_a_campaign_that_ends_writes_its_page_and_junit(tmp_path):
    file = tmp_path / "c.yaml"
    content = {
        "name": "c",
        "run": f"{STUBS}:mixed",
        "base": {"kind": "fine"},
        "fail_if": ["n_runs < 2"],
    }
    file.write_text(yaml.safe_dump(content))
    store, xml = tmp_path / "store", tmp_path / "c.xml"
    command = [str(file), "--store", str(store), "--junit", str(xml)]
    assert main(["campaign", "run", *command, "--workers", "1"]) == 3
    page, junit = store / "report.html", xml.read_text()
    assert "n_runs &lt; 2" in page.read_text() and 'tests="1"' in junit
    page.unlink()
    assert main(["campaign", "report", *command]) == 3
    assert page.is_file() and xml.read_text() == junit


@pytest.mark.parametrize("content", [None, b"no parquet"])
def test_what_is_no_store_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "campaign.yaml").write_text("name: a")
        (tmp_path / "results.parquet").write_bytes(content)
    with pytest.raises(UserError, match=r"is no store of a campaign|cannot be read"):
        report_of_store(Store(str(tmp_path)))
