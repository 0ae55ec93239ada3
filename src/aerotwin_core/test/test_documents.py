# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Documents that expand, nest or count beyond what a document needs, and those that do not."""

import json
import tracemalloc

import pytest
import yaml

from aerotwin_core import documents
from aerotwin_core.documents import DocumentError, parse_json, parse_yaml, read_json
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, read_yaml

LAUGHS = "\n".join(
    [f"a0: &a0 [{', '.join('x' * 10)}]"]
    + [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
)
"""A billion laughs: each line holds the one before ten times."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "stands for more than"),
        ("a: &a [1, *a]", r"\*a holds itself"),
        ("[" * 50_000, "nested more than 100 deep"),
        ("{a: " * 50_000, "nested more than 100 deep"),
        ("a: " + "9" * 5_000, "an integer has 5000 digits"),
        ("a: 0x" + "f" * 5_000, "an integer has 5002 digits"),
        ("a: 1" + ":59" * 5_000, "an integer has 15001 digits"),
        ("[" + "1," * documents.MAX_NODES + "1]", "stands for more than"),
        ("a: 2001-13-45", "month must be in 1..12"),
        ("a: !!timestamp x", "NoneType"),
        ("{a: 1, a: 2}", "'a' is there twice"),
        ("a: !!python/object/apply:os.getpid []", "could not determine a constructor"),
        ("? [a]\n: 1", "unhashable"),
        ("a: \x1b[2J", "special characters|control characters"),
    ],
)
def test_yaml_beyond_the_limits_is_refused_in_one_line(text, message):
    with pytest.raises(DocumentError, match=message) as found:
        parse_yaml(text)
    assert str(found.value).isprintable()
    assert len(str(found.value)) < 400


def test_refusing_aliases_takes_no_memory():
    tracemalloc.start()
    try:
        with pytest.raises(DocumentError):
            parse_yaml(LAUGHS)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_aliases_anchors_and_merges_that_are_meant_are_read():
    text = "base: &b {x: 1, y: [1.5, two]}\nother: {<<: *b, z: 3}\nlist: [*b, *b]\n"
    assert parse_yaml(text) == yaml.safe_load(text)
    assert parse_yaml(text.encode()) == yaml.safe_load(text)


def test_depth_and_digits_up_to_the_limits_are_read():
    n = documents.MAX_DEPTH
    text = "[" * n + "9" * documents.MAX_DIGITS + "]" * n
    for parse in (parse_yaml, parse_json):
        value = parse(text)
        for _ in range(n):
            (value,) = value
        assert value == int("9" * documents.MAX_DIGITS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000, "nested more than 100 deep"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested more than 100 deep"),
        ('["\\\\", "' + "x" * (1 << 20) + '", ' + "[" * 100, "nested more than 100 deep"),
        ("9" * 5_000, "5000 digits"),
        ("{", "Expecting property name"),
        (b"\xff\xfe{", "."),
    ],
)
def test_json_beyond_the_limits_is_refused_in_one_line(text, message):
    with pytest.raises(DocumentError, match=message) as found:
        parse_json(text)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 5_000 + '"{\\',
        ["]" * 500, "[" * 500] * 3000,  # the quotation marks lie on either side of a step
        [[], {}] * 5_000,
        {"\\": '\\"[' * 500},
    ],
)
def test_brackets_in_texts_and_beside_each_other_are_not_depth(value):
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value).encode()) == value


def test_nan_is_refused_where_json_is_meant_to_be_strict():
    assert str(parse_json("[NaN, -Infinity]")) == "[nan, -inf]"
    for text in ("[NaN]", "[-Infinity]"):
        with pytest.raises(DocumentError, match=f"{text[1:-1]} is not JSON"):
            parse_json(text, takes_nan=False)


def test_a_document_that_is_too_large_is_not_parsed(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(["x" * 100]))
    with pytest.raises(DocumentError, match="more than 100 bytes"):
        read_json(tmp_path / "a.json", max_bytes=100)
    assert read_json(tmp_path / "a.json") == ["x" * 100]


@pytest.mark.parametrize("text", [LAUGHS, "[" * 50_000, "9" * 5_000])
def test_a_parameter_file_is_refused_with_its_name(tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=r"a\.yaml(:1)?: not valid YAML \("):
        read_yaml(path)


def test_a_message_does_not_write_out_a_large_value():
    value = ["x" * 1000] * 1000
    for _ in range(8):
        value = [value] * 1000
    with pytest.raises(ParameterError, match=r"a\.yaml: expected names with values, found \[") as e:
        load_parameters(object, value, where="a.yaml")
    assert len(str(e.value)) < 400
