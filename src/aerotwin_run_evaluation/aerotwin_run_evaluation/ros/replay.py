# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of launch/evaluate_bag.launch.yaml: replay a bag, record the answers, report."""

import sys
from pathlib import Path

import rclpy
import yaml
from rclpy.signals import SignalHandlerOptions

from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.cli import say, say_fatal, write_text_atomically
from aerotwin_core.errors import EXIT_FAILURE, UserError, exit_code_of
from aerotwin_core.output_lock import hold_output
from aerotwin_core.parameters import to_mapping
from aerotwin_core.ros.node import init_rclpy
from aerotwin_core.run_folder import make_run_folder, software_versions
from aerotwin_core.status_line import StatusLine
from aerotwin_core.stop_request import EXIT_INTERRUPTED, WRITING_REPORT, StopRequest
from aerotwin_run_evaluation.bag.poses import on_header_clock
from aerotwin_run_evaluation.bag.protocols import map_protocol, trajectory_protocol
from aerotwin_run_evaluation.bag.replay_record import ReplayRecord, replay_section
from aerotwin_run_evaluation.bag.roles import RunTopics
from aerotwin_run_evaluation.report.run_report import say_step, write_run_report
from aerotwin_run_evaluation.ros.replay_node import ReplayNode, ReplayParameters
from aerotwin_run_evaluation.run_judgement import RunRecord, judge_run
from aerotwin_trajectory_evaluation import ResourceUsage
from aerotwin_trajectory_evaluation.slam_poses import require_poses
from aerotwin_worlds import World, load_world


def main() -> None:
    """Entry point of the executable `replay`."""
    node: ReplayNode | None = None

    def end_replay() -> None:
        if node is not None:
            node.request_stop()

    stop = StopRequest(end_replay, ends_at_once=True)
    init_rclpy(signal_handler_options=SignalHandlerOptions.NO)
    code = EXIT_FAILURE
    try:
        node = ReplayNode()
        _check(node)
        world = load_world(node.parameters.world) if node.parameters.world else None
        stop.wait_for_end()
        stop.announce(WRITING_REPORT)
        code = _replay_and_report(node, world)
    except (UserError, OSError) as error:
        say_fatal(error)
        code = exit_code_of(error)
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    sys.exit(code)


def _check(node: ReplayNode) -> None:
    """Refuse before the replay what would be found to be wrong after it."""
    parameters = node.parameters
    trajectory_protocol(parameters.protocol)
    map_protocol(parameters.protocol)
    if parameters.truth:
        require_poses(node.source, parameters.truth)
    elif node.roles.truth is None:
        say("no truth was found in the bag: name it by truth, or nothing is judged")


def _replay_and_report(node: ReplayNode, world: World | None) -> int:
    status = StatusLine()
    folder = _run_folder(node.parameters)
    configuration = {"parameters": to_mapping(node.parameters), "versions": software_versions()}
    text = yaml.safe_dump(configuration, sort_keys=False)
    write_text_atomically(folder / "config.yaml", text)
    with BagWriter(folder / "bag", overwrite=True) as writer:
        try:
            replayed = node.replay(writer, status)
        finally:
            node.detach()
            status.close()
            usage = None if node.recorder is None else node.recorder.stop()
    evaluation = judge_run(_record(node, world, folder, replayed, usage), say_step)
    say_step("report")
    page = write_run_report(
        folder,
        evaluation,
        title=f"Evaluation of {node.source.path.resolve().name}",
        configuration=configuration,
        end=(replay_section(replayed),),
    )
    say(f"report: {page}")
    if evaluation.record.is_partial:
        return EXIT_INTERRUPTED
    if evaluation.is_judged:
        return 0
    say_fatal(evaluation.not_judged())
    return EXIT_FAILURE


def _record(
    node: ReplayNode,
    world: World | None,
    folder: Path,
    replayed: ReplayRecord,
    usage: ResourceUsage | None,
) -> RunRecord:
    parameters = node.parameters
    truth, slam_bag = parameters.truth or node.roles.truth or "", BagReader(folder / "bag")
    clocks = (node.source, truth), (slam_bag, node.estimate)
    is_part = node.is_stop_requested or parameters.start_s > 0.0 or parameters.duration_s > 0.0
    return RunRecord(
        truth_bag=node.source,
        slam_bag=slam_bag,
        world=world,
        usage=usage,
        duration_s=replayed.bag_s,
        topics=RunTopics(
            truth=truth,
            estimates=(node.estimate_source,),
            map=node.map_topic,
            frames=(node.plan.frames,) if node.plan.frames else (),
            vehicle=node.roles.vehicle,
        ),
        frames=node.frames,
        span_ns=(node.frames.span_ns or on_header_clock(replayed.span_ns, clocks))
        if is_part
        else None,
        protocol=parameters.protocol or None,
        poses_of=parameters.poses_of,
        is_partial=node.is_stop_requested,
    )


def _run_folder(parameters: ReplayParameters) -> Path:
    if not parameters.output:
        return make_run_folder(Path(parameters.runs_dir), parameters.name)
    folder = Path(parameters.output)
    if (folder / "bag").resolve() == Path(parameters.bag).resolve():
        raise UserError(f"output: {folder} holds the bag that is replayed; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} cannot be made ({error.strerror}); name another") from error
    hold_output(folder)
    return folder
