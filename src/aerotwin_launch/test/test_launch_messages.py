# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a launch file or its arguments are told with file and line; nothing is started."""

import subprocess

import pytest

from aerotwin_launch import LaunchError, arguments, expand_launch_file
from aerotwin_launch.arguments import describe_arguments, find_launch_file, split_tokens
from aerotwin_launch.launch_command import launch_scenario
from aerotwin_launch.log_folder import make_log_folder

NODE = "  - node: {pkg: stub_pkg, exec: recorder"
MISTAKES = [
    (f"launch:\n{NODE}, ns: a}}", 2, "unknown key 'ns' in 'node'; use 'namespace'"),
    (f"launch:\n{NODE}, parm: []}}", 2, "unknown key 'parm' in 'node'; did you mean 'param'?"),
    (
        "launch:\n  - node:\n      pkg: stub_pkg\n      exec: recorder\n      respawn: true",
        5,
        "'respawn' of 'node' must be a string, got a boolean; write \"true\" in quotes",
    ),
    ("launch:\n  - nod: {}", 2, "action 'nod' is not supported; did you mean 'node'?"),
    ("launch:\n  - timer: {period: 1.0}", 2, "action 'timer' is not supported; supported are arg"),
    ("launch:\n  - node: {pkg: a}", 2, "'node' lacks the key 'exec'"),
    ("launch: {}", 1, "'launch' must hold a list of actions, got a mapping"),
    ("nodes: []", 1, "a launch file holds one key, 'launch', and a list below"),
    ("", 1, "the file is empty"),
    ("launch:\n  - [", 2, "this is not YAML"),
    ("launch: " + "[" * 200_000, 1, "its values are nested more than 100 deep"),
    (
        'launch:\n  - let: {name: a, value: "' + "[" * 50_000 + '"}\n'
        f"{NODE}, param: [{{name: b, value: $(var a)}}]}}",
        3,
        "is not YAML",
    ),
    ("launch:\n  - log: {message: a, message: b}", 2, "the key 'message' stands twice"),
    ("launch: &a\n  - group: *a", 1, "the alias *a holds itself"),
    ("launch:\n  - arg: {name: on, on: x}", 2, "the key True must be a string"),
    (f'launch:\n{NODE}, args: "$(vra x)"}}', 2, "'$(vra)' is not supported; did you mean 'var'?"),
    (
        'launch:\n  - let: {name: world, value: a}\n  - log: {message: "$(var wrold)"}',
        3,
        "the variable 'wrold' is not defined here; did you mean 'world'?",
    ),
    (
        "launch:\n  - log: {message: \"$(eval 'a == 1')\"}",
        2,
        "$(eval) of \"a == 1\": NameError: name 'a' is not defined; text in it needs quotes",
    ),
    ('launch:\n  - log: {message: "$(eval 1 + 1)"}', 2, "put the expression in quotes"),
    (f'launch:\n{NODE}, if: "yes"}}', 2, "a condition must be true, 1, false or 0; got 'yes'"),
    (f"launch:\n{NODE}, output: scren}}", 2, "'output' must be one of screen"),
    (f"launch:\n{NODE}, on_exit: restart}}", 2, "'on_exit' can only be shutdown; got 'restart'"),
    (f"launch:\n{NODE}, respawn_delay: -1.0}}", 2, "'respawn_delay' must not be negative"),
    (f"launch:\n{NODE}, cwd: /no/such}}", 2, "the folder '/no/such' does not exist"),
    (
        "launch:\n  - node: {pkg: stub_pgk, exec: recorder}",
        2,
        "package 'stub_pgk' is not installed under any prefix of AMENT_PREFIX_PATH; did you mean "
        "'stub_pkg'?",
    ),
    (
        "launch:\n  - node: {pkg: stub_pkg, exec: recordre}",
        2,
        "has no executable 'recordre'",
    ),
    (
        "launch:\n  - executable: {cmd: no-such-program x}",
        2,
        "the program 'no-such-program' is not",
    ),
    (
        f"launch:\n{NODE},\n      param: [{{from: /no/such.yaml}}]}}",
        3,
        "parameter file '/no/such.yaml' does not exist",
    ),
    (
        f"launch:\n{NODE},\n      param: [{{name: p, value: [5, 6.0]}}]}}",
        3,
        "must be of one type (write 5.0, not 5)",
    ),
    (
        "launch:\n  - arg:\n      name: a\n      default: x\n      choice: [{value: yes_a}]",
        2,
        "argument 'a' must be one of yes_a; got 'x'",
    ),
    (
        "launch:\n  - arg: {name: world, description: where to fly}",
        2,
        "argument 'world' (where to fly) has no default; give it on the command line",
    ),
    (
        "launch:\n  - include: {file: $(dirname)/no.launch.yaml}",
        2,
        "no.launch.yaml' does not exist",
    ),
    ("launch:\n  - include: {file: $(dirname)/x.launch.py}", 2, "only YAML launch files can be"),
    ("launch:\n  - include: {file: $(dirname)/t.launch.yaml}", 1, "does a file include itself?"),
]


def expand(text, tmp_path, environment, **arguments):
    path = tmp_path / "t.launch.yaml"
    path.write_text(text)
    return expand_launch_file(path, arguments, environment)


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES)
def test_a_mistake_is_reported_with_its_file_and_line(
    text, line, message, tmp_path, launch_environment
):
    with pytest.raises(LaunchError) as caught:
        expand(text, tmp_path, launch_environment)
    assert f"t.launch.yaml:{line}: " in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_argument_is_refused_with_the_list(tmp_path, launch_environment):
    text = 'launch:\n  - arg: {name: world, default: "a"}\n  - arg: {name: seed, default: "1"}'
    with pytest.raises(LaunchError, match=r"unknown launch argument 'wrold'; did you mean 'world'"):
        expand(text, tmp_path, launch_environment, wrold="b")
    with pytest.raises(LaunchError, match=r"it takes: seed, world"):
        expand(text, tmp_path, launch_environment, xyz="b")


