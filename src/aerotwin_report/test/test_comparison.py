# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import json
from datetime import UTC, datetime

import jsonschema
import pytest

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_report import (
    Headline,
    Section,
    comparison_section,
    load_run,
    load_runs,
    schema_of,
    write_comparison,
    write_report,
)

WHEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OWN_SCHEMA = {
    "type": "object",
    "required": ["error_m", "speed"],
    "properties": {
        "error_m": {"title": "error", "unit": "m", "better": "lower", "$ref": "#/$defs/number"},
        "speed": {"title": "speed", "better": "higher", "$ref": "#/$defs/speed"},
        "n": {"type": "integer"},
    },
    "$defs": {"speed": {"type": "number", "minimum": 0}},
}


def a_section(error=0.1, speed=2.0, **changes):
    values = {
        "title": "Thing",
        "name": "thing",
        "verdict": f"{error} m is what it is.",
        "headline": (
            Headline(
                label="Error",
                value=f"{error:.2f}",
                unit="m",
                meaning="of all",
                computed="mean",
                better="lower",
            ),
            Headline(label="Name", value="x"),
        ),
        "metrics": {"error_m": error, "speed": speed, "n": 3},
        "schema": OWN_SCHEMA,
    }
    return Section(**(values | changes))


def a_run(folder, *sections, **changes):
    options = {"title": folder.name, "configuration": {}, "created": WHEN, **changes}
    write_report(folder, sections=sections or (a_section(),), **options)
    return folder


def three(tmp_path):
    return load_runs(
        [
            a_run(tmp_path / "a", a_section(0.3, 1.0)),
            a_run(tmp_path / "b", a_section(0.1, 2.0)),
            a_run(tmp_path / "c", a_section(0.2, 5.0)),
        ]
    )


def test_the_best_is_marked_where_the_section_says_what_is_better(tmp_path):
    section = comparison_section(three(tmp_path))
    assert [(tile.label, tile.value, tile.unit) for tile in section.headline] == [
        ("Error", "0.10", "m")
    ]
    assert section.headline[0].meaning == "best: b; a 0.30, c 0.20"
    keys, _, measured = section.tables
    assert keys.columns == ("quantity", "unit", "a", "b", "c")
    assert keys.rows[0] == ("Error", "m", "0.30", "0.10", "0.20")
    assert keys.best == ((0, 3),)
    assert measured.rows == (("error", "m", "0.3", "0.1", "0.2"), ("speed", "", "1", "2", "5"))
    assert measured.best == ((0, 3), (1, 4))
    assert section.metrics["runs"]["b"]["measures"]["sections.thing.speed"] == 2.0


def test_bytes_are_shown_in_millions(tmp_path):
    size = {"title": "memory", "unit": "bytes", "better": "lower", "type": "integer"}
    runs = [
        a_run(
            tmp_path / name,
            a_section(metrics={"size": n}, schema={"properties": {"size": size}}),
        )
        for name, n in (("a", 48_000_000), ("b", 52_500_000))
    ]
    measured = comparison_section(load_runs(runs)).tables[-1]
    assert measured.rows == (("memory", "MB", "48", "52.5"),)


def test_equal_numbers_have_no_best(tmp_path):
    runs = load_runs([a_run(tmp_path / "a"), a_run(tmp_path / "b")])
    section = comparison_section(runs)
    assert section.headline == ()
    assert all(table.best == () for table in section.tables)


def test_a_number_that_one_run_lacks_is_a_dash(tmp_path):
    runs = load_runs(
        [
            a_run(tmp_path / "a", a_section(headline=(), metrics={"error_m": None, "speed": 2.0})),
            a_run(tmp_path / "b", a_section(0.2)),
            a_run(tmp_path / "c", a_section(0.4)),
        ]
    )
    measured = comparison_section(runs).tables[-1]
    assert measured.rows == (("speed", "", "2", "2", "2"), ("error", "m", "–", "0.2", "0.4"))
    assert measured.best == ((1, 3),)


def test_the_page_links_to_the_reports_and_its_numbers_obey_the_schema(tmp_path):
    page = write_comparison(tmp_path / "side by side", three(tmp_path), created=WHEN).read_text()
    assert 'href="../a/report.html"' in page
    document = json.loads((tmp_path / "side by side" / "metrics.json").read_text())
    jsonschema.validate(document, schema_of(document))


