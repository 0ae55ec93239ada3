# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actions of a launch file to the processes to start.

Actions are executed in order, each in the scope left by those before it. No process is started
here, so that every error is found before the first process runs.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from aerotwin_core.limits import check_is_file
from aerotwin_launch.errors import FileLine, LaunchError, suggestion
from aerotwin_launch.node_command import absolute_namespace, is_namespace
from aerotwin_launch.parameter_values import global_parameter_value
from aerotwin_launch.plan import Argument, Plan, ProcessSpec
from aerotwin_launch.process_spec import environment_name, process_spec
from aerotwin_launch.schema import Action, load_actions
from aerotwin_launch.scope import NAMESPACE, Scope
from aerotwin_launch.substitutions import Template

MAX_DEPTH = 30
MAX_ACTIONS = 5_000
"""Of a launch file and all that it includes: includes and aliases multiply."""


def expand_launch_file(
    path: Path, arguments: Mapping[str, str], environment: Mapping[str, str]
) -> Plan:
    """Return the plan of a launch file with these arguments in this environment.

    Raises
    ------
    LaunchError
        If the file, an included one, or an argument is wrong; if a package, an executable or a
        parameter file is missing.
    """
    path = Path(os.path.abspath(path))
    actions = load_actions(path)
    if not any(action.kind == "include" for action in every_action(actions)):
        _refuse_unknown(arguments, {item.name for item in declared_arguments(actions)}, path)
    expansion = _Expansion(arguments, environment, path)
    known = expansion.file(actions, path, set(arguments))
    _refuse_unknown(arguments, known, path)
    return Plan(processes=tuple(expansion.processes), messages=tuple(expansion.messages))


def declared_arguments(actions: tuple[Action, ...], is_conditional: bool = False) -> list[Argument]:
    """Return the arguments that actions declare, including those behind conditions."""
    found: list[Argument] = []
    for action in actions:
        behind = is_conditional or "if" in action.values or "unless" in action.values
        if action.kind == "arg":
            found.append(_argument(action, behind))
        found += declared_arguments(action.children, behind)
    return found


def _argument(action: Action, is_conditional: bool) -> Argument:
    default = action.get("default")
    return Argument(
        name=action.get("name"),
        default=default.source if default is not None else None,
        choices=tuple(choice.get("value") for choice in action.get("choice") or ()),
        description=action.get("description") or "",
        is_conditional=is_conditional,
        place=action.place,
    )


def every_action(actions: tuple[Action, ...]) -> Iterator[Action]:
    """Iterate over actions, including those in groups."""
    for action in actions:
        yield action
        yield from every_action(action.children)


def _refuse_unknown(provided: Mapping[str, str], known: set[str], path: Path) -> None:
    for name in provided:
        if name not in known:
            listing = ", ".join(sorted(known)) or "none"
            message = f"unknown launch argument '{name}'{suggestion(name, known)}"
            raise LaunchError(None, f"{os.path.relpath(path)}: {message} (it takes: {listing})")


