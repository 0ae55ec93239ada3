# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The value of a Python expression in `$(eval)`: arithmetic, comparisons, text; nothing else.

Python's own `eval` can start programs and use unlimited time and memory, even if a launch file is
only inspected. Here the syntax tree is walked: names are those of `math`, calls those of a list,
and the size of every value is limited before it is computed.
"""

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

MAX_LETTERS = 4_000
"""Of an expression."""
MAX_SIZE = 10_000
"""Letters of a text, items of a list."""
MAX_BITS = 1_024
"""Of an integer: as large as a float."""

_SLOW = ("comb", "factorial", "perm")  # integers of any size
_NAMES = {name: value for name, value in vars(math).items() if name[:1] != "_"}
_BUILTINS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(abs, all, any, bool, float, int, len, list, max, min),
        *(round, set, sorted, str, sum, tuple),
    )
}
_METHODS = {
    *("count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "lower", "lstrip"),
    *("removeprefix", "removesuffix", "replace", "rsplit", "rstrip", "split", "startswith"),
    *("strip", "upper"),
}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


class ExpressionError(ValueError):
    """An expression is outside of the supported subset."""


def evaluate(text: str) -> Any:
    """Return the value of a Python expression over numbers, texts and lists of them.

    Raises
    ------
    ExpressionError
        If it contains unsupported syntax, or a value becomes too large.
    Exception
        Any exception of Python for the expression: SyntaxError, NameError, TypeError …
    """
    if len(text) > MAX_LETTERS:
        raise ExpressionError(f"it has {len(text)} letters, at most {MAX_LETTERS} are read")
    return _value(ast.parse(text.strip(), mode="eval").body)


def _value(node: ast.expr) -> Any:
    visit = _VISITS.get(type(node))
    if visit is None:
        raise ExpressionError(f"{type(node).__name__} is not evaluated here")
    return _bounded(visit(node))


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ExpressionError(f"an integer becomes larger than 2**{MAX_BITS}")
    if isinstance(value, str | list | tuple | set) and len(value) > MAX_SIZE:
        raise ExpressionError(f"a text or list becomes longer than {MAX_SIZE}")
    return value


def _constant(node: ast.Constant) -> Any:
    if node.value is None or isinstance(node.value, bool | int | float | str):
        return node.value
    raise ExpressionError(f"a constant of type {type(node.value).__name__} is not evaluated here")


def _name(node: ast.Name) -> Any:
    if node.id == "math":
        raise ExpressionError("math is no value by itself; write math.sqrt(2)")
    try:
        return (_NAMES | _BUILTINS)[node.id]
    except KeyError:
        raise NameError(f"name '{node.id}' is not defined") from None


def _attribute(node: ast.Attribute) -> Any:
    if _is_math(node.value):
        if node.attr not in _NAMES:
            raise AttributeError(f"module 'math' has no attribute '{node.attr}'")
        return _NAMES[node.attr]
    raise ExpressionError(f".{node.attr} is only evaluated where it is called, of a text")


def _call(node: ast.Call) -> Any:
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ExpressionError("a call takes plain arguments only")
    return _called(node.func)(*(_value(argument) for argument in node.args))


def _called(node: ast.expr) -> Callable[..., Any]:
    """Return the called object: a function by its name, or a method of a text."""
    if isinstance(node, ast.Attribute) and not _is_math(node.value):
        owner = _value(node.value)
        if not isinstance(owner, str) or node.attr not in _METHODS:
            raise ExpressionError(f".{node.attr}() is not evaluated here")
        return getattr(owner, node.attr)
    if not isinstance(node, ast.Name | ast.Attribute):
        raise ExpressionError("only functions by their names are called")
    function = _value(node)
    if getattr(function, "__name__", "") in _SLOW:
        raise ExpressionError(f"{function.__name__}() is not evaluated here")
    return function


def _is_math(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "math"


def _operation(operation: ast.operator | ast.unaryop) -> Callable[..., Any]:
    if type(operation) not in _OPERATORS:
        raise ExpressionError(f"the operator {type(operation).__name__} is not evaluated here")
    return _OPERATORS[type(operation)]


def _binary(node: ast.BinOp) -> Any:
    operation = _operation(node.op)
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.Mod) and isinstance(left, str):
        raise ExpressionError("% with a text is not evaluated here")
    if isinstance(node.op, ast.Pow):
        _check_power(left, right)
    if isinstance(node.op, ast.Mult):
        _check_repetition(left, right)
        _check_repetition(right, left)
    return operation(left, right)


def _check_power(base: Any, exponent: Any) -> None:
    are_integers = isinstance(base, int) and isinstance(exponent, int)
    if are_integers and base.bit_length() * max(exponent, 0) > 2 * MAX_BITS:
        raise ExpressionError(f"an integer becomes larger than 2**{MAX_BITS}")


def _check_repetition(row: Any, times: Any) -> None:
    if isinstance(row, list | tuple):
        raise ExpressionError("a list is not repeated here")
    if isinstance(row, str) and isinstance(times, int) and len(row) * times > MAX_SIZE:
        raise ExpressionError(f"a text or list becomes longer than {MAX_SIZE}")


def _unary(node: ast.UnaryOp) -> Any:
    return _operation(node.op)(_value(node.operand))


def _boolean(node: ast.BoolOp) -> Any:
    value: Any = None
    for operand in node.values:
        value = _value(operand)
        if bool(value) == isinstance(node.op, ast.Or):
            break
    return value


def _comparison(node: ast.Compare) -> Any:
    left, outcome = _value(node.left), True
    for operation, operand in zip(node.ops, node.comparators, strict=True):
        right = _value(operand)
        outcome = _OPERATORS[type(operation)](left, right)
        if not outcome:
            break
        left = right
    return outcome


def _choice(node: ast.IfExp) -> Any:
    return _value(node.body if _value(node.test) else node.orelse)


def _slice(node: ast.Slice) -> slice:
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if part is None else _value(part) for part in parts))


_VISITS: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.List: lambda node: [_value(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(_value(item) for item in node.elts),
    ast.Set: lambda node: {_value(item) for item in node.elts},
    ast.Subscript: lambda node: _value(node.value)[_value(node.slice)],
    ast.Slice: _slice,
}
