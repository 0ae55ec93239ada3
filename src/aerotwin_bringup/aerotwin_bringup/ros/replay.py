# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay a bag through a SLAM in lockstep, record what it answers, and report.

The cameras' messages go out as they were recorded; each frame waits until the one before the last
was answered, so that nothing is lost however slow the SLAM is. `/clock` follows the bag.
"""

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from aerotwin_bringup.run_report import SLAM_ODOM, RunRecord, write_run_report
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.cli import say, say_fatal, write_text_atomically
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import clock_message, serialize
from aerotwin_core.parameters import parameter, to_mapping
from aerotwin_core.ros.node import EXIT_FAILURE, EXIT_PARAMETER
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_simulator import topics
from aerotwin_simulator.frame_gate import FrameGate
from aerotwin_simulator.ros.outlets import ForeignTopics, RosOutlet, header_stamp_ns
from aerotwin_simulator.run_folder import make_run_folder, software_versions
from aerotwin_simulator.status_line import StatusLine
from aerotwin_trajectory_evaluation import ResourceRecorder
from aerotwin_worlds import World, load_world

EXIT_INTERRUPTED = 130
_SPIN_S = 0.005
_LAST_ANSWERS_S = 1.0
_REPLAYED = (
    topics.TF_STATIC,
    topics.LEFT_INFO,
    topics.RIGHT_INFO,
    topics.LEFT_IMAGE,
    topics.RIGHT_IMAGE,
)


@dataclass(frozen=True, kw_only=True)
class ReplayParameters:
    """What is replayed, and where the result goes."""

    bag: str = parameter(text="bag folder with stereo images")
    world: str = parameter("", text="world whose surface is the true map; empty = none")
    output: str = parameter("", text="folder to make; empty = runs_dir/<time>-<name>")
    runs_dir: str = parameter("runs", text="folder in which the run's own folder is made")
    name: str = parameter("evaluation", text="second part of the run folder's name")
    slam_process: str = parameter(
        "stereo_odometry", text="part of the SLAM's command line, to measure its cost"
    )
    wait_start_s: float = parameter(
        120.0,
        text="longest wait for the SLAM to appear, and for its first answer",
        unit="s wall",
        minimum=0.1,
    )
    wait_frame_s: float = parameter(
        20.0, text="longest wait for one frame's answer", unit="s wall", minimum=0.01
    )


class ReplayNode(Node):
    """Publishes the cameras of a bag and records the SLAM's answers."""

    def __init__(self) -> None:
        super().__init__("replay")
        self.parameters = declare_parameters(self, ReplayParameters)
        self.is_stop_wanted = False
        self.source = BagReader(self.parameters.bag)
        _require_stereo(self.source)
        self.outlet = RosOutlet(self)
        for topic in (topics.CLOCK, *_REPLAYED):
            self.outlet.add(topic)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        self.recorder = ResourceRecorder(pattern=self.parameters.slam_process)
        self.gate = FrameGate(
            frames_in_flight=2,
            limit_s=self.parameters.wait_frame_s,
            first_limit_s=self.parameters.wait_start_s,
            meanwhile=self.spin,
            on_answer=self.recorder.frame_done,
        )
        self._writer: BagWriter | None = None
        self._stamp_ns = self.source.start_ns
        self._foreign = ForeignTopics(self, topics.FROM_SLAM, self._receive)

    def spin(self) -> None:
        """Deliver what has come, waiting for it some milliseconds at most."""
        self._executor.spin_once(timeout_sec=_SPIN_S)
        if self.is_stop_wanted:
            self.gate.is_open = True

    def replay(self, writer: BagWriter, status: StatusLine) -> None:
        """Publish every camera message of the bag and write the answers.

        Raises
        ------
        UserError
            If no SLAM appears or it stops answering.
        """
        for topic in (*topics.FROM_SLAM, topics.TRUTH_ODOM, topics.TF_STATIC):
            writer.add_topic(topics.resolve(topic.name), topic.msgtype, latched=topic.is_latched)
        self._writer = writer
        self.recorder.start()
        self._wait_for_slam(status)
        by_name = {topics.resolve(topic.name): topic for topic in _REPLAYED}
        span = max(1, self.source.end_ns - self.source.start_ns)
        for name, stamp_ns, cdr in self.source.raw([*by_name, "/truth/odom"]):
            if self.is_stop_wanted:
                return
            self._stamp_ns = stamp_ns
            if name in ("/truth/odom", "/tf_static"):
                writer.write(name, stamp_ns, cdr)
            if name in by_name:
                self._publish(by_name[name], stamp_ns, cdr)
            share = (stamp_ns - self.source.start_ns) / span
            status.update(stamp_ns - self.source.start_ns, 0.0, "replaying", share)
        self._collect_last_answers()

    def detach(self) -> None:
        """Write no more: the bag is about to be closed."""
        self._writer = None

    def _publish(self, topic: topics.Topic, stamp_ns: int, cdr: bytes) -> None:
        if topic is topics.LEFT_INFO:
            self.outlet.emit(topics.CLOCK, stamp_ns, serialize(clock_message(stamp_ns)))
        if topic is topics.RIGHT_IMAGE:
            self.gate.pass_frame(header_stamp_ns(cdr))
            if self.gate.is_open and not self.is_stop_wanted:
                raise UserError(
                    f"the SLAM did not answer a frame on slam/odom within "
                    f"{self.parameters.wait_frame_s:g} s; see its output above"
                )
        self.outlet.emit(topic, stamp_ns, cdr)

    def _wait_for_slam(self, status: StatusLine) -> None:
        n_tries = round(self.parameters.wait_start_s / _SPIN_S)
        for _ in range(n_tries):
            if self.is_stop_wanted:
                return
            answers = self.count_publishers(self.resolve_topic_name("slam/odom"))
            if answers and self.outlet.n_subscribers(topics.RIGHT_IMAGE):
                return
            status.update(0, 0.0, "waiting for slam/odom", None)
            self.spin()
        raise UserError(
            f"no SLAM appeared within {self.parameters.wait_start_s:g} s: expected a node that "
            "subscribes stereo/right/image_raw and publishes slam/odom; start one"
        )

    def _collect_last_answers(self) -> None:
        self.gate.drain()
        for _ in range(round(_LAST_ANSWERS_S / _SPIN_S)):
            self.spin()

    def _receive(self, topic: topics.Topic, cdr: bytes) -> None:
        name = topics.resolve(topic.name)
        if name == SLAM_ODOM:
            self.gate.answer(header_stamp_ns(cdr))
        if self._writer is not None:
            self._writer.write(name, self._stamp_ns, cdr)


