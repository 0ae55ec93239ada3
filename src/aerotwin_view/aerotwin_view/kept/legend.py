# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a recorded flight is and what its colours mean, as an element of its page."""

from collections.abc import Mapping
from html import escape

from aerotwin_view.recorded.shown_flight import ShownFlight
from aerotwin_view.robot_topics import kind_of
from aerotwin_view.scene.kind_colours import FLOWN, kind_meaning
from aerotwin_worlds import World

_STYLE = """
.aerotwin-legend {
  position: fixed; left: 1em; bottom: 4.2em; z-index: 2; box-sizing: border-box;
  max-width: min(26em, 100vw - 2em); max-height: 45vh; overflow: auto; padding: .5em .9em;
  background: #ffffffe6; color: #1c2430; border-radius: 6px; overflow-wrap: anywhere;
  font: 14px/1.45 system-ui, sans-serif;
}
.aerotwin-legend summary { cursor: pointer; }
.aerotwin-legend h1 { display: inline; font-size: 1.05em; }
.aerotwin-legend ul { list-style: none; margin: .5em 0; padding: 0; }
.aerotwin-legend p { margin: .5em 0 0; }
.aerotwin-legend small { color: #566274; }
"""
_KEYS = "Drag to turn, scroll to zoom, drag with the right button to move; the space bar pauses."


def legend_of(flight: ShownFlight, world: World | None, colours: Mapping[str, str]) -> bytes:
    """Return the element: name, length and robots of a flight, the colour of each kind of path.

    It folds; a phone begins with it folded.
    """
    motion = kind_of(flight.robots[0].topic)
    n, length_s = len(flight.robots), (flight.end_ns - flight.start_ns) * 1e-9
    robots = "one robot" if n == 1 else f"{n} robots"
    lines = "".join(
        f'<li><b style="color: {colour}" aria-hidden="true">\u25ac</b> '
        f"{escape(kind)}: {kind_meaning(kind)}{escape(f', by {motion}') * (kind == FLOWN)}</li>"
        for kind, colour in colours.items()
    )
    place = f"{world.name}; {world.attribution}; {world.licence}" if world is not None else ""
    texts = [f"{robots}, {length_s:.0f} s", *([place] if place else [])]
    return (
        f"<style>{_STYLE}</style>"
        '<details class="aerotwin-legend" open>'
        f"<summary><h1>{escape(flight.name)}</h1></summary>"
        + "".join(f"<p>{escape(text)}</p>" for text in texts)
        + f"<ul>{lines}</ul><small>{_KEYS}</small></details>"
        "<script>if (innerWidth < 600) document.querySelector('.aerotwin-legend').open = false"
        "</script>"
    ).encode("utf-8", "replace")
