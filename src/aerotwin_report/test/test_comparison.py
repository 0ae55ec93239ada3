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
    Table,
    comparison_section,
    load_run,
    load_runs,
    schema_of,
    write_comparison,
    write_report,
)
from aerotwin_report.runs import split_run
from aerotwin_report.tables import table_text

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
        "The runs are of different worlds (a in cliff, b in cave): no best is named.",
        "Thing: judged by different protocols (a 11, b 22): no best is named.",
        "b: stopped",
    ]


def test_runs_of_one_name_are_distinguished_by_the_folders_above(tmp_path):
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
    assert capsys.readouterr().out.strip().endswith(f"\n{out / 'report.html'}")
    assert "<h1>Two</h1>" in (out / "report.html").read_text()
    assert main(["report", "compare", runs[0], "-o", str(out)]) == 2
    assert "at least two runs" in capsys.readouterr().err


def judged(folder, error, **parts):
    """Return a run whose section says by what it was judged."""
    options = {"world": None, "configuration": {}} | {
        key: parts.pop(key) for key in ("world", "configuration") if key in parts
    }
    metrics = {"error_m": error, "speed": 1.0, **parts}
    return a_run(folder, a_section(error, metrics=metrics), **options)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (
            {"reference": {"hash": "1"}, "configuration": {"reference": "x/hall.txt"}},
            {"reference": {"hash": "2"}, "configuration": {"reference": "x/street.txt"}},
            "judged against different references (a hall.txt, b street.txt)",
        ),
        (
            {"coverage": 0.9},
            {"coverage": 0.5},
            "different parts of the reference (a 90%, b 50%)",
        ),
        (
            {"protocol": {"hash": "1"}},
            {"protocol": {"hash": "2"}},
            "different protocols (a 1, b 2)",
        ),
        ({"world": {"name": "x"}}, {"world": {"name": "y"}}, "different worlds (a in x, b in y)"),
        (
            {"configuration": {"mission": "m"}},
            {"configuration": {"mission": "n"}},
            "different missions (a m, b n)",
        ),
    ],
)
def test_no_best_is_named_among_what_cannot_be_compared(tmp_path, first, second, reason):
    folders = [judged(tmp_path / "a", 0.1, **first), judged(tmp_path / "b", 0.2, **second)]
    section = comparison_section(load_runs(folders))
    assert section.headline == ()
    assert all(table.best == () for table in section.tables)
    assert reason in section.verdict
    assert section.verdict.startswith("No best is named")
    assert reason in section.tables[-1].caption
    page = write_comparison(tmp_path / "out", load_runs(folders)).read_text()
    assert reason.split(" (")[0] in page


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"reference": {"hash": "1"}}, {"reference": {"hash": "1"}}),
        ({"coverage": 0.905}, {"coverage": 0.91}),
        # Flights through one world have each a truth of its own.
        (
            {"reference": {"hash": "1"}, "world": {"name": "x"}},
            {"reference": {"hash": "2"}, "world": {"name": "x"}},
        ),
        ({"reference": {"hash": "1"}}, {}),
    ],
)
def test_the_best_is_named_among_what_can_be_compared(tmp_path, first, second):
    folders = [judged(tmp_path / "a", 0.1, **first), judged(tmp_path / "b", 0.2, **second)]
    section = comparison_section(load_runs(folders))
    assert section.headline[0].meaning == "best: a; b 0.20"
    assert section.verdict == ""


def several(folder, **errors):
    """Return a run of several estimates side by side."""
    sections = [
        a_section(
            error,
            name=name,
            title=name.upper(),
            kind="thing",
            headline=(
                Headline(
                    label=f"{name.upper()}: Error", value=f"{error}", unit="m", better="lower"
                ),
            ),
        )
        for name, error in errors.items()
    ]
    return a_run(folder, Section(title="All", name="all"), *sections)


def test_a_run_of_several_estimates_takes_part_with_each(tmp_path, capsys):
    both, one = several(tmp_path / "two", x=0.3, y=0.2), a_run(tmp_path / "one", a_section(0.1))
    runs = [part for run in load_runs([both, one]) for part in split_run(run)]
    assert [run.name for run in runs] == ["two/X", "two/Y", "one"]
    for run in runs:
        jsonschema.validate(run.document, schema_of(run.document))
    keys, _, measured = comparison_section(runs).tables
    assert keys.rows[0] == ("Error", "m", "0.3", "0.2", "0.10")
    assert measured.rows[0] == ("error", "m", "0.3", "0.2", "0.1")
    assert measured.best == ((0, 4),)
    assert main(["report", "compare", str(both), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "two/X" in said
    assert "two/Y" in said


def test_runs_with_nothing_in_common_say_so(tmp_path):
    runs = load_runs(
        [a_run(tmp_path / "a"), a_run(tmp_path / "b", a_section(name="other", title="Other"))]
    )
    assert "no section in common (a: thing; b: other)" in comparison_section(runs).verdict


def test_a_table_is_printed_in_columns_with_the_best_starred():
    table = Table(
        title="APE",
        caption="As *given*.",
        columns=("method", "APE [m]", "note"),
        rows=(("orb_slam", "0.10", "x"), ("b", "10.25", None), ("c", "3 ± 0.1", "y")),
        best=((0, 1),),
    )
    assert table_text(table).splitlines() == [
        "APE",
        "As *given*.",
        "method      APE [m]  note",
        "orb_slam     0.10 *  x",
        "b           10.25    –",
        "c         3 ± 0.1    y",
        "* best",
    ]
