# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of commands: the help of each verb, as its own parser prints it."""

import importlib
from importlib.metadata import entry_points

from aerotwin_core.cli import GROUP, parser_of
from source_tree import code, plain, table


def verb_page() -> str:
    """Return a table of all verbs, and the help of each."""
    summaries, sections = [], []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        verb = entry.name.replace(".", " ")
        module = importlib.import_module(entry.value)
        parser = parser_of(module, f"aerotwin {verb}")
        package = entry.value.partition(".")[0]
        anchor = f"aerotwin-{entry.name.replace('.', '-')}"
        summaries.append([f"[`{verb}`](#{anchor})", plain(parser.description or ""), code(package)])
        sections.append(f"## aerotwin {verb}\n\n```text\n{parser.format_help().rstrip()}\n```\n")
    return table(["command", "what it does", "package"], summaries) + "\n" + "\n".join(sections)