class _Expansion:
    """Executes actions in order and collects the processes."""

    def __init__(
        self, arguments: Mapping[str, str], environment: Mapping[str, str], path: Path
    ) -> None:
        self.processes: list[ProcessSpec] = []
        self.messages: list[str] = []
        self.depth = 0
        self.n_actions = 0
        self.loaded: dict[Path, tuple[Action, ...]] = {}
        self.known: set[str] = set()
        self.scope = Scope(
            variables=dict(arguments),
            environment=dict(environment),
            initial_environment=dict(environment),
            folder=str(path.parent),
        )

    def file(self, actions: tuple[Action, ...], path: Path, passed: set[str]) -> set[str]:
        """Execute a file; return the arguments that it and its includes declare."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} includes deep: does a file include itself?"
            raise LaunchError(FileLine(path=path, line=1), message)
        self.n_actions += sum(1 for _ in every_action(actions))
        if self.n_actions > MAX_ACTIONS:
            message = f"with what it includes, more than {MAX_ACTIONS} actions would be carried out"
            raise LaunchError(FileLine(path=path, line=1), message)
        outer, self.known = self.known, set()
        declared = declared_arguments(actions)
        self.known |= {argument.name for argument in declared}
        for argument in declared:
            if not argument.is_conditional and argument.default is None:
                self._require(argument, passed)
        self.scope.folder = str(path.parent)
        self.run(actions)
        known, self.known = self.known, outer | self.known
        self.depth -= 1
        return known

    def _require(self, argument: Argument, passed: set[str]) -> None:
        if argument.name in passed:
            return
        hint = suggestion(argument.name, passed - self.known)
        text = f" ({argument.description})" if argument.description else ""
        way = "give it on the command line" if self.depth == 1 else "pass it in the include's 'arg'"
        message = f"argument '{argument.name}'{text} has no default; {way}"
        raise LaunchError(argument.place, f"{message}{hint}")

    def run(self, actions: tuple[Action, ...]) -> None:
        """Execute actions whose condition holds."""
        for action in actions:
            if self._condition(action):
                getattr(self, f"do_{action.kind}")(action)
            elif action.kind == "include":
                self._note_arguments(action)

    def _condition(self, action: Action) -> bool:
        template = action.get("if") or action.get("unless")
        if template is None:
            return True
        text = template.evaluate(self.scope).strip().lower()
        if text not in ("true", "1", "false", "0"):
            message = f"a condition must be true, 1, false or 0; got '{text}'"
            raise LaunchError(template.place, message)
        return (text in ("true", "1")) == (action.get("if") is not None)

    def _note_arguments(self, action: Action) -> None:
        """Record the arguments of a file behind a false condition: they are no errors."""
        try:
            actions = self._load(Path(self._text(action, "file")))
        except LaunchError:
            return
        self.known |= {argument.name for argument in declared_arguments(actions)}

    def _load(self, path: Path) -> tuple[Action, ...]:
        if path not in self.loaded:
            self.loaded[path] = load_actions(path)
        return self.loaded[path]

    def _text(self, action: Action, key: str) -> str:
        template: Template = action.get(key)
        return template.evaluate(self.scope)

    def do_arg(self, action: Action) -> None:
        name = action.get("name")
        if name not in self.scope.variables:
            if action.get("default") is None:
                self._require(_argument(action, is_conditional=False), set())
            self.scope.variables[name] = self._text(action, "default")
        choices = [choice.get("value") for choice in action.get("choice") or ()]
        value = self.scope.variables[name]
        if choices and value not in choices:
            listing = ", ".join(choices)
            message = f"argument '{name}' must be one of {listing}; got '{value}'"
            raise LaunchError(action.place, message + suggestion(value, choices))

    def do_let(self, action: Action) -> None:
        self.scope.variables[self._text(action, "name")] = self._text(action, "value")

    def do_set_env(self, action: Action) -> None:
        name = environment_name(self._text(action, "name"), action.places["name"])
        self.scope.environment[name] = self._text(action, "value")

    def do_set_parameter(self, action: Action) -> None:
        value = global_parameter_value(self._text(action, "value"), action.places["value"])
        if self.scope.parameters is None:
            self.scope.parameters = []
        self.scope.parameters.append((self._text(action, "name"), value))

    def do_push_ros_namespace(self, action: Action) -> None:
        namespace = absolute_namespace(self.scope.namespace, self._text(action, "namespace"))
        if namespace is None or not is_namespace(namespace):
            raise LaunchError(action.place, f"'{namespace}' is no valid namespace")
        self.scope.variables[NAMESPACE] = namespace

    def do_log(self, action: Action) -> None:
        self.messages.append(self._text(action, "message"))

    def do_group(self, action: Action) -> None:
        if action.get("scoped") is False:
            self.run(action.children)
            return
        self.scope.push()
        if action.get("forwarding") is False:
            self.scope.reset()
        self.run(action.children)
        self.scope.pop()

    def do_include(self, action: Action) -> None:
        path = Path(os.path.abspath(self._text(action, "file")))
        if not path.name.endswith((".yaml", ".yml")):
            message = f"only YAML launch files can be included, got '{path.name}'"
            raise LaunchError(action.places["file"], message)
        check_is_file(path)
        if not path.is_file():
            message = f"the launch file '{path}' does not exist"
            raise LaunchError(action.places["file"], message)
        actions = self._load(path)
        # As in ROS's launch: $(dirname) changes to the included file here, before its arguments
        # are evaluated, and stays there; the arguments are not scoped either.
        self.scope.folder = str(path.parent)
        passed = {}
        for entry in action.get("arg") or ():
            name = entry.get("name").evaluate(self.scope)
            passed[name] = entry.places["name"]
            self.scope.variables[name] = entry.get("value").evaluate(self.scope)
        known = self.file(actions, path, set(passed))
        for name, place in passed.items():
            if name not in known:
                listing = ", ".join(sorted(known)) or "none"
                hint = suggestion(name, known) or f"; it takes: {listing}"
                raise LaunchError(place, f"'{path.name}' declares no argument '{name}'{hint}")

    def do_node(self, action: Action) -> None:
        self.processes.append(process_spec(action, self.scope, len(self.processes) + 1))

    do_executable = do_node
