# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One declaration of a number: its row, its tile, its schema, its short names, its reference."""

import pytest

from aerotwin_core.metric import (
    NUMBER,
    SHARE,
    Metric,
    MetricSet,
    mapping_schema,
    optional_schema,
    score_table,
)

COVERAGE = Metric("coverage", "coverage", "share of {n} poses", shown_in="%", digits=1,
                  better="higher", title="coverage", kind=SHARE, aliases=("coverage",),
                  is_side_by_side=True)  # fmt: skip
OFFSET = Metric("fit.offset_s", "offset", "of the stamps; {state}", unit="s", shown_in="ms",
                digits=1, needs="fit.std_s", spread="fit.std_s", aliases=("offset_s",))  # fmt: skip
RMSE = Metric("fit.rmse_m", "{what}, RMSE", "distance to truth", "over {n} poses", unit="m",
              better="lower", title="RMSE", aliases=("rmse_m",), is_side_by_side=True)  # fmt: skip
LOST = Metric("n_lost", "lost", "how often", table="", aliases=("n_lost",))
SET = MetricSet(
    title="Path",
    metrics=(COVERAGE, OFFSET, RMSE, LOST),
    structure=mapping_schema(
        n={"type": "integer"}, fit=optional_schema(mapping_schema(std_s=NUMBER))
    ),
    usual={"what": "APE"},
)
NUMBERS = {"n": 3, "coverage": 0.5, "n_lost": 1,
           "fit": {"offset_s": -0.05, "std_s": 0.0, "rmse_m": 0.12346}}  # fmt: skip
TEXTS = {"what": "APE aligned", "state": "not applied"}


def test_rows_show_values_in_their_units_with_the_texts_of_the_result():
    rows = [
        (s.label, s.text, s.unit, s.meaning, s.computed) for s in SET.scores({**NUMBERS, **TEXTS})
    ]
    assert rows == [
        ("coverage", "50.0", "%", "share of 3 poses", ""),
        ("offset", "-50.0", "ms ± 0.0", "of the stamps; not applied", ""),
        ("APE aligned, RMSE", "0.123", "m", "distance to truth", "over 3 poses"),
    ]
    table = score_table("Scores", SET.scores({**NUMBERS, **TEXTS}), "all")
    assert table.rows[0] == ("coverage", "50.0", "%", "share of 3 poses")
    assert (table.hints[2], table.caption) == ("over 3 poses", "all")


def test_a_number_without_what_its_row_needs_has_none_and_a_missing_one_is_a_dash():
    numbers = {**NUMBERS, "fit": None, **TEXTS}
    assert [(s.label, s.text) for s in SET.scores(numbers)] == [
        ("coverage", "50.0"),
        ("APE aligned, RMSE", "–"),
    ]
    assert RMSE.tile(numbers, label="APE").unit == "m"
    assert RMSE.tile(numbers, label="APE", is_dash_bare=True).unit == ""


def test_a_tile_takes_unit_and_direction_from_the_declaration():
    tile = RMSE.tile({**NUMBERS, **TEXTS}, label="APE", show="{:.1g}".format, meaning="of all")
    assert (tile.value, tile.unit, tile.better, tile.meaning) == ("0.1", "m", "lower", "of all")
    assert tile.computed == "over 3 poses"


def test_compared_numbers_stand_in_the_schema_and_the_structure_stays_as_it_is():
    fit = SET.schema()["properties"]["fit"]["anyOf"][1]
    assert fit["required"] == ["std_s", "rmse_m"]
    assert fit["properties"]["rmse_m"] == {
        "title": "RMSE", "unit": "m", "better": "lower", **NUMBER
    }  # fmt: skip
    assert SET.schema()["required"] == ["n", "fit", "coverage"]
    assert SET.structure["required"] == ["n", "fit"]
    referenced = MetricSet(title="", metrics=(RMSE,), structure=mapping_schema(fit=SHARE))
    assert referenced.schema() == mapping_schema(fit=SHARE)


def test_short_names_lead_to_paths_and_name_what_is_compared():
    assert SET.aliases() == {
        "coverage": "coverage", "offset_s": "fit.offset_s", "rmse_m": "fit.rmse_m",
        "n_lost": "n_lost",
    }  # fmt: skip
    assert SET.top_names() == ["coverage", "n_lost"]
    assert SET.side_by_side(NUMBERS) == {"coverage": 0.5, "rmse_m": 0.12346}
    assert list(SET.side_by_side_schema()["properties"]) == ["coverage", "rmse_m"]
    assert SET["fit.rmse_m"] is RMSE


def test_the_reference_needs_no_result():
    rows = SET.reference()
    assert rows[0] == ("coverage", "coverage: share of n poses", "", "higher", ("coverage",))
    assert rows[2][1] == "APE, RMSE: distance to truth"


@pytest.mark.parametrize("missing", ["n", "state"])
def test_a_template_without_its_text_is_an_error(missing):
    context = {**NUMBERS, **TEXTS}
    del context[missing]
    with pytest.raises(KeyError, match=missing):
        SET.scores(context)
