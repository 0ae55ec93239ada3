# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import itertools

import pytest

from aerotwin_campaign import Specifications, load_campaign, make_campaign
from aerotwin_core.errors import ParameterError

TEXT = """
name: wind
run: my_package.flights:fly
base:
  wind: {east_m_s: 0.0, gust_m_s: 1}
  events:
    - {name: gnss_lost, at_s: 20}
    - {name: gust, at_s: 30}
axes:
  wind.east_m_s: {from: 0, to: 8, steps: 3}
  events.gnss_lost.at_s: [10, 20]
seeds: {first: 5, count: 2}
repeats: 2
"""
BASE = {"name": "x", "run": "m:f", "base": {"wind": {"east_m_s": 0.0}, "rows": [1, 2]}}


def campaign(**content):
    return make_campaign(BASE | content, where="c.yaml")


def written(tmp_path, text):
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    return path


def test_a_grid_is_the_product_of_axes_seeds_and_repeats(tmp_path):
    found = load_campaign(written(tmp_path, TEXT))
    specs = Specifications(found, {})
    expected = list(itertools.product([0.0, 4.0, 8.0], [10, 20], [5, 6], [0, 1]))
    assert found.n_runs == len(specs) == 24
    assert [
        (s.document["wind"]["east_m_s"], s.document["events"][0]["at_s"], s.seed, s.repeat)
        for s in specs
    ] == expected
    assert specs[-1].document == {
        "wind": {"east_m_s": 8.0, "gust_m_s": 1},
        "events": [{"name": "gnss_lost", "at_s": 20}, {"name": "gust", "at_s": 30}],
    }
    assert specs.axis_values(4) == {"wind.east_m_s": 0.0, "events.gnss_lost.at_s": 20}
    assert found.documents[""]["events"][0]["at_s"] == 20  # is not changed by what is made of it
    with pytest.raises(IndexError):
        specs[24]


def test_samples_are_points_of_the_plan_through_the_axes():
    axes = {"wind.east_m_s": {"uniform": {"from": 10, "to": 20}}, "rows.1": ["a", "b"]}
    found = campaign(axes=axes, sampling="latin_hypercube", samples=8, sampling_seed=3, seeds=[7])
    documents = [spec.document for spec in Specifications(found, {})]
    east = sorted(document["wind"]["east_m_s"] for document in documents)
    assert [int((x - 10) / 10 * 8) for x in east] == list(range(8))
    assert sorted(document["rows"][1] for document in documents) == ["a"] * 4 + ["b"] * 4
    assert all(document["rows"][0] == 1 for document in documents)


def test_without_axes_the_base_is_the_document():
    assert [s.document for s in Specifications(campaign(seeds=[1, 2]), {})] == [BASE["base"]] * 2


def test_a_new_path_is_added():
    found = campaign(axes={"wind.gust.at_s": [1, 2]}, new=["wind.gust.at_s"])
    assert Specifications(found, {})[1].document["wind"] == {"east_m_s": 0.0, "gust": {"at_s": 2}}


@pytest.mark.parametrize(
    ("line", "key", "text"),
    [
        ("base: {a: 1}\nrepats: 2", "repats", "unknown key 'repats'; did you mean 'repeats'"),
        ("base: {a: 1}\nrepeats: zwei", "repeats", "expected an integer"),
        ("base: {a: 1}\nsampling: sobl", "sampling", "expected one of grid"),
        ("base: {a: 1}\ntimeout_s: -1", "timeout_s", "expected at least"),
        ("base: {a: 1}\nseeds: [1, x]", "seeds", r"seeds\[1\]: expected a whole number"),
        ("base: {a: 1}\nfail_if: [x is 3]", "fail_if", r"fail_if\[0\]: expected NAME > NUMBER"),
        ("base: {a: 2026-01-01}", "base", "base.a: expected a number, text"),
        ("base: {a: .nan}", "base", "base.a: expected a finite number"),
        ("base: {1: 2}", "base", "base: expected texts as keys"),
    ],
)
def test_an_error_has_line_and_key(tmp_path, line, key, text):
    path = written(tmp_path, f"name: x\nrun: m:f\n{line}\n")
    number = next(k for k, row in enumerate(path.read_text().splitlines(), 1) if key in row)
    with pytest.raises(ParameterError, match=f"campaign.yaml:{number}: .*{text}"):
        load_campaign(path)


def test_the_line_of_an_axis_is_its_own(tmp_path):
    path = written(tmp_path, TEXT.replace("gnss_lost.at_s:", "gnss_last.at_s:"))
    with pytest.raises(
        ParameterError,
        match=r"yaml:11: axes.events.gnss_last.at_s: events has no 'gnss_last'; "
        r"did you mean gnss_lost",
    ):
        load_campaign(path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"axes": {"wind.east": [1]}}, "did you mean east_m_s.*'wind.east' under 'new'"),
        ({"axes": {"rows.2": [1]}}, "rows has no '2'; it has 0, 1"),
        ({"axes": {"wind.east_m_s.x": [1]}}, "expected a mapping or a list at wind.east_m_s"),
        ({"axes": {"wind..x": [1]}}, "empty part"),
        ({"axes": {"wind": [1], "wind.east_m_s": [1]}}, "'wind.east_m_s' is inside it"),
        ({"axes": {"wind.east_m_s": [1]}, "new": ["wind.east_m_s"]}, "has 'wind.east_m_s' already"),
        ({"new": ["y"]}, "'y' is not among the axes"),
        ({"axes": {"wind.east_m_s": {"uniform": {"from": 0, "to": 1}}}}, "has no grid"),
        ({"samples": 5}, "a grid has no samples"),
        ({"sampling": "sobol", "axes": {"rows.0": [1]}}, "'samples' is missing"),
        ({"sampling": "sobol", "samples": 4}, "no axes to sample"),
        ({"run": "m.f"}, "run: expected package.module:function"),
        ({"run": "os.path:a;b"}, "run: expected package.module:function"),
        ({"name": "../x"}, "name: expected letters"),
        ({"seeds": [1, 1]}, "twice"),
        ({"seeds": {"first": -1, "count": 2}}, "seeds.first: expected 0 or more"),
        ({"seeds": {"first": 1, "count": 0}}, "seeds.count: expected 1 to"),
        ({"seeds": []}, "expected a list"),
    ],
)
def test_what_is_no_campaign_is_refused(content, text):
    with pytest.raises(ParameterError, match=text):
        campaign(**content)


@pytest.mark.parametrize("name", ["name", "run", "base"])
def test_what_is_required_is_named(name):
    content = {key: value for key, value in BASE.items() if key != name}
    with pytest.raises(ParameterError, match=f"c.yaml: '{name}' is missing"):
        make_campaign(content, where="c.yaml")


def test_more_runs_than_can_be_meant_are_refused_before_they_are_made():
    axes = {
        "rows.0": {"from": 1, "to": 1000, "step": 1},
        "rows.1": {"from": 1, "to": 1000, "step": 1},
    }
    assert campaign(axes=axes).n_runs == 1_000_000
    with pytest.raises(ParameterError, match=r"1000000 combinations .* 2 seeds .* 2000000 runs"):
        campaign(axes=axes, seeds=[1, 2])
