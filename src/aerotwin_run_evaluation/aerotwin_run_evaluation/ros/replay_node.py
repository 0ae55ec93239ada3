# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `replay`: plays a bag, in lockstep or in real time, and records a SLAM's outputs."""

import time
from dataclasses import dataclass

from rclpy.executors import SingleThreadedExecutor

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.cli import say
from aerotwin_core.errors import UserError
from aerotwin_core.frame_gate import FrameGate
from aerotwin_core.parameters import parameter
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.status_line import StatusLine
from aerotwin_run_evaluation.bag.frames import FrameCollector
from aerotwin_run_evaluation.bag.pace import AUTOMATIC, LOCKSTEP, LastAnswers, RealTimePace
from aerotwin_run_evaluation.bag.playing import (
    EXTERNAL,
    SLAMS,
    STEREO_ODOMETRY,
    TF,
    TF_STATIC,
    PlayPlan,
    plan_playing,
    read_recorded_qos,
)
from aerotwin_run_evaluation.bag.replay_record import ReplayRecord
from aerotwin_run_evaluation.bag.roles import CLOUD, TF_MESSAGE, find_roles, parse_renames
from aerotwin_run_evaluation.bag.slam_launch import check_pattern
from aerotwin_run_evaluation.bag.vehicles import choose_vehicle
from aerotwin_run_evaluation.ros.replay_publisher import ReplayPublisher, SlamOutputs
from aerotwin_trajectory_evaluation import ResourceRecorder
from aerotwin_trajectory_evaluation.slam_poses import header_stamp_ns

_SPIN_S = 0.005
_IN_FLIGHT = 2


@dataclass(frozen=True, kw_only=True)
class ReplayParameters:
    """What is replayed, how fast, and where the result goes."""

    bag: str = parameter(text="bag folder; a file of a bag also does")
    vehicle: str = parameter(
        "", text="of a fleet's bag, whose topics go out without its name; empty = no fleet's"
    )
    slam: str = parameter(
        STEREO_ODOMETRY,
        text="who answers; external gets all topics of the bag under their own names",
        choices=SLAMS,
    )
    world: str = parameter("", text="world whose surface is the true map; empty = none")
    output: str = parameter("", text="folder to make; empty = runs_dir/<time>-<name>")
    runs_dir: str = parameter("runs", text="folder in which the run's own folder is made")
    name: str = parameter("evaluation", text="second part of the run folder's name")
    slam_process: str = parameter(
        "",
        text="part of the SLAM's command line, to measure its cost; empty = the name of a SLAM "
        "that ships, an external one is not measured",
    )
    rate: float = parameter(
        AUTOMATIC,
        text="0 = lockstep: a frame waits for the answers before it; above = times real time; "
        "-1 = lockstep, and real time for an external SLAM that does not answer each frame",
        minimum=AUTOMATIC,
        maximum=1000.0,
    )
    start_s: float = parameter(0.0, text="leave out what was before", unit="s", minimum=0.0)
    duration_s: float = parameter(
        0.0, text="leave out what came after; 0 = nothing", unit="s", minimum=0.0
    )
    topics: str = parameter(
        "", text="NAME:=TOPIC_OF_THE_BAG words: these topics go out under these names"
    )
    only: str = parameter("", text="topics of the bag: nothing else goes out; empty = no limit")
    frames: str = parameter("", text="topic of the bag that makes the frames; empty = found")
    estimate: str = parameter(
        "slam/odom", text="poses that the SLAM publishes: a topic, or /tf:PARENT.CHILD"
    )
    poses_of: str = parameter(
        "", text="frame that these are poses of, as imu_link, if not base_link; the bag mounts it"
    )
    map: str = parameter("slam/map", text="PointCloud2 that the SLAM publishes")
    truth: str = parameter(
        "", text="topic of the bag, /tf:PARENT.CHILD or a trajectory file; empty = found"
    )
    protocol: str = parameter("", text="protocol file or preset; empty = the defaults")
    wait_start_s: float = parameter(
        120.0,
        text="longest wait for the SLAM to appear, and for its first answer",
        unit="s wall",
        minimum=0.1,
    )
    wait_frame_s: float = parameter(
        20.0, text="longest wait for one frame's answer", unit="s wall", minimum=0.01
    )


