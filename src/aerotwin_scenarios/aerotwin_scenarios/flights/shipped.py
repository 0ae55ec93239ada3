# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios that come with aerotwin, in config/scenarios."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed, printable

ALL = "all"
"""Stands for all scenarios that come with aerotwin."""


def scenarios_folder() -> Path:
    """Return the folder of the shipped scenarios."""
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory("aerotwin_bringup")) / "config" / "scenarios"


def shipped_scenarios() -> dict[str, Path]:
    """Return the files of the shipped scenarios by name."""
    return {path.stem: path for path in sorted(scenarios_folder().glob("*.yaml"))}


def find_scenario(name: str) -> Path:
    """Return the file of a scenario: a path, or the name of a shipped one.

    Raises
    ------
    UserError
        If there is none.
    """
    path = Path(name)
    if path.is_file():
        return path
    known = shipped_scenarios()
    if name in known:
        return known[name]
    raise UserError(
        f"no scenario '{printable(name, 100)}': neither a file nor one of {listed(known, 40)}"
    )


def find_scenarios(names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of scenarios: paths, names of shipped ones, or `all` of these.

    Raises
    ------
    UserError
        If there is no such scenario.
    """
    for name in names:
        if name == ALL:
            yield from shipped_scenarios().values()
        else:
            yield find_scenario(name)