def test_an_argument_of_a_file_that_is_included_or_left_out_is_known(tmp_path, launch_environment):
    (tmp_path / "in.launch.yaml").write_text("launch:\n  - arg: {name: deep, default: a}\n")
    for condition in ("true", "false"):
        text = f'launch:\n  - include: {{file: $(dirname)/in.launch.yaml, if: "{condition}"}}'
        assert expand(text, tmp_path, launch_environment, deep="b").processes == ()


def test_words_name_a_file_or_a_package_and_arguments(stub_prefix, launch_environment):
    target, provided = split_tokens(["stub_pkg", "a:=1", "shared.launch.yaml", "b:=x:=y", "a:=2"])
    assert target == ["stub_pkg", "shared.launch.yaml"]
    assert provided == {"a": "2", "b": "x:=y"}
    found = find_launch_file(target, launch_environment)
    assert found == stub_prefix / "share/stub_pkg/launch/shared.launch.yaml"


@pytest.mark.parametrize("name", ["shared", "shared.launch.yaml"])
def test_a_shipped_launch_file_is_found_by_its_name_from_any_folder(
    name, stub_prefix, launch_environment, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arguments, "SHIPPED", "stub_pkg")
    found = find_launch_file([name], launch_environment)
    assert found == stub_prefix / "share/stub_pkg/launch/shared.launch.yaml"
    with pytest.raises(LaunchError, match="does not exist; say shared for the one"):
        find_launch_file([f"launch/{name}"], launch_environment)
    with pytest.raises(LaunchError, match=r"'sharde' does not exist; did you mean 'shared'?"):
        find_launch_file(["sharde"], launch_environment)
    with pytest.raises(LaunchError, match=r"'other' does not exist; installed are: .*shared"):
        find_launch_file(["other"], launch_environment)


def test_a_shipped_file_of_another_kind_is_no_launch_file(
    stub_prefix, launch_environment, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(arguments, "SHIPPED", "stub_pkg")
    (stub_prefix / "share/stub_pkg/launch/mission.yaml").write_text("")
    with pytest.raises(LaunchError, match=r"'mission.yaml' does not exist; installed are"):
        find_launch_file(["mission.yaml"], launch_environment)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["nowhere.launch.yaml"], "launch file 'nowhere.launch.yaml' does not exist"),
        (["stub_pkg", "share.launch.yaml"], "did you mean 'shared.launch.yaml'"),
        (["no_pkg", "x.launch.yaml"], "package 'no_pkg' is not installed"),
        (["a", "b", "c"], "name one launch file"),
        (["x:="], "launch argument 'x:=' must read name:=value"),
    ],
)
def test_words_that_name_nothing_are_refused(tokens, message, launch_environment):
    with pytest.raises(LaunchError) as caught:
        find_launch_file(split_tokens(tokens)[0], launch_environment)
    assert message in str(caught.value)


def test_the_arguments_of_a_file_are_described(tmp_path):
    path = tmp_path / "t.launch.yaml"
    path.write_text(
        "launch:\n"
        "  - arg: {name: world, default: $(env W cliff), description: where to fly}\n"
        "  - arg: {name: slam, choice: [{value: a}, {value: b}]}\n"
        '  - group:\n      - arg: {name: deep, default: x, if: "1"}\n'
    )
    text = describe_arguments(path)
    assert "world  [default: '$(env W cliff)']\n      where to fly" in text
    assert "slam  [required]\n      one of: a, b" in text
    assert "deep  [default: 'x'] (depends on a condition)" in text


def test_a_folder_for_logs_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LaunchError, match="set ROS_LOG_DIR"):
        make_log_folder({"ROS_LOG_DIR": str(tmp_path / "file" / "log")})


def test_a_mistake_gives_one_line_and_2_and_starts_nothing(
    launch_words, launch_environment, tmp_path
):
    path = tmp_path / "t.launch.yaml"
    path.write_text(f"launch:\n{NODE}}}\n{NODE}, args: $(var nope)}}\n")
    result = subprocess.run(
        [*launch_words, path], env=launch_environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert list((tmp_path / "records").iterdir()) == []


def test_options_may_stand_between_the_words(launch_words, launch_environment, tmp_path):
    path = tmp_path / "t.launch.yaml"
    path.write_text(f"launch:\n  - arg: {{name: a, default: b}}\n{NODE}, args: $(var a)}}\n")
    result = subprocess.run(
        [*launch_words, path, "--print-commands", "a:=x y"],
        env=launch_environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "/lib/stub_pkg/recorder 'x y' --ros-args" in result.stdout
    assert list((tmp_path / "records").iterdir()) == []


def test_a_scenario_whose_package_is_not_installed_is_reported_in_one_line(monkeypatch, tmp_path):
    arguments = ("aerotwin_bringup", "evaluate_bag.launch.yaml", {"bag": "x"})
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(LaunchError, match=r"'aerotwin_bringup' is not installed .* build it and"):
        launch_scenario(*arguments)
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    with pytest.raises(LaunchError, match="AMENT_PREFIX_PATH is not set; source"):
        launch_scenario(*arguments)
