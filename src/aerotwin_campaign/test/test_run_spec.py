# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import hashlib
import json

import pytest

from aerotwin_campaign import RunSpec, versions_of
from aerotwin_campaign.spec import short_id, spec_of_json
from aerotwin_core.errors import UserError
from support.campaigns import STUBS

SPEC = RunSpec(
    run="m:f",
    document={"wind": {"east_m_s": 0.1, "b": [1, "é", None, True]}, "a": 1e-7},
    seed=3,
    repeat=1,
    versions={"numpy": "2.0.0", "aerotwin": "0.1.0"},
)
TEXT = (
    r'{"document":{"a":1e-07,"wind":{"b":[1,"\u00e9",null,true],"east_m_s":0.1}},"repeat":1,'
    r'"run":"m:f","seed":3,"versions":{"aerotwin":"0.1.0","numpy":"2.0.0"}}'
)
ID = "279e823bed8e695ea51480b25dd3aa0d80edcb1e7aa80ee1d7f6b3be841bc0a8"


def test_the_id_of_a_specification_never_changes():
    assert SPEC.canonical_json() == TEXT
    assert SPEC.id == hashlib.sha256(TEXT.encode()).hexdigest() == ID
    assert short_id(SPEC.id) == ID[:16]


def test_the_order_of_keys_does_not_matter():
    document = {"a": 1e-7, "wind": {"b": [1, "é", None, True], "east_m_s": 0.1}}
    assert dataclasses.replace(SPEC, document=document).id == SPEC.id
    assert spec_of_json(SPEC.canonical_json()) == SPEC


@pytest.mark.parametrize(
    "change",
    [
        {"run": "m:g"},
        {"seed": 4},
        {"repeat": 0},
        {"versions": {"numpy": "2.0.1", "aerotwin": "0.1.0"}},
        {"versions": {"numpy": "2.0.0"}},
        {
            "document": {
                "wind": {"east_m_s": 0.1, "b": [1, "é", None, True]},
                "a": 1.0000000000000002e-7,
            }
        },
        {"document": {"wind": {"east_m_s": 0.1, "b": [1, "é", None, 1]}, "a": 1e-7}},
        {"document": {"wind": {"east_m_s": 0.1, "b": ["é", 1, None, True]}, "a": 1e-7}},
        {"document": {"wind": {"east_m_s": "0.1", "b": [1, "é", None, True]}, "a": 1e-7}},
    ],
)
def test_every_field_changes_the_id(change):
    assert dataclasses.replace(SPEC, **change).id != SPEC.id
    assert {field.name for field in dataclasses.fields(SPEC)} == set(json.loads(TEXT))


def test_versions_hold_libraries_and_the_digest_of_the_function():
    found = versions_of(f"{STUBS}:numeric")
    assert {"python", "machine", "numpy", "scipy", "numba", "aerotwin_simulator"} <= set(found)
    assert len(found[f"module {STUBS}"]) == 16


def test_a_module_that_is_missing_is_named_with_the_way_out():
    with pytest.raises(UserError, match=r"no module nowhere.else; .*folder that holds nowhere to"):
        versions_of("nowhere.else:f")
