# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch files that multiply, nest or run code end at once with one line; nothing is started."""

import math
import resource
import time

import pytest

from aerotwin_launch import LaunchError, expand_launch_file
from aerotwin_launch.expression import ExpressionError, evaluate

LONGEST_S = 10.0
MOST_KB = 200_000
DOUBLED = "- arg: {name: a0, default: xxxxxxxxxx}\n" + "".join(
    f"- arg: {{name: a{n + 1}, default: $(var a{n})$(var a{n})}}\n" for n in range(40)
)
LAUGHS = "- group: &g0 [{log: {message: x}}]\n" + "".join(
    f"- group: &g{n + 1} [{', '.join([f'group: *g{n}'] * 9)}]\n" for n in range(8)
)
HOSTILE = {
    "nested brackets": ("[" * 50_000 + "]" * 50_000, "nested more than 100 deep"),
    "groups in groups": (
        "".join("  " * n + "- group:\n" for n in range(300)) + "  " * 300 + "- log: {message: a}",
        "nested more than 100 deep",
    ),
    "doubled arguments": (DOUBLED, "letters, at most 100000 are passed on"),
    "aliases of groups": (LAUGHS, "stands for more than 50000 values"),
    "many actions": ("- log: {message: x}\n" * 6_000, "more than 5000 actions"),
    "one large text": (f"- log: {{message: {'x' * 900_000}}}", "at most 100000 are passed on"),
    "aliases of a large text": (
        f"- log: {{message: &m '{'x' * 900_000}'}}\n" + "- log: {message: *m}\n" * 4_000,
        "at most 100000 are passed on",
    ),
    "nested substitutions": (
        f"- log: {{message: {'$(var ' * 3000}x{')' * 3000}}}",
        "stand more than 20 deep",
    ),
    "brackets as a boolean": (
        f"- log: {{message: \"$(not '{'[' * 20_000}')\"}}",
        "neither true nor false",
    ),
    "brackets as a parameter": (
        f"- let: {{name: a, value: '{'[' * 20_000}'}}\n"
        "- node: {pkg: stub_pkg, exec: recorder, param: [{name: p, value: $(var a)}]}",
        "is not YAML; if a string is meant",
    ),
    "digits as a parameter": (
        f"- let: {{name: a, value: '{'9' * 20_000}'}}\n"
        "- node: {pkg: stub_pkg, exec: recorder, param: [{name: p, value: $(var a)}]}",
        "is not YAML; if a string is meant",
    ),
    "a power": ("- log: {message: \"$(eval '9**9**9')\"}", "larger than 2**1024"),
    "code": ("- log: {message: \"$(eval '__import__')\"}", "'__import__' is not defined"),
    "a NUL": ('- executable: {cmd: "true a\\0b"}', "a value holds a NUL"),
    "a NUL in the environment": ('- set_env: {name: a, value: "a\\0b"}', "a value holds a NUL"),
    "no name of a variable": ("- set_env: {name: a=b, value: c}", "'a=b' cannot be the name of"),
    "no variable of a process": (
        "- executable: {cmd: 'true', env: [{name: a=b, value: c}]}",
        "'a=b' cannot be the name of",
    ),
}


def expand_in_time(path, environment):
    """Expand a file; return the error, and see that neither time nor memory was taken."""
    begin_s = time.process_time()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LaunchError) as caught:
        expand_launch_file(path, {}, environment)
    assert time.process_time() - begin_s < LONGEST_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < MOST_KB
    return str(caught.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_launch_file_is_one_line_with_its_place(name, tmp_path, launch_environment):
    text, message = HOSTILE[name]
    path = tmp_path / "t.launch.yaml"
    path.write_text(f"launch:\n{text}\n" if text[0] == "-" else f"launch: {text}")
    error = expand_in_time(path, launch_environment)
    assert "t.launch.yaml:" in error
    assert message in error


def test_includes_that_multiply_are_refused(tmp_path, launch_environment):
    for n in range(25):
        include = f"- include: {{file: $(dirname)/f{n + 1}.launch.yaml}}\n"
        (tmp_path / f"f{n}.launch.yaml").write_text(f"launch:\n{include * 2}")
    (tmp_path / "f25.launch.yaml").write_text("launch:\n- log: {message: x}\n")
    error = expand_in_time(tmp_path / "f0.launch.yaml", launch_environment)
    assert "more than 5000 actions" in error


@pytest.mark.parametrize(
    "text",
    [
        *("1 + 2 * 3", "2 ** 10", "7 // 2", "7 % 4", "-3", "+3", "not 0", "1 < 2 <= 2", "1 < 0"),
        *("3 in [1, 2]", "'a' not in 'abc'", "None is None", "1 and 0 or 2", "0 or ''"),
        *("sqrt(16)", "math.pi > 3", "hypot(3, 4)", "min(1, 2)", "len([1, 2])", "round(2.5)"),
        *("'a' if 1 else 'b'", "int('12') + float('0.5')", "str(1) + 'x'", "'ab' * 3"),
        *("'a,b'.split(',')[1]", "' A '.strip().lower()", "'a-b'.replace('-', '_')"),
        *("'veh1' == 'veh' + str(1)", "(1, 2)[0]", "'abc'[::-1]", "'abc'[1:]", "bool('')"),
        *("'x'.startswith('x')", "{1, 2} == {2, 1}", "sum([1, 2])", "sorted([2, 1])[0]"),
    ],
)
def test_an_expression_has_the_value_that_python_gives_it(text):
    expected = eval(text, {}, {**vars(math), "math": math})
    assert evaluate(text) == expected
    assert type(evaluate(text)) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "__import__('os')",
            "().__class__",
            "open('x')",
            "exec('1')",
            "eval('1')",
            "(lambda: 1)()",
        ),
        *("[x for x in (1,)]", "''.join(['a'])", "'{0.__class__}'.format(1)", "f'{1:9999999999}'"),
        *(
            "'%9999999999d' % 1",
            "'x' * 10**9",
            "[0] * 10**9",
            "b'x' * 10**9",
            "10**400",
            "1 << 9**9",
        ),
        *(
            "factorial(10**6)",
            "math.comb(10**6, 10**5)",
            "math",
            "str.lower",
            "print(1)",
            "1" * 5000,
        ),
        *("max([1], key=len)", "min(*[1, 2])", "(1).real", "math.nope", "nope", "", "1 +", "..."),
        *(
            "9" * 3000,
            "(" * 3000,
            "1+" * 1900 + "1",
            "max('a', 1)",
            "'a'.replace('a', 'b' * 10**6)",
        ),
    ],
)
def test_an_expression_that_is_more_is_an_error_at_once(text):
    begin_s = time.process_time()
    with pytest.raises((ExpressionError, NameError, TypeError, SyntaxError, ArithmeticError,
                        AttributeError, RecursionError, MemoryError, ValueError)):  # fmt: skip
        evaluate(text)
    assert time.process_time() - begin_s < 1.0