def _require_stereo(bag: BagReader) -> None:
    names = [topics.resolve(topic.name) for topic in _REPLAYED]
    missing = [name for name in names if bag.counts.get(name, 0) == 0]
    if missing:
        raise UserError(
            f"{bag.path}: holds no {', '.join(missing)}; a bag with a rectified stereo pair, its "
            "camera_info and /tf_static is needed"
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
    return folder


def _replay_and_report(node: ReplayNode, world: World | None) -> int:
    parameters, status = node.parameters, StatusLine()
    folder = _run_folder(parameters)
    configuration = {"parameters": to_mapping(parameters), "versions": software_versions()}
    text = yaml.safe_dump(configuration, sort_keys=False)
    write_text_atomically(folder / "config.yaml", text)
    with BagWriter(folder / "bag", overwrite=True) as writer:
        try:
            node.replay(writer, status)
        finally:
            node.detach()
            status.close()
    usage = node.recorder.stop()
    record = RunRecord(
        folder=folder,
        title=f"Evaluation of {node.source.path.resolve().name}",
        truth_bag=node.source,
        slam_bag=BagReader(folder / "bag"),
        world=world,
        configuration=configuration,
        usage=usage,
        duration_s=(node.source.end_ns - node.source.start_ns) * 1e-9,
        is_partial=node.is_stop_wanted,
    )
    say(f"report: {write_run_report(record)}")
    return EXIT_INTERRUPTED if node.is_stop_wanted else 0


def main() -> None:
    """Entry point of the executable `replay`."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node: ReplayNode | None = None

    def stop(*_: object) -> None:
        if node is None:
            sys.exit(EXIT_INTERRUPTED)
        node.is_stop_wanted = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    code = EXIT_FAILURE
    try:
        node = ReplayNode()
        world = load_world(node.parameters.world) if node.parameters.world else None
        code = _replay_and_report(node, world)
    except (UserError, OSError) as error:
        say_fatal(error)
        code = EXIT_PARAMETER if isinstance(error, ParameterError) else EXIT_FAILURE
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    sys.exit(code)