def test_what_cannot_be_compared_is_said(tmp_path):
    runs = load_runs(
        [
            a_run(
                tmp_path / name,
                a_section(
                    metrics={"protocol": {"hash": code}, "error_m": 0.1, "speed": 1.0},
                ),
                world={"name": world},
                warnings=warnings,
            )
            for name, code, world, warnings in (
                ("a", "11", "cliff", []),
                ("b", "22", "cave", ["stopped"]),
            )
        ]
    )
    write_comparison(tmp_path / "out", runs)
    document = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert document["warnings"] == [
        "thing: judged by different protocols (a 11, b 22): not comparable.",
        "The runs are of different worlds: a in cliff, b in cave.",
        "b: stopped",
    ]


def test_runs_of_one_name_are_told_apart_by_the_folders_above(tmp_path):
    folders = [a_run(tmp_path / above / "run") for above in ("first", "second")]
    assert [run.name for run in load_runs(folders)] == ["first/run", "second/run"]
    assert [run.name for run in load_runs(folders, ["x", "y"])] == ["x", "y"]
    twice = load_runs([folders[0], folders[0] / "metrics.json"])
    assert [run.name for run in twice] == ["run (1)", "run (2)"]
    with pytest.raises(UserError, match="one name for each"):
        load_runs(folders, ["x"])
    with pytest.raises(UserError, match="must be different"):
        load_runs(folders, ["x", "x"])


def test_a_comparison_needs_two_runs(tmp_path):
    run = load_run(a_run(tmp_path / "a"))
    for runs in ([run], [run, run]):
        with pytest.raises(ValueError, match="at least two runs of different names"):
            comparison_section(runs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "expected a JSON object"),
        ("{", "is no JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"schema_version": 1}', "schema_version: expected 2, found 1"),
        ('{"schema_version": 2}', "lacks 'title'"),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path, content, message):
    (tmp_path / "metrics.json").write_text(content)
    with pytest.raises(UserError, match=message):
        load_run(tmp_path)


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(UserError, match="name a run folder"):
        load_run(tmp_path)


def broken(folder, change):
    path = a_run(folder) / "metrics.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return str(folder)


@pytest.mark.parametrize(
    "own",
    [
        {"$ref": "#/$defs/endless", "$defs": {"endless": {"$ref": "#/$defs/endless"}}},
        {"type": "nothing known"},
        {"$ref": 3},
        {"$defs": {"share": {"type": "string"}}},
        {"properties": 3},
    ],
)
def test_a_schema_of_a_section_that_cannot_be_used_is_a_fault(tmp_path, capsys, own):
    folder = broken(tmp_path / "a", lambda d: d["section_schemas"].update(thing=own))
    assert main(["report", "check", folder]) == 1
    assert "section_schemas: cannot be used" in capsys.readouterr().err


def test_check_says_what_is_broken(tmp_path, capsys):
    assert main(["report", "check", str(a_run(tmp_path / "a"))]) == 0
    assert "obeys" in capsys.readouterr().out
    folder = broken(tmp_path / "b", lambda d: d["sections"]["thing"].update(speed=-1))
    assert main(["report", "check", folder]) == 1
    assert "sections.thing.speed: expected at least 0, found -1" in capsys.readouterr().err


def test_show_prints_warnings_verdicts_and_key_numbers(tmp_path, capsys):
    folder = a_run(
        tmp_path / "a", a_section(warnings=("mind",)), warnings=["partial"], summary="One."
    )
    assert main(["report", "show", str(folder)]) == 0
    text = capsys.readouterr().out
    for part in ("One.", "! partial", "0.1 m is what it is.", "! mind", "report.html"):
        assert part in text
    assert "Error" in text
    assert "0.10 m" in text


def test_compare_writes_a_page(tmp_path, capsys):
    runs = [str(a_run(tmp_path / name, a_section(error))) for name, error in (("a", 1), ("b", 2))]
    out = tmp_path / "out"
    assert main(["report", "compare", *runs, "-o", str(out), "--title", "Two"]) == 0
    assert capsys.readouterr().out.strip() == str(out / "report.html")
    assert "<h1>Two</h1>" in (out / "report.html").read_text()
    assert main(["report", "compare", runs[0], "-o", str(out)]) == 2
    assert "at least two runs" in capsys.readouterr().err
