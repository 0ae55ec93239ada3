# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The runner starts what ROS's own launch starts, and refuses what it refuses.

`launch_golden/*.launch.yaml` were run through the real `ros2 launch`; `launch_golden/golden` holds
the command lines, parameter files and environments that the processes got, or the error. With
AEROTWIN_REAL_ROS2_LAUNCH=<path of ros2> the real one is asked again and must say the same, and
with AEROTWIN_RECORD_LAUNCH_GOLDEN=1 besides, its answers replace the golden files.
"""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml
from ament_index_python.packages import get_package_prefix

from aerotwin_launch import LaunchError, expand_launch_file
from aerotwin_launch.arguments import split_tokens
from aerotwin_launch.dry_run import command_records
from aerotwin_launch.expand import declared_arguments, every_action
from aerotwin_launch.schema import load_actions

FOLDER = Path(__file__).parent / "launch_golden"
GOLDEN = FOLDER / "golden"
WORKSPACE = sorted((FOLDER.parents[3] / "launch").glob("*.launch.yaml"))
INCLUDED = {"network.launch.yaml", "view.launch.yaml"}
WORKSPACE = [path for path in WORKSPACE if path.name not in INCLUDED]
CASES = yaml.safe_load((FOLDER / "cases.yaml").read_text())
REAL = os.environ.get("AEROTWIN_REAL_ROS2_LAUNCH")
RECORDS = os.environ.get("AEROTWIN_RECORD_LAUNCH_GOLDEN") == "1"
# What interpreters, shells and the wheels of ROS add by themselves.
NOISE = re.compile(
    r"AEROTWIN_LAUNCH|AEROTWIN_LAUNCHED|PWD|OLDPWD|SHLVL|_|LC_CTYPE|LD_LIBRARY_PATH|PYTHONPATH|AMENT_PREFIX_PATH|_ROS_WHEELS.*"
)
STARTED = re.compile(r"^\[INFO\] \[(\S+)\]: process started with pid \[(\d+)\]", re.MULTILINE)
USER_MESSAGE = re.compile(r"^\[INFO\] \[launch\.user\]: (.*)$", re.MULTILINE)
ERROR = re.compile(
    r"^\[ERROR\] \[launch\]: Caught exception.*?: (?:Caught multiple .*\n - )?(.*)$", re.MULTILINE
)
# Started only for real: the recorder does not see what stands before it, nor the shell.
LIVE_ONLY = ("process_keys",)


def runs():
    for path in sorted(FOLDER.glob("*.launch.yaml")):
        name = path.name.removesuffix(".launch.yaml")
        if name not in CASES["included_only"]:
            for tokens in CASES["runs"].get(name, [[]]):
                yield pytest.param(name, tokens, id=" ".join([name, *tokens]))


def golden(name, tokens):
    for run in json.loads((GOLDEN / f"{name}.json").read_text())["runs"]:
        if run["arguments"] == tokens:
            return run
    raise AssertionError(f"{name} {tokens} was never recorded")


def file_of(name):
    return FOLDER / f"{name}.launch.yaml"


def is_strict(name, tokens):
    return name in CASES["strict"] or [name, *tokens] in CASES["strict_arguments"]


class Normaliser:
    """Replaces what differs from machine to machine and from run to run."""

    def __init__(self, prefix, environment):
        self.environment = environment
        self.places = {str(prefix): "PREFIX", str(FOLDER): "GOLDEN", os.getcwd(): "CWD"}
        if REAL:
            self.places[str(Path(REAL).parent.parent)] = "REAL"

    def text(self, text):
        for path, token in self.places.items():
            text = text.replace(path, token)
        return re.sub(r"0x[0-9a-f]+", "ADDRESS", text)

    def process(self, label, command, inline, environment, folder):
        return {
            "label": label,
            "command": [self.text(token) for token in command],
            "inline_parameters": inline,
            "environment": {
                name: self.text(value)
                for name, value in sorted(environment.items())
                if not NOISE.fullmatch(name) and self.environment.get(name) != value
            },
            "folder": self.text(str(folder)),
        }


def recorded(output, normaliser):
    """Return what the recorders wrote down, in the order of the labels."""
    labels = {int(pid): label for label, pid in STARTED.findall(output)}
    processes = []
    paths = sorted(Path(normaliser.environment["RECORDER_FOLDER"]).iterdir())
    for record in (json.loads(path.read_text()) for path in paths):
        command, inline = list(record["argv"]), []
        for path, text in record["files"]:
            if "launch_params_" in path:
                inline.append(yaml.safe_load(text))
                command[command.index(path)] = f"INLINE_{len(inline)}"
        label = labels.get(record["pid"]) or f"{labels[record['parent']]} (shell)"
        processes.append(
            normaliser.process(label, command, inline, record["environment"], record["folder"])
        )
    processes.sort(key=lambda process: int(re.search(r"-(\d+)", process["label"])[1]))
    return processes


def run_real(path, tokens, environment, normaliser):
    """Ask the real `ros2 launch`."""
    prefix = Path(REAL).parent.parent
    own = environment | {"AMENT_PREFIX_PATH": f"{environment['AMENT_PREFIX_PATH']}:{prefix}"}
    own["PYTHONPATH"] = ""
    result = subprocess.run(
        [REAL, "launch", str(path), *tokens],
        env=own,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = result.stdout + result.stderr
    answer = {"arguments": tokens, "outcome": "runs" if result.returncode == 0 else "refused"}
    if result.returncode == 0:
        answer["processes"] = recorded(output, normaliser)
        answer["messages"] = [normaliser.text(text) for text in USER_MESSAGE.findall(output)]
    else:
        answer["error"] = normaliser.text((ERROR.findall(output) or output.splitlines()[-1:])[0])
    return answer


def run_ours(path, tokens, environment, normaliser):
    """Expand with the runner, without starting anything."""
    arguments = split_tokens(tokens)[1]
    plan = expand_launch_file(path, arguments, environment)
    for record in (records := command_records(plan, environment)):
        if record["command"][0] == "recorder":  # a program sees its path
            record["command"][0] = "PREFIX/lib/stub_pkg/recorder"
    processes = [
        normaliser.process(
            record["label"],
            record["command"],
            record["inline_parameters"],
            record["environment"],
            record["folder"] or os.getcwd(),
        )
        for record, spec in zip(records, plan.processes, strict=True)
        for _ in range(1 + (spec.respawn_max_retries if spec.respawns else 0))
    ]
    return plan, processes


@pytest.mark.parametrize(("name", "tokens"), list(runs()))
def test_the_runner_does_what_the_real_launch_did(name, tokens, stub_prefix, launch_environment):
    expected = golden(name, tokens)
    normaliser = Normaliser(stub_prefix, launch_environment)
    if expected["outcome"] == "refused" or is_strict(name, tokens):
        with pytest.raises(LaunchError) as caught:
            if tokens and ":=" not in tokens[0]:
                raise LaunchError(None, "a word without := names a file")
            run_ours(file_of(name), tokens, launch_environment, normaliser)
        assert "\n" not in str(caught.value)
        return
    plan, processes = run_ours(file_of(name), tokens, launch_environment, normaliser)
    if name in LIVE_ONLY:
        return
    through_shell = {
        each["label"].removesuffix(" (shell)")
        for each in expected["processes"]
        if each["label"].endswith(" (shell)")
    }
    assert [p for p in processes if p["label"] not in through_shell] == [
        p for p in expected["processes"] if not p["label"].endswith(" (shell)")
    ]
    assert through_shell == {spec.label for spec in plan.processes if spec.uses_shell}
    assert [normaliser.text(text) for text in plan.messages] == expected["messages"]


@pytest.mark.parametrize("name", ["executable", "process_keys", "respawn", "parameters_order"])
def test_started_processes_get_what_the_real_launch_gave_them(
    name, stub_prefix, launch_environment, launch_words
):
    normaliser = Normaliser(stub_prefix, launch_environment)
    result = subprocess.run(
        [*launch_words, file_of(name)],
        env=launch_environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert recorded(result.stdout, normaliser) == golden(name, [])["processes"]


def test_every_strict_case_is_one_that_the_real_launch_runs():
    for name in CASES["strict"]:
        assert golden(name, [])["outcome"] == "runs", name


def test_the_golden_files_say_which_version_they_come_from():
    seen = Counter(
        tuple(sorted(json.loads(path.read_text())["recorded_with"].items()))
        for path in GOLDEN.glob("*.json")
    )
    assert len(seen) == 1


@pytest.mark.skipif(REAL is None, reason="AEROTWIN_REAL_ROS2_LAUNCH names no real ros2")
@pytest.mark.parametrize(("name", "tokens"), list(runs()))
def test_the_real_launch_still_does_what_was_recorded(
    name, tokens, stub_prefix, launch_environment
):
    answer = run_real(
        file_of(name), tokens, launch_environment, Normaliser(stub_prefix, launch_environment)
    )
    if RECORDS:
        record(name, answer)
    expected = golden(name, tokens)
    if expected["outcome"] == "refused":  # the words of errors may change
        assert answer["outcome"] == "refused"
    else:
        assert answer == expected


@pytest.mark.parametrize("path", WORKSPACE, ids=lambda path: path.name)
def test_the_launch_files_of_the_workspace_run(path, prefix_of, launch_environment):
    """Through the runner always, and through the real launch where there is one, alike."""
    actions = load_actions(path)
    prefix = prefix_of(sorted(executables_of(path)))
    profiles = get_package_prefix("aerotwin_core")  # network.launch.yaml names them
    environment = launch_environment | {"AMENT_PREFIX_PATH": f"{prefix}{os.pathsep}{profiles}"}
    tokens = [
        f"{argument.name}:={(argument.choices or ['value'])[0]}"
        for argument in declared_arguments(actions)
        if argument.default is None
    ]
    normaliser = Normaliser(prefix, environment)
    plan, processes = run_ours(path, tokens, environment, normaliser)
    assert plan.processes
    if REAL:
        answer = run_real(path, tokens, environment, normaliser)
        assert answer["outcome"] == "runs"
        assert answer["processes"] == processes


def executables_of(path):
    """Return the (package, executable) pairs of a launch file and those that it includes."""
    found = set()
    for action in every_action(load_actions(path)):
        if action.kind == "node":
            found.add((action.get("pkg").literal, action.get("exec").literal))
        elif action.kind == "include":
            included = path.parent / Path(action.get("file").source).name
            if included.is_file():
                found |= executables_of(included)
    return found


def record(name, answer):
    path = GOLDEN / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    content = json.loads(path.read_text()) if path.exists() else {"runs": []}
    retained = [run for run in content["runs"] if run["arguments"] != answer["arguments"]]
    requested = CASES["runs"].get(name, [[]])
    found = sorted([*retained, answer], key=lambda run: requested.index(run["arguments"]))
    content = {"recorded_with": real_versions(), "runs": found}
    path.write_text(json.dumps(content, indent=1) + "\n")


def real_versions():
    script = (
        "import importlib.metadata as m, json; "
        "print(json.dumps({p: m.version(p) for p in ('launch', 'launch_ros', 'ros2cli')}))"
    )
    python = Path(REAL).parent / "python"
    environment = {"PATH": os.environ["PATH"]}
    return json.loads(subprocess.check_output([python, "-c", script], env=environment))
