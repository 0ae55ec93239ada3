# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch files of this workspace, as what a person chooses from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from aerotwin_launch import packages
from aerotwin_launch.arguments import ENDING, SHIPPED
from aerotwin_launch.declared_values import (
    default_values,
    followed_arguments,
    parameter_arguments,
)
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
    default_values: Mapping[str, str]  # evaluated; without those that have none here
    followed: Mapping[str, tuple[str, ...]]  # by argument: others that its default is made from
    parameter_arguments: Mapping[str, str]  # by the parameter of a node that an argument sets


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
        actions = load_actions(path)
        arguments = tuple(declared_arguments(actions))
        if {*declaring} <= {argument.name for argument in arguments}:
            name, summary = path.name.removesuffix(ENDING), _summary(path)
            file = ShippedLaunchFile(
                name=name,
                path=path,
                summary=summary,
                arguments=arguments,
                default_values=default_values(actions, path, environment),
                followed=followed_arguments(actions),
                parameter_arguments=parameter_arguments(actions),
            )
            found.append(file)
    return found


def _summary(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [line.lstrip("#").strip() for line in takewhile(lambda line: line[:1] == "#", lines)]
    paragraph = takewhile(bool, (text for text in texts if not text.startswith("SPDX-")))
    text = " ".join(paragraph)
    return f"{text[:-1]}." if text.endswith(":") else text  # what follows the colon is not shown
