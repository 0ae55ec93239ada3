# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import json
import re
import struct
import zlib
from datetime import UTC, datetime
from html.parser import HTMLParser

import jsonschema
import numpy as np
import pytest

from aerotwin_core.plots import new_figure, render_svg, style
from aerotwin_report import Figure, Headline, Section, Table, schema, schema_of, write_report

WHEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
EVIL = '<script>alert("x")</script>&\x1b[2J\x9b\u202e\0'


def png():
    """Return a one-pixel PNG, written by hand."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = zlib.compress(b"\0\x7f")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def plot(name="plot"):
    figure = new_figure()
    with style():
        figure.subplots().plot([0, 1, 2], [0.0, 1.0, 0.5])
    return render_svg(figure, name)


def some_section(**changes):
    values = {
        "title": "Camera",
        "name": "camera",
        "text": "First.\n\nSecond.",
        "headline": (Headline(label="Frames", value="1200", meaning="all of them", status="good"),),
        "figures": (
            Figure(title="A frame", png=png()),
            Figure(title="A plot", caption="what to see", svg=plot(), is_wide=True),
        ),
        "tables": (Table(title="T", columns=("what", "value"), rows=(("a", "1.5"), ("b", "-2"))),),
        "metrics": {"n_frames": 1200},
    }
    return Section(**(values | changes))


def write(folder, *sections, **changes):
    arguments = {
        "title": "Run",
        "sections": sections,
        "configuration": {"seed": 7},
        "created": WHEN,
    }
    path = write_report(folder, **(arguments | changes))
    return path.read_text("utf-8"), json.loads((folder / "metrics.json").read_text("utf-8"))


class Page(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    void = ("meta", "link", "img", "br", "input")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.links, self.ids, self.scripts = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [v for k, v in attrs if k in ("href", "src", "xlink:href")]
        if tag == "script":
            self.scripts.append(values.get("type"))
        if "id" in values:
            self.ids.append(values["id"])
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(tmp_path):
    html, _ = write(tmp_path, some_section(), warnings=["partial"], world={"name": "cliff"})
    page = Page(html)
    assert page.open == []
    assert all(link.startswith(("#", "data:")) for link in page.links), page.links
    assert "url(http" not in html
    assert "@import" not in html
    assert sorted(p.name for p in tmp_path.iterdir()) == ["metrics.json", "report.html"]


def test_every_link_within_the_page_has_its_target_and_ids_differ(tmp_path):
    other = some_section(
        title="Other", name="other", figures=(Figure(title="B", svg=plot("other")),)
    )
    page = Page(write(tmp_path, some_section(), other)[0])
    targets = {link[1:] for link in page.links if link.startswith("#")}
    assert targets <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_no_table_leaves_half_of_the_page_empty(tmp_path):
    narrow = Table(title="narrow", columns=("a",), rows=(("1",),))
    broad = Table(title="broad", columns=tuple("abcdef"), rows=(tuple("123456"),))
    tables = (narrow, broad, narrow, narrow, broad, narrow)
    page, _ = write(tmp_path, some_section(tables=tables))
    chapter = page[page.index('<div class="tables">') : page.index('id="configuration"')]
    cards = re.findall(r'class="card table( wide)?"><h3>(\w+)', chapter)
    assert [title for wide, title in cards if not wide] == ["narrow", "narrow"]
    assert [bool(wide) for wide, _ in cards] == [True, True, False, False, True, True]


def test_text_from_outside_is_text(tmp_path):
    section = some_section(
        title=EVIL,
        text=EVIL,
        headline=(Headline(label=EVIL, value=EVIL, unit=EVIL, meaning=EVIL),),
        figures=(Figure(title=EVIL, caption=EVIL, png=png()),),
        tables=(Table(title=EVIL, columns=(EVIL,), rows=((EVIL,),), caption=EVIL),),
        warnings=(EVIL,),
    )
    html, _ = write(
        tmp_path,
        section,
        title=EVIL,
        summary=EVIL,
        warnings=[EVIL],
        configuration={EVIL: EVIL},
        world={"name": EVIL, "attribution": EVIL, "licence": EVIL},
    )
    assert Page(html).scripts == ["text/plain", None]  # the colours, which do not run; the script
    assert 'alert("x")' not in html
    assert not set(html) & set("\x1b\x9b\u202e\0")
    assert html.count(r"\x1b[2J\x9b\u202e\x00") > 10


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>",
        '<rect onload="x()"/>',
        "<foreignObject/>",
        '<image href="http://example.org/a.png"/>',
        '<a href="javascript:1"/>',
        '<rect style="fill:url(http://example.org/a)"/>',
        "<style>@import 'x';</style>",
        "<rect>",
    ],
)
def test_pictures_that_run_or_load_are_refused(tmp_path, inside):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
    with pytest.raises(ValueError, match="figure 'bad'"):
        write(tmp_path, some_section(figures=(Figure(title="bad", svg=svg),)))
    assert not list(tmp_path.iterdir())


def test_a_doctype_in_a_picture_is_refused(tmp_path):
    svg = '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>'
    with pytest.raises(ValueError, match="declaration"):
        write(tmp_path, some_section(figures=(Figure(title="bad", svg=svg),)))


def test_metrics_obey_their_schema(tmp_path):
    jsonschema.Draft202012Validator.check_schema(schema())
    _, document = write(tmp_path, some_section(), warnings=["stopped early"])
    jsonschema.validate(document, schema())
    assert document["is_complete"] is False
    assert document["seed"] == 7
    assert document["sections"] == {"camera": {"n_frames": 1200}}
    assert document["versions"]["numpy"] == np.__version__


def test_a_section_that_breaks_the_schema_is_seen_by_it(tmp_path):
    broken = some_section(metrics={"n_pairs": 3}, schema={"required": ["n_pairs", "coverage"]})
    _, document = write(tmp_path, broken)
    with pytest.raises(jsonschema.ValidationError, match="coverage"):
        jsonschema.validate(document, schema_of(document))


def test_numbers_that_json_lacks_become_null(tmp_path):
    metrics = {"a": float("nan"), "b": np.float64(1.5), "c": np.arange(2), "d": (np.inf, 1)}
    _, document = write(tmp_path, some_section(metrics=metrics))
    assert document["sections"]["camera"] == {"a": None, "b": 1.5, "c": [0, 1], "d": [None, 1]}


def test_two_sections_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="different names"):
        write(tmp_path, some_section(), some_section())


def test_the_banner_stands_before_all_numbers(tmp_path):
    html, _ = write(tmp_path, some_section(), warnings=["not repeatable"])
    assert html.index("not repeatable") < html.index('class="tiles"')
    assert 'class="banner"' not in write(tmp_path, some_section())[0]


def test_the_same_input_gives_the_same_bytes(tmp_path):
    first, second = (write(tmp_path / name, some_section()) for name in ("a", "b"))
    assert first == second


def test_licence_and_attribution_of_the_world_are_shown(tmp_path):
    world = {"name": "village", "attribution": "A. Surveyor", "licence": "CC BY 4.0"}
    html, _ = write(tmp_path, some_section(), world=world)
    assert "World: A. Surveyor" in html
    assert "Licence of the world: CC BY 4.0" in html


def test_plots_follow_the_theme():
    svg = plot()
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert "<metadata" not in svg
