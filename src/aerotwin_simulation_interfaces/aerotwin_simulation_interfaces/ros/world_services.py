# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds: those that can be loaded, the current one, another one, none."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from simulation_interfaces.msg import Resource, WorldResource
from simulation_interfaces.srv import GetAvailableWorlds, GetCurrentWorld, LoadWorld, UnloadWorld

from aerotwin_core.errors import UserError
from aerotwin_simulation_interfaces.ros.answers import (
    FAILED,
    INCORRECT_STATE,
    NOT_FOUND,
    UNSUPPORTED,
    RequestRefused,
    on_loop,
    shown,
)
from aerotwin_simulation_interfaces.ros.entity_filters import tags_filter
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator.run_control import ChangeOrder, RunState
from aerotwin_worlds import find_world, known_worlds, load_world
from aerotwin_worlds.description import SOURCES
from aerotwin_worlds.loading import read_description

MAX_SOURCES, MAX_FILES = 16, 1000
MAX_URI = 4096


class WorldServices:
    """Handlers of the services about worlds; files are read on the thread of the service."""

    def __init__(self, node: SimulatorHost) -> None:
        self._node, self._control = node, node.control

    def get_available_worlds(self, request: Any, response: Any) -> None:
        """List the known worlds, and those in folders named by the request."""
        matches = tags_filter(request.filter)
        if len(request.additional_sources) > MAX_SOURCES:
            raise RequestRefused(FAILED, f"at most {MAX_SOURCES} additional sources are searched")
        names, errors = list(known_worlds()), []
        for source in request.additional_sources:
            try:
                names += _worlds_in(source)
            except (UserError, OSError) as error:
                errors.append(f"{shown(source)}: {shown(str(error))}")
        worlds = []
        for name in names:
            try:
                worlds.append(_described(name))
            except (UserError, OSError) as error:
                errors.append(shown(str(error)))
        response.worlds = [world for world in worlds if matches(world.tags)]
        if errors and not (request.continue_on_error and worlds):
            code = GetAvailableWorlds.Response.DEFAULT_SOURCES_FAILED
            raise RequestRefused(FAILED if request.additional_sources else code, "; ".join(errors))

    def get_current_world(self, _: Any, response: Any) -> None:
        """Report the loaded world."""

        def read() -> tuple[str, str]:
            if self._node.simulation is None:
                code = GetCurrentWorld.Response.NO_WORLD_LOADED
                raise RequestRefused(code, "no world is loaded")
            return self._node.parameters.world, self._node.simulation.world.name

        uri, name = on_loop(self._node, read)
        response.world = _described(uri)
        response.world.name = name

    def load_world(self, request: Any, response: Any) -> None:
        """Load another world and stop there; the vehicles stand at its start."""
        codes, resource = LoadWorld.Response, request.world_resource
        if not resource.uri:
            if resource.resource_string:
                raise RequestRefused(UNSUPPORTED, "a world is loaded by its uri, not as a text")
            raise RequestRefused(codes.NO_RESOURCE, "uri is empty; name a world")
        name = _name_of(resource.uri)
        try:
            _described(name)
        except (UserError, OSError, ValueError) as error:
            raise RequestRefused(NOT_FOUND, shown(str(error))) from None
        before = on_loop(self._node, self._begin_loading)
        try:
            world = load_world(name)
        except (UserError, OSError, ValueError) as error:
            on_loop(self._node, self._give_up_loading, before)
            raise RequestRefused(codes.RESOURCE_PARSE_ERROR, str(error)) from None
        except BaseException:
            on_loop(self._node, self._give_up_loading, before)
            raise
        missing = "; ".join(world.missing)
        if missing and not request.ignore_missing_or_unsupported_assets:
            on_loop(self._node, self._give_up_loading, before)
            raise RequestRefused(codes.MISSING_ASSETS, missing)
        change = ChangeOrder(kind="load", state=RunState.STOPPED, world=world, world_name=name)
        order = on_loop(self._node, self._control.order_change, change)
        if reason := order.ended.result():
            raise RequestRefused(FAILED, f"no flight in {shown(name)}: {reason}")
        response.world = _described(name)
        response.world.name = world.name

    def unload_world(self, _: Any, __: Any) -> None:
        """End the simulation; a world can be loaded afterwards."""

        def order() -> ChangeOrder:
            if self._node.simulation is None:
                raise RequestRefused(UnloadWorld.Response.NO_WORLD_LOADED, "no world is loaded")
            return self._control.order_change(ChangeOrder(kind="unload", state=RunState.NO_WORLD))

        if reason := on_loop(self._node, order).ended.result():
            raise RequestRefused(FAILED, reason)

    # -- on the loop --------------------------------------------------------------------------

    def _begin_loading(self) -> RunState:
        state = self._control.state
        if state in (RunState.LOADING_WORLD, RunState.QUITTING):
            raise RequestRefused(INCORRECT_STATE, f"the state is {state.name}")
        self._control.begin_loading()
        return state

    def _give_up_loading(self, before: RunState) -> None:
        self._control.state = before
        self._node.pacer.restart()


def _name_of(uri: str) -> str:
    """Return name or path of a world from a uri. Raises RequestRefused for a remote one."""
    if len(uri) > MAX_URI or "\0" in uri:
        raise RequestRefused(FAILED, f"uri must have at most {MAX_URI} characters, and no NUL")
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise RequestRefused(FAILED, f"uri '{shown(uri)}': {error}") from None
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return unquote(parts.path)
    if parts.scheme:
        code = LoadWorld.Response.UNSUPPORTED_FORMAT
        text = f"uri must be a name, a path or file:///PATH, got '{shown(uri)}'"
        raise RequestRefused(code, text)
    return uri


def _worlds_in(source: str) -> list[str]:
    """Return the paths of the world files in a folder."""
    folder = Path(_name_of(source))
    if not folder.is_dir():
        raise UserError("it is no folder of this machine")
    found = sorted([*folder.glob("*.yaml"), *folder.glob("*/world.yaml")])
    return [str(path) for path in found[:MAX_FILES]]


def _described(name: str) -> WorldResource:
    """Return a world's entry: its uri is what LoadWorld takes."""
    seeded = re.fullmatch(r"(.+)@[0-9]{1,9}", name)
    description = read_description(find_world(seeded[1] if seeded else name))
    source = next(key for key in SOURCES if getattr(description, key))
    return WorldResource(
        name=description.name,
        world_resource=Resource(uri=name),
        description=f"{source}; {description.attribution}; {description.licence}",
        tags=[source],
    )
