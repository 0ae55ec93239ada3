# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch files of this workspace, as what a person chooses from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from aerotwin_launch import packages
from aerotwin_launch.arguments import ENDING, SHIPPED
from aerotwin_launch.errors import LaunchError
from aerotwin_launch.expand import declared_arguments
from aerotwin_launch.plan import Argument
from aerotwin_launch.schema import load_actions


@dataclass(frozen=True, kw_only=True)
class ShippedLaunchFile:
    """A launch file that `aerotwin launch NAME` runs from any folder."""

    name: str
    path: Path
    summary: str  # the first paragraph of the comment at its head
    arguments: tuple[Argument, ...]


def shipped_launch_files(
    environment: Mapping[str, str], *, declaring: Collection[str] = ()
) -> list[ShippedLaunchFile]:
    """Return the launch files of this workspace that declare all of these arguments, by name.

    Raises `LaunchError` if the package that holds them is not installed.
    """
    try:
        folder = packages.package_share(SHIPPED, environment) / "launch"
    except packages.LookupFailure as error:
        raise LaunchError(None, str(error)) from None
    found = []
    for path in sorted(folder.glob(f"*{ENDING}")):
        arguments = tuple(declared_arguments(load_actions(path)))
        if {*declaring} <= {argument.name for argument in arguments}:
            name, summary = path.name.removesuffix(ENDING), _summary(path)
            file = ShippedLaunchFile(name=name, path=path, summary=summary, arguments=arguments)
            found.append(file)
    return found


def _summary(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [line.lstrip("#").strip() for line in takewhile(lambda line: line[:1] == "#", lines)]
    paragraph = takewhile(bool, (text for text in texts if not text.startswith("SPDX-")))
    return " ".join(paragraph)
