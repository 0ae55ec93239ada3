# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The JUnit file: read back, and compared with what pytest writes."""

import subprocess
import sys
from xml.etree import ElementTree

import pyarrow
import pytest

from aerotwin_campaign import ResultColumns, junit_xml
from support.campaigns import campaign_of, carried_out, opened

PASSING_AND_NOT = """
import pytest
def test_a(): pass
def test_b(): assert False
@pytest.mark.skip(reason="later")
def test_c(): pass
@pytest.fixture
def broken(): raise ValueError
def test_d(broken): pass
"""


def results():
    return ResultColumns(pyarrow.table({
        "run_id": [f"{k:064x}" for k in range(3)],
        "axes.scenario": ["gust", "loss", "gust"], "axes.wind": [1.0, 2.5, 3.0],
        "seed": [7, 7, 8], "repeat": [0, 0, 1], "is_success": [True, False, False],
        "outcome": ["landed", "fell \x1b[2J\x00 & <b>\ufffe", "lost"],
        "metrics.expect.0.is_met": [True, False, True],
        "metrics.expect.0.robustness": [1.0, -0.25, 0.1],
        "cost.wall_s": [1.5, 2.25, None], "cost.cpu_s": [1.0, 1.0, None],
    }))  # fmt: skip


def test_each_run_is_a_case_in_the_suite_of_its_scenario():
    root = ElementTree.fromstring(junit_xml("wind", results()).encode())
    suites = {suite.get("name"): suite for suite in root}
    assert [*suites] == ["wind.gust", "wind.loss"]
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "time")} == {
        "tests": "3", "failures": "2", "errors": "0", "time": "3.750"
    }  # fmt: skip
    first, third = suites["wind.gust"]
    assert first.get("name") == "scenario=gust wind=1 seed=7 (0000000000000000)"
    assert "repeat=1" in third.get("name") and first.get("time") == "1.500" and not len(first)
    ((failure,),) = suites["wind.loss"]
    assert failure.tag == "failure"
    assert "expectation 0 not met, robustness -0.25" in failure.text
    assert failure.get("message").startswith(r"fell \x1b[2J\x00 & <b>")


def test_runs_that_are_not_made_are_skipped_and_those_that_cannot_be_are_errors(tmp_path):
    campaign = campaign_of("mixed", base={"kind": "fine"}, seeds=[1, 2])
    found = opened(campaign, tmp_path)
    first = found.specs[0]
    text = junit_xml("c", ResultColumns(found.table.table()), found.left(), {first.id: "no port"})
    (suite,) = ElementTree.fromstring(text.encode())
    assert [case[0].tag for case in suite] == ["error", "skipped"]
    assert suite.get("errors") == suite.get("skipped") == "1" and suite.get("tests") == "2"
    assert suite[0][0].get("message") == "no port"
    made = carried_out(campaign, tmp_path, n_workers=1)
    text = junit_xml("c", ResultColumns(made.table.table()), made.left())
    assert [len(case) for case in ElementTree.fromstring(text.encode())[0]] == [0, 0]


def test_the_file_has_the_elements_and_attributes_that_pytest_writes(tmp_path):
    (tmp_path / "test_peer.py").write_text(PASSING_AND_NOT)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    subprocess.run([*command, "--junit-xml=peer.xml", "-c", "/dev/null", "test_peer.py"],
                   cwd=tmp_path, capture_output=True, timeout=120)  # fmt: skip
    peer = ElementTree.parse(tmp_path / "peer.xml").getroot()
    known = {}
    for node in peer.iter():
        known.setdefault(node.tag, set()).update(node.attrib)
    # Jenkins's schema has them and demands the counts; pytest leaves them out of its root.
    known["testsuites"] |= {"name", "tests", "failures", "errors", "time"}
    known["failure"] |= {"type"}
    for node in ElementTree.fromstring(junit_xml("wind", results()).encode()).iter():
        assert node.tag in known and set(node.attrib) <= known[node.tag], node.tag


def test_a_reader_of_others_finds_the_same_numbers():
    junitparser = pytest.importorskip("junitparser", reason="the reader of JUnit files is missing")
    found = junitparser.JUnitXml.fromstring(junit_xml("wind", results()).encode())
    assert (found.tests, found.failures, found.errors) == (3, 2, 0)
    assert [case.is_passed for suite in found for case in suite] == [True, False, False]