class ReplayNode(ConfiguredNode):
    """Publishes the topics of a bag and records the SLAM's answers."""

    def __init__(self, cli_args: list[str] | None = None) -> None:
        super().__init__("replay", cli_args=cli_args)
        self.parameters = p = declare_parameters(self, ReplayParameters)
        check_pattern(p.slam_process)
        self._is_stop_requested = False
        self.source = BagReader(p.bag)
        vehicle = choose_vehicle(p.vehicle, self.source)
        self.roles = find_roles(self.source.topics, self.source.counts, vehicle)
        topic, colon, frames = p.estimate.partition(":")
        self.estimate = self.resolve_topic_name(topic)
        self.estimate_source = f"{self.estimate}{colon}{frames}"
        self.map_topic = self.resolve_topic_name(p.map)
        self.plan = self._plan()
        for line in (*self.roles.lines(), *self.plan.lines()):
            say(f"  {line}")
        self.sink = ReplayPublisher(self, self.plan.topics)
        self.frames = FrameCollector(self.source.counts.get(self.plan.frames or "", 0))
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        process = p.slam_process or (p.slam if p.slam != EXTERNAL else "")
        self.recorder = ResourceRecorder(pattern=process) if process else None
        self.gate = FrameGate(
            frames_in_flight=_IN_FLIGHT,
            limit_s=p.wait_frame_s,
            first_limit_s=p.wait_frame_s if self._may_fall_back else p.wait_start_s,
            meanwhile=self.spin,
            on_answer=None if self.recorder is None else self.recorder.frame_done,
        )
        self.n_frames = 0
        self._pace: RealTimePace | None = None
        self._note = ""
        self._writer: BagWriter | None = None
        self._stamp_ns = self.source.start_ns
        self._last_answers: LastAnswers | None = None
        self._outputs = SlamOutputs(self, (self.estimate, self.map_topic, TF), self._receive)
        self._start_pace()

    @property
    def is_stop_requested(self) -> bool:
        """Whether the replay should end."""
        return self._is_stop_requested

    def request_stop(self) -> None:
        """End the replay at the next message or check; safe in a signal handler."""
        self._is_stop_requested = True

    def _plan(self) -> PlayPlan:
        p = self.parameters
        return plan_playing(
            self.source.topics,
            self.source.counts,
            self.roles,
            slam=p.slam,
            qos=read_recorded_qos(self.source.path),
            renames=parse_renames(p.topics.split()),
            only=p.only.split(),
            outputs=(self.estimate, self.map_topic),
            truth=p.truth or self.roles.truth,
            frames=p.frames or None,
        )

    @property
    def _may_fall_back(self) -> bool:
        """Whether to fall back to real time without answers: only for external SLAMs."""
        return self.parameters.rate == AUTOMATIC and self.parameters.slam == EXTERNAL

    def _start_pace(self) -> None:
        rate = self.parameters.rate
        if rate == AUTOMATIC and (self.plan.gate is None or self.estimate == TF):
            self._note = "No stamped answers to frames can be waited for: played in real time."
            rate = 1.0
        if rate == LOCKSTEP and self.plan.gate is None:
            raise UserError(
                "rate: lockstep needs a topic that makes the frames, the bag has no camera or "
                "lidar that is played; name one with frames, or give a rate above 0"
            )
        if rate > 0.0:
            self._go_at(rate)

    def _go_at(self, rate: float) -> None:
        self._pace = RealTimePace(rate, meanwhile=lambda left_s: self.spin(left_s))
        self.gate.open()

    def spin(self, longest_s: float = _SPIN_S) -> None:
        """Process received messages, waiting for them some milliseconds at most."""
        self._outputs.subscribe_new_topics()
        self._executor.spin_once(timeout_sec=min(longest_s, _SPIN_S))
        if self.is_stop_requested:
            self.gate.open()

    def replay(self, writer: BagWriter, status: StatusLine) -> ReplayRecord:
        """Play the bag and write the answers; return the record.

        Raises `UserError` if no SLAM appears, or, in lockstep, stops answering.
        """
        self._wait_for_slam(status)
        self._record_into(writer)
        if self.recorder is not None:
            self.recorder.start()
        start_ns = self.source.start_ns + round(self.parameters.start_s * 1e9)
        end_ns = self._end_ns(start_ns)
        since = time.monotonic()
        self._play(start_ns, end_ns, status)
        wall_s = time.monotonic() - since
        self._collect_last_answers()
        return ReplayRecord(
            plan=self.plan,
            is_lockstep=self._pace is None,
            rate=0.0 if self._pace is None else self._pace.rate,
            span_ns=(start_ns, self._stamp_ns),
            wall_s=wall_s,
            n_frames=self.n_frames,
            n_answered=len(self.gate.latencies),
            n_lost=sum(self._outputs.n_lost.values()),
            n_refused=self.sink.n_refused,
            lag_s=0.0 if self._pace is None else self._pace.lag_s,
            unknown=tuple(self.sink.unknown),
            note=self._note,
        )

    def detach(self) -> None:
        """Stop writing: the bag is about to be closed."""
        self._writer = None

    def _end_ns(self, start_ns: int) -> int:
        if start_ns > self.source.end_ns:
            length_s = (self.source.end_ns - self.source.start_ns) * 1e-9
            raise UserError(f"start_s: expected less than the bag's {length_s:.3f} s")
        duration_s = self.parameters.duration_s
        return start_ns + round(duration_s * 1e9) if duration_s > 0.0 else self.source.end_ns

    def _play(self, start_ns: int, end_ns: int, status: StatusLine) -> None:
        played = {topic.source: topic for topic in self.plan.topics}
        span = max(1, end_ns - start_ns)
        copied = set(filter(self._is_copied, self.source.topics))
        for source, stamp_ns, cdr in self.source.raw(played.keys() | copied):
            if self.is_stop_requested or stamp_ns > end_ns:
                return
            is_latched = source in played and played[source].qos.is_latched
            if stamp_ns < start_ns and not is_latched:
                continue
            self._wait_for(max(start_ns, stamp_ns))
            if source in copied and self._writer is not None:
                self._writer.write(source, self._stamp_ns, cdr)
            if source in played:
                self._publish(source, cdr)
            since = max(0, stamp_ns - start_ns)
            status.update(since, 0.0, "replaying", since / span)

    def _wait_for(self, stamp_ns: int) -> None:
        self._stamp_ns = stamp_ns
        if self._pace is not None:
            self._pace.wait(stamp_ns)
            self.spin(0.0)  # also when it is late already
        self.sink.publish_clock(stamp_ns)

    def _publish(self, source: str, cdr: bytes) -> None:
        if source == self.plan.frames:
            self.frames.add(cdr, self.source.topics[source])
        if source == self.plan.gate:
            self.n_frames += 1
            self.gate.pass_frame(header_stamp_ns(cdr))
            if self.gate.is_open and self._pace is None and not self.is_stop_requested:
                self._give_up_lockstep()
        self.sink.publish_cdr(source, cdr)

    def _give_up_lockstep(self) -> None:
        wait_s = self.parameters.wait_frame_s
        what = f"a frame was not answered on {self.estimate} within {wait_s:g} s"
        if not self._may_fall_back:
            raise UserError(f"{what}; see the SLAM's output above, or give a rate above 0")
        self._note = (
            f"After {self.n_frames} frames {what}: played in real time from there on. Give a rate "
            "to play it so from the start."
        )
        say(self._note)
        self._go_at(1.0)

    def _wait_for_slam(self, status: StatusLine) -> None:
        limit_s = self.parameters.wait_start_s
        for _ in range(round(limit_s / _SPIN_S)):
            if self.is_stop_requested:
                return
            if self._outputs.has(self.estimate) and self.sink.n_subscribers(self.plan.gate):
                self._refuse_company()
                return
            status.update(0, 0.0, f"waiting for {self.estimate}", None)
            self.spin()
        raise UserError(
            f"no SLAM appeared within {limit_s:g} s: expected a node that subscribes "
            f"{self.plan.gate or 'a topic that is played'} and publishes {self.estimate}; start "
            "one, or name its topics with --topic and --estimate"
        )

    def _refuse_company(self) -> None:
        """Refuse a domain in which another node plays frames, or two answer them."""
        gate = [topic.name for topic in self.plan.topics if topic.source == self.plan.gate]
        for name in (*gate, *([] if self.estimate == TF else [self.estimate])):
            nodes = [info.node_name for info in self.get_publishers_info_by_topic(name)]
            if len(nodes) > 1:
                raise UserError(
                    f"{name} has several publishers: {', '.join(sorted(nodes))}; end the others, "
                    "or give this run a ROS_DOMAIN_ID of its own"
                )

    def _record_into(self, writer: BagWriter) -> None:
        """Record outputs from now on; truth and mounting are copied, for a self-contained bag."""
        for name in filter(self._is_copied, self.source.topics):
            writer.add_topic(name, self.source.topics[name], latched=name == TF_STATIC)
        self._writer = writer

    def _is_copied(self, name: str) -> bool:
        return name in (TF_STATIC, self.roles.truth) and self.source.counts.get(name, 0) > 0

    def _collect_last_answers(self) -> None:
        self.gate.drain()
        self._last_answers = LastAnswers()
        while not self._last_answers.are_over and not self.is_stop_requested:
            self.spin()

    def _receive(self, name: str, msgtype: str, cdr: bytes) -> None:
        # Poses on a timer go on for ever; only new answers to frames are waited for.
        is_answer = name == self.estimate and self.frames.is_answered_by(_stamp_ns(msgtype, cdr))
        if is_answer and self._last_answers is not None:
            self._last_answers.heard()
        if name == self.estimate and msgtype != TF_MESSAGE:
            self.gate.answer(header_stamp_ns(cdr))
        if self._writer is not None:
            self._writer.add_topic(name, msgtype, latched=msgtype == CLOUD)
            self._writer.write(name, self._stamp_ns, cdr)


def _stamp_ns(msgtype: str, cdr: bytes) -> int:
    """Return the stamp of an output [ns]; for transforms that of the first, 0 without any."""
    if msgtype != TF_MESSAGE:
        return header_stamp_ns(cdr)
    transforms = messages.deserialize(cdr, msgtype).transforms
    return messages.stamp_ns(transforms[0]) if len(transforms) else 0
