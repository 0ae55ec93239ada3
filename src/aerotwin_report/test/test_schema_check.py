# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import copy
import json

import jsonschema
import numpy as np
import pytest

from aerotwin_report import faults, measures, schema_of

SCHEMAS = {
    "types": {"type": ["integer", "null"]},
    "number": {"type": "number", "minimum": 0, "maximum": 2},
    "const": {"const": 1},
    "enum": {"enum": ["a", 1, None]},
    "object": {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "number"},
    },
    "closed": {"properties": {"a": True}, "additionalProperties": False},
    "array": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    "any": {"anyOf": [{"type": "null"}, {"type": "array"}]},
    "reference": {
        "$ref": "#/$defs/share",
        "$defs": {"share": {"type": "number", "maximum": 1}},
    },
}
VALUES = [
    None, True, False, 0, 1, 1.0, 1.5, 3, -1, "", "a", [], [1], [1, "a"], [1, 2, 3],
    {}, {"a": "x"}, {"a": 1}, {"a": "x", "b": 2}, {"a": "x", "b": "y"}, {"b": 1},
]  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_passes_is_what_jsonschema_passes(name):
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    for value in VALUES:
        assert (not faults(value, SCHEMAS[name])) == validator.is_valid(value), value


def mutants(document, rng, n):
    """Return copies of a document with one part removed, renamed or replaced."""
    for _ in range(n):
        mutant = copy.deepcopy(document)
        node = mutant
        while isinstance(node, dict) and node:
            key = list(node)[rng.integers(len(node))]
            if not isinstance(node[key], dict) or not node[key] or rng.random() < 0.3:
                kind = rng.integers(3)
                value = node.pop(key)
                if kind == 1:
                    node[f"{key}_"] = value
                elif kind == 2:
                    node[key] = [None, True, -1, 1.5, "text", [], {}][rng.integers(7)]
                break
            node = node[key]
        yield mutant


SECTION = {
    "type": "object",
    "required": ["n_pairs", "coverage", "alignment", "ape"],
    "properties": {
        "n_pairs": {"type": "integer", "minimum": 0},
        "coverage": {"title": "coverage", "better": "higher", "$ref": "#/$defs/share"},
        "alignment": {
            "type": "object",
            "required": ["mode", "T_reference_estimate"],
            "properties": {
                "mode": {"type": "string"},
                "T_reference_estimate": {"$ref": "#/$defs/transform"},
            },
        },
        "ape": {"title": "APE aligned", "better": "lower", "$ref": "#/$defs/pose_errors"},
        "rpe": {
            "title": "RPE",
            "better": "lower",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/pose_errors"},
        },
        "segments": {
            "title": "segments",
            "better": "lower",
            "required": ["lengths"],
            "properties": {
                "median_deg_m": {
                    "title": "turn drift, median",
                    "unit": "deg/m",
                    "$ref": "#/$defs/number",
                }
            },
        },
    },
}


def a_document():
    errors = {"n": 2, "rmse": 0.1, "mean": 0.1, "median": 0.1, "std": 0.0, "min": 0.1, "max": 0.1}
    pose = {"trans_m": errors, "rot_deg": None}
    return {
        "schema_version": 2,
        "title": "Run",
        "summary": "",
        "created": "2026-11-20T12:00:00+00:00",
        "is_complete": True,
        "warnings": [],
        "seed": 7,
        "world": {"name": "cliff"},
        "versions": {"python": "3.12"},
        "configuration": {"a": 1},
        "section_titles": {"trajectory": "Trajectory"},
        "section_warnings": {},
        "section_schemas": {"trajectory": SECTION},
        "verdicts": {"trajectory": "good"},
        "headline": [],
        "sections": {
            "trajectory": {
                "n_pairs": 2,
                "coverage": 0.5,
                "alignment": {
                    "mode": "se3",
                    "T_reference_estimate": np.eye(4).tolist(),
                    "scale": 1.0,
                    "is_determined": True,
                    "removed": {},
                },
                "ape": pose,
                "ape_unaligned": pose,
                "rpe": {"metre": pose},
                "segments": {"median_percent": None, "median_deg_m": 0.1, "lengths": []},
                "controls": [],
            }
        },
    }


def test_mutants_of_a_document_are_judged_as_jsonschema_does():
    validator = jsonschema.Draft202012Validator(schema_of(a_document()))
    n_refused = 0
    for mutant in mutants(a_document(), np.random.default_rng(1000), 600):
        found = faults(mutant, schema_of(a_document()))
        assert (not found) == validator.is_valid(mutant), (found, json.dumps(mutant)[:2000])
        n_refused += bool(found)
    assert n_refused > 200  # the mutants do break it


def test_a_fault_names_place_expected_and_found():
    document = a_document()
    assert faults(document, schema_of(a_document())) == []
    document["sections"]["trajectory"]["coverage"] = 1.2
    del document["sections"]["trajectory"]["ape"]
    assert faults(document, schema_of(a_document())) == [
        "sections.trajectory: lacks 'ape'",
        "sections.trajectory.coverage: expected at most 1, found 1.2",
    ]


def test_a_keyword_that_is_not_understood_is_refused():
    with pytest.raises(ValueError, match="'pattern' at a is not understood"):
        faults({"a": "x"}, {"properties": {"a": {"pattern": "y"}}})
    with pytest.raises(ValueError, match="no target"):
        faults(1, {"$ref": "#/$defs/nowhere"})


def test_measures_are_titled_numbers_of_which_one_side_is_better():
    found = {measure.path: measure for measure in measures(a_document(), schema_of(a_document()))}
    rmse = found["sections.trajectory.ape.trans_m.rmse"]
    assert rmse.label == "APE aligned, position, RMSE"
    assert (rmse.unit, rmse.better, rmse.value) == ("m", "lower", 0.1)
    assert found["sections.trajectory.rpe.metre.trans_m.mean"].label == "RPE, metre, position, mean"
    assert found["sections.trajectory.coverage"].better == "higher"
    assert "sections.trajectory.n_pairs" not in found
    assert "sections.trajectory.segments.median_percent" not in found  # it is null
    assert not any(measure.path.endswith(".min") for measure in found.values())
