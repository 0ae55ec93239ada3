# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of cameras in flight, beside the same flight without them.

The controller flies by truth, so that faults of sensors do not move the vehicle.
"""

import math

import numpy as np
import pytest
import yaml
from scipy.stats import norm

from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.errors import ParameterError
from aerotwin_core.frame_gate import FrameGate
from aerotwin_core.messages import deserialize, stamp_ns
from aerotwin_faults import FaultTiming, activated, load_fault
from aerotwin_simulator import (
    AwaitedReadings,
    CameraSettings,
    ControllerSettings,
    LidarSettings,
    RadarSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.sent_frames import FrameQueue
from aerotwin_simulator.topics import MessageSink, Topic

SECOND = 1_000_000_000
FRAME, STEP = SECOND // 20, SECOND // 250
FROM_1_TO_2 = FaultTiming(begin_ns=SECOND, duration_s=1.0)
ALWAYS = FaultTiming(begin_ns=0)
LEFT, RIGHT = "/stereo/left/image_raw", "/stereo/right/image_raw"
PAIR = {"is_rendered": True, "width": 64, "height": 48, "focal_px": 40.0}
SIGMAS = 5.0


def is_during(stamp):
    return SECOND <= stamp < 2 * SECOND


@pytest.fixture
def flown(fly, controllers):
    """Hover for 2.5 s; return (stamp, logged, message) of topics and the simulation."""
    n_flights = 0

    def run(*topics, faults=(), noise="ideal", **parameters):
        nonlocal n_flights
        n_flights += 1
        simulation, bag = fly(
            f"flight_{n_flights}",
            faults,
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            **{"duration_s": 2.5, "camera": CameraSettings(**PAIR, noise=noise)} | parameters,
        )
        found = [[(stamp_ns(m), t, m) for _, t, m in bag.messages([topic])] for topic in topics]
        return (*found, bag, simulation)

    return run


def pictures(messages):
    return {stamp: picture_from_image(message) for stamp, _, message in messages}


def rng():
    return np.random.default_rng(0)  # that of the flights: their seed is 0


# -- images ----------------------------------------------------------------------------------------


def test_a_flight_with_a_fault_yet_to_come_is_the_same_to_the_byte(flown):
    kinds = ("camera_black", "camera_delay", "camera_frozen", "lidar_rain", "radar_loss")
    later = FaultTiming(begin_ns=60 * SECOND)
    sensors = {"lidar": LidarSettings(preset="spinning_16"), "radar": RadarSettings(preset="ideal")}
    short = {"noise": "default", "duration_s": 0.6, **sensors}
    *_, sound, _ = flown(**short)
    *_, faulty, _ = flown(**short, faults=[(kind, {}, later) for kind in kinds])
    assert [*sound.raw()] == [*faulty.raw()]
    assert sound.counts["/lidar/points"] == 6
    assert sound.counts[LEFT] == 12


@pytest.mark.parametrize(
    ("kind", "own"),
    [("camera_blur", {"sigma_px": 2.0}), ("camera_dirt", {"spots": 20}), ("camera_black", {}),
     ("camera_exposure", {"ev": -1.0}), ("camera_exposure", {"ev": 1.0})],
)  # fmt: skip
def test_without_noise_an_image_is_the_light_that_is_left(flown, kind, own):
    sound, *_ = map(pictures, flown(LEFT, RIGHT)[:2])
    left, right = map(pictures, flown(LEFT, RIGHT, faults=[(kind, own, FROM_1_TO_2)])[:2])
    effect = load_fault(kind, own, where="test").effect(rng())
    moment = FROM_1_TO_2.moment(SECOND)
    n_changed = 0
    for stamp, image in sound.items():
        expected = image.astype(float)
        if is_during(stamp):
            light = effect.light(image, "stereo_left", moment).astype(float)
            expected = np.minimum(light * effect.light_factor(moment), 255.0)
            n_changed += (left[stamp] != image).any()
        np.testing.assert_allclose(left[stamp], expected, atol=0.5)
    assert n_changed == 20
    assert sound.keys() == left.keys() == right.keys()


def test_a_covered_camera_is_left_with_the_noise_of_its_sensor(flown):
    left, *_ = flown(LEFT, noise="default", faults=[("camera_black", {}, FROM_1_TO_2)])
    images = [image for stamp, image in pictures(left).items() if is_during(stamp)]
    values = np.concatenate([image.ravel() for image in images]).astype(float)
    # of N(0, 1) rounded and cut off at 0
    levels = np.arange(1, 6)
    share = norm.cdf(levels + 0.5) - norm.cdf(levels - 0.5)
    mean, variance = share @ levels, share @ levels**2 - (share @ levels) ** 2
    error = SIGMAS * math.sqrt(variance / len(values))
    assert values.mean() == pytest.approx(mean, abs=error)
    assert values.std() > 0.0


def test_noise_is_as_without_a_fault_where_the_light_is(flown):
    """Brighter light is collected before noise is added: their ratio is not 2^ev."""
    sound, *_ = flown(LEFT, noise="default")
    bright, *_ = flown(LEFT, noise="default", faults=[("camera_exposure", {"ev": 1.0}, ALWAYS)])
    sound, bright = pictures(sound), pictures(bright)
    dark = np.concatenate([(image < 100).ravel() for image in sound.values()])
    a = np.concatenate([image.ravel() for image in sound.values()]).astype(float)
    b = np.concatenate([image.ravel() for image in bright.values()]).astype(float)
    lit = dark & (a > 20)
    assert np.mean(b[lit]) / np.mean(a[lit]) == pytest.approx(2.0, abs=0.01)
    # 2 light + n with the same n that sound has: what is left of it after 2 light is n - 2 n
    assert np.std((b - 2.0 * a)[lit]) == pytest.approx(1.0, abs=0.6)


def test_dirt_on_one_lens_leaves_the_other_clean(flown):
    own = {"camera": "stereo_left", "spots": 20}
    *sound, _, _ = flown(LEFT, RIGHT)
    *faulty, _, _ = flown(LEFT, RIGHT, faults=[("camera_dirt", own, ALWAYS)])
    (left, right), (dirty, clean) = map(pictures, sound), map(pictures, faulty)
    assert all((dirty[stamp] != image).any() for stamp, image in left.items())
    assert all((clean[stamp] == image).all() for stamp, image in right.items())


def test_a_frozen_camera_repeats_its_bytes_with_new_stamps(flown):
    frozen, *_ = flown(LEFT, noise="default", faults=[("camera_frozen", {}, FROM_1_TO_2)])
    sound, *_ = flown(LEFT, noise="default")
    assert [stamp for stamp, *_ in frozen] == [stamp for stamp, *_ in sound]
    held = {m.data.tobytes() for stamp, _, m in frozen if is_during(stamp)}
    assert held == {m.data.tobytes() for stamp, _, m in sound if stamp == SECOND}
    after = [m.data.tobytes() for stamp, _, m in frozen if not is_during(stamp)]
    assert after == [m.data.tobytes() for stamp, _, m in sound if not is_during(stamp)]


def test_dropped_frames_are_gone_with_both_images_and_the_same_again(flown):
    topics = (LEFT, RIGHT, "/stereo/left/camera_info", "/stereo/right/camera_info")
    faults = [("camera_dropped", {"share": 0.5}, FROM_1_TO_2)]
    sound, *_ = flown(LEFT)
    *found, _, _ = flown(*topics, faults=faults)
    *again, _, _ = flown(*topics, faults=faults)
    stamps = [[stamp for stamp, *_ in messages] for messages in found]
    assert stamps[0] == stamps[1] == stamps[2] == stamps[3]
    assert [[stamp for stamp, *_ in messages] for messages in again] == stamps
    lost = {stamp for stamp, *_ in sound} - {*stamps[0]}
    assert all(map(is_during, lost))
    assert len(lost) == pytest.approx(10, abs=SIGMAS * math.sqrt(5.0))
    kept = pictures(found[0])
    assert all((kept[stamp] == image).all()
               for stamp, image in pictures(sound).items() if stamp in kept)  # fmt: skip


def test_delayed_frames_are_late_in_order_and_say_when_they_were_taken(flown):
    sound, *_ = flown(LEFT)
    found, *_ = flown(LEFT, faults=[("camera_delay", {"seconds": 0.12}, FROM_1_TO_2)])
    assert len(found) == len(sound)
    last = 0
    for (stamp, logged, message), (_, before, original) in zip(found, sound, strict=True):
        assert before == stamp_ns(original) == stamp
        assert message.data.tobytes() == original.data.tobytes()
        last = max(stamp + (120_000_000 if is_during(stamp) else 0), last)
        assert logged == last  # also after the end: none overtakes


def test_depth_is_lost_behind_a_cover_and_ids_are_not(flown, tmp_path):
    preset = {"width": 64, "height": 48, "fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({"source": "a test", "parameters": preset}))
    down = {"name": "down", "preset": "small.yaml", "outputs": ["depth", "ids"], "pitch_deg": 60.0}
    (tmp_path / "cameras.yaml").write_text(yaml.safe_dump({"cameras": [down]}))
    camera = CameraSettings(is_rendered=False, file=str(tmp_path / "cameras.yaml"))
    topics = "/down/image_rect", "/down/ids/image_raw"
    depth, ids, *_ = flown(*topics, camera=camera, faults=[("camera_black", {}, FROM_1_TO_2)])
    assert len(depth) > 40
    for (stamp, _, message), (_, _, labels) in zip(depth, ids, strict=True):
        values = np.frombuffer(message.data, np.float32)
        assert np.isnan(values).all() if is_during(stamp) else not np.isnan(values).any()
        assert (np.frombuffer(labels.data, np.int32) == 0).any()


# -- who is waited for -----------------------------------------------------------------------------


@pytest.fixture
def waited(flat_world, tmp_path, controllers):
    """Fly 1 s; return (now, stamp) of what was waited at [ns], and the simulation."""

    def run(*faults, **parameters):
        values = SimulatorParameters(
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
            camera=CameraSettings(**PAIR),
            **parameters,
        )
        found: list[tuple[int, int]] = []
        simulation = Simulation(
            values,
            flat_world,
            tmp_path,
            [],
            awaited={"": AwaitedReadings(lambda s: found.append((simulation.stamp_ns, s)))},
        )
        for kind, own in faults:
            fault = load_fault(kind, own, where="test")
            simulation.vehicles[0].faults.add(activated(kind, fault, ALWAYS, rng()))
        simulation.start()
        while simulation.stamp_ns < SECOND:
            simulation.advance()
        simulation.close()
        return found, simulation

    return run


@pytest.mark.parametrize("camera", ["", "stereo_right"])
def test_a_frame_that_is_dropped_in_part_is_not_waited_for(waited, camera):
    found, _ = waited(("camera_dropped", {"camera": camera, "share": 0.5}))
    assert 0 < len(found) < 20
    assert waited(("camera_dropped", {"camera": camera}))[0] == []


@pytest.mark.parametrize("camera", ["", "stereo_right"])
def test_a_delayed_frame_is_waited_for_when_it_is_published(waited, camera):
    found, _ = waited(("camera_delay", {"camera": camera, "seconds": 0.3}))
    assert [stamp for _, stamp in found] == [k * FRAME for k in range(1, 15)]
    assert all(0 <= now - stamp - 300_000_000 < STEP for now, stamp in found)


class Follower(MessageSink):
    """A sink that answers frames of which it has both images, when the gate asks."""

    def __init__(self) -> None:
        self._halves, self._whole = set(), []
        self.gate = FrameGate(
            frames_in_flight=1, limit_s=60.0, first_limit_s=60.0, meanwhile=self.answer
        )

    def add(self, topic):
        pass

    def publish_cdr(self, topic, sent_ns, cdr):
        if not topic.name.endswith("image_raw"):
            return
        stamp = stamp_ns(deserialize(cdr, topic.msgtype))
        if stamp in self._halves:
            self._whole.append(stamp)
        self._halves.add(stamp)

    def answer(self):
        assert self._whole, "the gate waits for what was never sent"
        self.gate.answer(self._whole.pop(0))


@pytest.mark.parametrize("camera", ["", "stereo_left", "stereo_right"])
def test_a_follower_of_faulty_frames_keeps_pace(flat_world, tmp_path, controllers, camera):
    follower = Follower()
    values = SimulatorParameters(
        controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"),
        camera=CameraSettings(**PAIR),
    )
    simulation = Simulation(
        values,
        flat_world,
        tmp_path,
        [follower],
        awaited={"": AwaitedReadings(follower.gate.pass_frame)},
    )
    half_way = FaultTiming(begin_ns=SECOND, ramp_s=0.5, duration_s=1.0)
    for kind, own in [("camera_dropped", {"share": 0.5}), ("camera_delay", {"seconds": 0.3})]:
        fault = load_fault(kind, own | {"camera": camera}, where="test")
        simulation.vehicles[0].faults.add(activated(kind, fault, half_way, rng()))
    simulation.start()
    while simulation.stamp_ns < 3 * SECOND:
        simulation.advance()
    simulation.close()
    follower.gate.drain()
    assert not follower.gate.is_open
    stamps = [latency.stamp_ns for latency in follower.gate.latencies]
    assert stamps == sorted(stamps)
    assert 40 < len(stamps) < 60
    assert {*range(FRAME, SECOND, FRAME), 3 * SECOND} <= {*stamps}


def test_a_reset_forgets_delayed_frames(waited):
    found, simulation = waited(("camera_delay", {"seconds": 0.3}))
    before = len(found)
    simulation.reset()
    while simulation.stamp_ns < 2 * SECOND:
        simulation.advance()
    simulation.close()
    assert [stamp for _, stamp in found[before:]] == [k * FRAME for k in range(21, 41)]


def test_images_of_a_pair_part_if_one_is_late():
    info, left, right = (Topic(name, "") for name in ("info", "left", "right"))
    queue = FrameQueue({info: "l", left: "l", right: "r"})
    fault = load_fault("camera_delay", {"camera": "l", "seconds": 0.5}, where="test")
    late = [activated("late", fault, ALWAYS, rng())]
    messages = [(info, b"1"), (left, b"2"), (right, b"3")]
    queue.add(SECOND, messages, late)
    assert [*queue.until(SECOND)] == [(SECOND, SECOND, messages[2:], False)]
    assert [*queue.until(3 * SECOND // 2 - 1)] == []
    assert [*queue.until(3 * SECOND // 2)] == [(SECOND, 3 * SECOND // 2, messages[:2], True)]
    assert [*queue.until(9 * SECOND)] == []


# -- what is refused -------------------------------------------------------------------------------


def test_a_sensor_that_is_not_there_cannot_fail(flat_world, tmp_path, controllers):
    def vehicle(camera):
        parameters = SimulatorParameters(
            controller=ControllerSettings(kind=f"python:{controllers}:Hoverer"), camera=camera
        )
        return Simulation(parameters, flat_world, tmp_path, []).vehicles[0]

    with_pair, without = vehicle(CameraSettings(**PAIR)), vehicle(CameraSettings(is_rendered=False))
    for one, kind, own, message in [
        (with_pair, "camera_black", {"camera": "lef"}, "one of stereo_left, stereo_right, or noth"),
        (without, "camera_black", {}, "the vehicle has no camera; give it camera.is_rendered or"),
        (with_pair, "lidar_rain", {}, "has no lidar; mount one by lidar.preset"),
        (with_pair, "radar_loss", {}, "has no radar; mount one by radar.preset"),
    ]:
        fault = load_fault(kind, own, where="test")
        with pytest.raises(ParameterError, match=message):
            one.faults.add(activated("broken", fault, ALWAYS, rng()))
        assert not one.faults.of(fault.place)
