# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS parameters from a parameters dataclass: same names, defaults, ranges and messages."""

import dataclasses
import sys
from typing import Any, TypeVar, get_args

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterValueException, ParameterException
from rclpy.node import Node

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import flat_parameters, load_parameters

T = TypeVar("T")
_LARGEST = {int: 2**63 - 1, float: sys.float_info.max}
_RANGES = {
    int: ("integer_range", IntegerRange),
    float: ("floating_point_range", FloatingPointRange),
}


def declare_parameters(node: Node, cls: type[T]) -> T:
    """Declare every field of cls on the node and return cls with the values given.

    Names of nested fields are joined by dots. Integers are accepted where a float is declared;
    every other mismatch, and every override that names no field, is a `ParameterError` (the node
    exits with 78).
    """
    where = f"parameters of node {node.get_fully_qualified_name()}"
    fields = {name: (field, default) for name, field, default in flat_parameters(cls)}
    declared = {
        name: _declare(node, name, field, default, where)
        for name, (field, default) in fields.items()
    }
    overridden = {name: value for name, value in declared.items() if value is not None}
    for name, override in node._parameter_overrides.items():
        if name not in fields and not name.startswith(("qos_overrides.", "use_sim_time")):
            overridden[name] = override.value  # which loading refuses
    return load_parameters(cls, _nested(overridden), where=where)


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Return values by the parts of their names, which dots divide."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        *folders, leaf = name.split(".")
        branch = tree
        for folder in folders:
            if not isinstance(branch.get(folder), dict):
                branch[folder] = {}
            branch = branch[folder]
        branch[leaf] = value
    return tree


def _declare(node: Node, name: str, field: dataclasses.Field[Any], default: Any, where: str) -> Any:
    if default is dataclasses.MISSING:
        default = None
    elif isinstance(default, tuple):
        default = list(default)
    try:
        value = node.declare_parameter(name, default, _descriptor(field)).value
    except InvalidParameterValueException:
        value = node._parameter_overrides[name].value  # which loading refuses, in its own text
    except ParameterException as error:
        raise ParameterError(f"{where}: {name}: {error}") from error
    return list(value) if hasattr(value, "tolist") else value


def _descriptor(field: dataclasses.Field[Any]) -> ParameterDescriptor:
    """Return text, range and choices as ROS tools show them."""
    meta = field.metadata
    unit, choices = meta.get("unit", ""), meta.get("choices")
    descriptor = ParameterDescriptor(
        description=meta.get("text", "") + (f" [{unit}]" if unit else ""),
        additional_constraints=f"one of {', '.join(map(repr, choices))}" if choices else "",
        read_only=not meta.get("live", False),
        dynamic_typing=True,
    )
    low, high = meta.get("minimum"), meta.get("maximum")
    kind = next((k for k in (int, float) if k in (field.type, *get_args(field.type))), None)
    if kind is not None and not (low is None and high is None):
        name, make = _RANGES[kind]
        largest = _LARGEST[kind]
        from_value = kind(-largest if low is None else low)
        to_value = kind(largest if high is None else high)
        setattr(descriptor, name, [make(from_value=from_value, to_value=to_value)])
    return descriptor
