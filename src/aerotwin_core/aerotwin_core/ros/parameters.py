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
from aerotwin_core.parameters import flat_parameters, load_parameters, old_names, rename_warning
from aerotwin_core.ros.intake import Intakes

T = TypeVar("T")
_LARGEST = {int: 2**63 - 1, float: sys.float_info.max}
_OF_RCLPY = ("qos_overrides.", "use_sim_time", "start_type_description_service")
"""What every node declares by itself."""
_RANGES = {
    int: ("integer_range", IntegerRange),
    float: ("floating_point_range", FloatingPointRange),
}


class ConfiguredNode(Node):
    """A node that knows every parameter it was started with, also undeclared ones.

    `intakes` receive the topics of other people's nodes.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True, **options)
        self.intakes = Intakes(self)


def declare_parameters(node: ConfiguredNode, cls: type[T]) -> T:
    """Declare every field of cls on the node and return cls with the values it was started with.

    Names of nested fields are joined by dots. Old names set the present ones, unless those are set,
    too, with a warning. Integers are accepted where a float is declared; every other mismatch, and
    every override that names no field, is a `ParameterError` (the node exits with 78).
    """
    where = f"parameters of node {node.get_fully_qualified_name()}"
    provided = {name: each.value for name, each in node.get_parameters_by_prefix("").items()}
    for old, new in old_names(cls).items():
        if old not in provided:
            continue
        node.undeclare_parameter(old)
        value = provided.pop(old)
        if new in provided:  # a parameter file of before, and a launch file that sets it
            text = f"{where}: '{old}' has no effect, as '{new}' is set, too"
        else:
            text = rename_warning(old, new, where=where)
            provided[new] = value
        node.get_logger().warning(text)
    values = {}
    for name, field, default in flat_parameters(cls):
        if name in provided:
            if node.has_parameter(name):
                node.undeclare_parameter(name)  # for its descriptor
            default = provided.pop(name)
        values[name] = _declare(node, name, field, default, where)
    for name, value in provided.items():
        if not name.startswith(_OF_RCLPY):
            values[name] = _plain(value)  # which loading refuses
    overridden = {name: value for name, value in values.items() if value is not None}
    return load_parameters(cls, _nested(overridden), where=where)


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Return values by the parts of their names, which are separated by dots."""
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
    value = None if default is dataclasses.MISSING else _plain(default)
    try:
        return _plain(
            node.declare_parameter(name, value, _descriptor(field), ignore_override=True).value
        )
    except InvalidParameterValueException:
        return value  # which loading refuses, in its own text
    except ParameterException as error:
        raise ParameterError(f"{where}: {name}: {error}") from error


def _plain(value: Any) -> Any:
    """Return a list for an array and a tuple."""
    return list(value) if isinstance(value, tuple) or hasattr(value, "tolist") else value


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
