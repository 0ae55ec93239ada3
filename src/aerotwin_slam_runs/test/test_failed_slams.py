# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user learns of a SLAM that crashed, hung, or wrote something unusable."""

import json
import re

import pytest

from support.dataset_samples import START_NS
from support.slam_scripts import DESCRIPTION, IMU_TRUTH

LOG_LINES = "print('begin'); print('no <camera>\\x1b[2J'); print('the reason', flush=True)\n"


def warnings_of(folder) -> list[str]:
    return json.loads((folder / "metrics.json").read_text())["warnings"]


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("raise SystemExit(3)", "copier: it ended with code 3; what it had written is judged"),
        (
            "import os; os.kill(os.getpid(), 11)",
            "copier: it ended with signal 11; what it had written is judged",
        ),
        ("import time; time.sleep(600)", "had not ended after 3 s and was ended; what it had"),
    ],
)
def test_a_slam_that_failed_is_judged_by_what_it_wrote_and_the_exit_code_is_1(
    evaluate, end, expected
):
    code, folder, errors = evaluate(IMU_TRUTH + end, timeout_s=3.0)
    assert code == 1
    assert expected in errors
    assert "APE" in evaluate.printed
    assert (folder / "report.html").is_file()


def test_a_condition_that_holds_counts_more_than_a_failed_slam(evaluate):
    gate = ("--fail-if", "trajectory.n_pairs > 0")
    assert evaluate(IMU_TRUTH + "raise SystemExit(3)", *gate)[0] == 3


def test_the_end_of_the_log_is_shown_once_line_by_line(evaluate):
    _, folder, errors = evaluate(LOG_LINES + "raise SystemExit(3)")
    assert "\\n" not in errors
    assert "the reason" not in errors
    assert f"its log is {folder / 'slam.log'}" in errors
    assert evaluate.printed.count("the reason") == 1
    assert "\n    begin\n    no <camera>\\x1b[2J\n    the reason\n" in evaluate.printed
    page = (folder / "report.html").read_text()
    assert "begin\nno &lt;camera&gt;\\x1b[2J\nthe reason" in page
    assert re.search(r"\.banner li[^}]*white-space: pre-line", page)


MOVED = IMU_TRUTH.replace("int(stamp) // 10**9}", "int(stamp) // 10**9 + {shift}}")


def test_stamps_off_the_recording_are_named_with_both_spans(evaluate):
    code, _, errors = evaluate(MOVED.replace("{shift}", "1700000000"))
    assert code == 1
    seconds = START_NS * 1e-9
    assert "trajectory.txt: no pose lies within the recording" in errors
    assert f"its stamps are {seconds + 1.7e9:.3f} s to" in errors
    assert f"those of the recording {seconds:.3f} s to" in errors
    assert "stamps of the headers, in seconds (form: tum)" in errors


@pytest.mark.parametrize(("form", "right"), [("tum", "tum-ns"), ("tum-ns", "tum")])
def test_stamps_in_another_unit_than_the_form_says_get_its_name(evaluate, form, right):
    script = IMU_TRUTH
    if right == "tum-ns":
        script = script.replace("{int(stamp) // 10**9}.{int(stamp) % 10**9:09d}", "{stamp}")
    code, _, errors = evaluate(script, trajectory={"file": "trajectory.txt", "form": form})
    assert code == 1
    assert f"as trajectory.form: {right} they fit" in errors


@pytest.mark.parametrize("is_optional", [True, False])
def test_a_map_that_is_optional_is_not_missed(evaluate, is_optional):
    evaluate(IMU_TRUTH, "--world", "cliff", map={"file": "m.ply", "is_optional": is_optional})
    missed = [text for text in warnings_of(evaluate.folder) if "map" in text]
    assert bool(missed) != is_optional, missed


def test_a_description_without_a_map_is_not_warned_of_one(evaluate):
    evaluate(IMU_TRUTH, "--world", "cliff")
    assert not [text for text in warnings_of(evaluate.folder) if "map" in text]


def test_a_program_that_cannot_be_started_leaves_no_folder(evaluate, tmp_path):
    for program, expected in (
        (tmp_path / "slam.py", "is no program that can be started"),
        (tmp_path / "empty", "cannot be started"),
    ):
        (tmp_path / "empty").write_bytes(b"\x7fELF")
        (tmp_path / "empty").chmod(0o755)
        code, folder, errors = evaluate("pass", f"program:={program}")
        assert code == 2
        assert expected in errors
        assert not folder.exists()


def test_a_name_that_is_on_no_path_is_noticed_before_the_export(evaluate, monkeypatch):
    monkeypatch.setattr("aerotwin_run_evaluation.described_slam.read_recording", None)
    command = ["no_such_program_1", *DESCRIPTION["command"][1:]]
    code, _, errors = evaluate("pass", command=command)
    assert code == 2
    assert "no_such_program_1 is no program that can be started" in errors
