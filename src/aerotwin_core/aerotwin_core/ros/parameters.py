# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS parameters from a parameters dataclass: same names, defaults, ranges and messages."""

import dataclasses
from typing import Any, TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters

T = TypeVar("T")


def declare_parameters(node: Node, cls: type[T]) -> T:
    """Declare every field of cls on the node and return cls with the values given.

    Integers are accepted where a float is declared; every other mismatch, and every override that
    names no field, is a `ParameterError` (the node exits with 78).
    """
    where = f"parameters of node {node.get_fully_qualified_name()}"
    given: dict[str, Any] = {}
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name in node._parameter_overrides:
        if name not in fields and not name.startswith(("qos_overrides.", "use_sim_time")):
            load_parameters(cls, {name: None}, where=where)
    for name, field in fields.items():
        value = _declare(node, name, field, where)
        if value is not None:
            given[name] = value
    return load_parameters(cls, given, where=where)


def _declare(node: Node, name: str, field: dataclasses.Field[Any], where: str) -> Any:
    unit = field.metadata.get("unit", "")
    descriptor = ParameterDescriptor(
        description=field.metadata.get("text", "") + (f" [{unit}]" if unit else ""),
        read_only=not field.metadata.get("live", False),
        dynamic_typing=True,
    )
    default = None if field.default is dataclasses.MISSING else field.default
    if isinstance(default, tuple):
        default = list(default)
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except ParameterException as error:
        raise ParameterError(f"{where}: {name}: {error}") from error
    return list(value) if hasattr(value, "tolist") else value
