# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State at a point of a launch file: variables, environment, namespace, parameters.

A scoped group saves and restores all of it; an include does not.
"""

from dataclasses import dataclass, field

NAMESPACE = "ros_namespace"  # ROS keeps the pushed namespace among the variables


@dataclass(kw_only=True)
class Scope:
    """The state that actions change while a launch file is expanded."""

    variables: dict[str, str]
    environment: dict[str, str]
    initial_environment: dict[str, str]
    folder: str
    parameters: list[tuple[str, object]] | None = None
    _saved: list[tuple] = field(default_factory=list)

    def push(self) -> None:
        """Save the scope at the beginning of a group."""
        # The list of parameters is shared, not copied, as in ROS's launch: set_parameter in a
        # group has effect beyond it if one was set before the group.
        self._saved.append((dict(self.variables), dict(self.environment), self.parameters))

    def pop(self) -> None:
        """Restore the state saved by the last `push`; the folder stays, as in ROS's launch."""
        self.variables, self.environment, self.parameters = self._saved.pop()

    def reset(self) -> None:
        """Drop everything inherited (`forwarding: false`)."""
        self.variables = {}
        self.environment = dict(self.initial_environment)
        self.parameters = None

    @property
    def namespace(self) -> str | None:
        """The namespace pushed so far."""
        return self.variables.get(NAMESPACE)
