# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cameras of a flight: stamps, frames, topics, depth, rolling shutter, and who is waited for."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.messages import stamp_ns
from aerotwin_core.parameters import load_parameters
from aerotwin_multirotor_dynamics.truth_messages import rotor_names
from aerotwin_rendering import Rasteriser, RenderedFrame, no_objects
from aerotwin_sensor_models import CameraParameters
from aerotwin_simulator import (
    AwaitedReadings,
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    LidarSettings,
    RadarSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.body_camera import DEPTH, IDS, MONO, RGB, BodyCamera, CameraTopics, Eye
from aerotwin_simulator.camera_file import load_cameras
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.topics import Topic
from aerotwin_worlds import world_follower

ROUNDING = 1e-12
SMALL = {"width": 64, "height": 48, "fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
DEPTH_ROUNDING_M = 1e-5  # float32 at some metres
SECOND_NS = 1_000_000_000


ROS2 = ControllerSettings(kind="ros2")
SMALL_STEREO = CameraSettings(width=64, height=48)


def climbing(controllers: str) -> ControllerSettings:
    return ControllerSettings(kind=f"python:{controllers}:Climber")


@pytest.fixture
def write(tmp_path):
    """Write a YAML file and return its path."""

    def to(name: str, content: object) -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump(content))
        return str(path)

    return to


@pytest.fixture
def small(write):
    """Return the path of a small camera preset with what differs."""

    def make(name: str = "small.yaml", **parameters) -> str:
        return write(name, {"source": "a test", "parameters": {**SMALL, **parameters}})

    return make


@pytest.fixture
def three_cameras(write, small) -> str:
    """A file of a depth camera that looks down, a fisheye to the left and one with all outputs."""
    small("depth.yaml", near_m=0.05, far_m=50.0)
    small("fisheye.yaml", model="fisheye", k1=0.01, rate_hz=10.0)
    small("plain.yaml", rate_hz=2.0)
    down = {"name": "depth", "preset": "depth.yaml", "outputs": ["depth"], "pitch_deg": 90.0}
    down |= {"rate_hz": 30.0, "x_m": 0.2, "z_m": 0.1}
    left = {"name": "left_eye", "preset": "fisheye.yaml", "outputs": ["rgb"], "yaw_deg": 90.0}
    front = {"name": "front", "preset": "plain.yaml", "outputs": ["mono", "depth", "ids"]}
    return write("cameras.yaml", {"cameras": [down, left, front]})


def last(bag, topic):
    return [message for _, _, message in bag.messages([topic])][-1]


def pixels(message, dtype=np.uint8):
    return np.frombuffer(message.data, dtype).reshape(message.height, message.width, -1)


def test_every_camera_of_a_file_publishes_at_its_due_times(fly, controllers, three_cameras):
    _, bag = fly(controller=climbing(controllers), duration_s=1.1, **{"camera.file": three_cameras})
    rates = {
        "/depth/image_rect": 30.0,
        "/depth/camera_info": 30.0,
        "/left_eye/image_raw": 10.0,
        "/left_eye/camera_info": 10.0,
        "/front/image_raw": 2.0,
        "/front/camera_info": 2.0,
        "/front/depth/image_rect": 2.0,
        "/front/depth/camera_info": 2.0,
        "/front/ids/image_raw": 2.0,
        "/front/ids/camera_info": 2.0,
    }
    for topic, rate_hz in rates.items():
        stamps = [stamp_ns(m) for _, _, m in bag.messages([topic])]
        n = int(1.1 * rate_hz)
        assert stamps == [round(k * SECOND_NS / rate_hz) for k in range(1, n + 1)], topic
    encodings = [last(bag, t).encoding for t in list(rates)[::2]]
    assert encodings == ["32FC1", "rgb8", "mono8", "32FC1", "32SC1"]
    assert last(bag, "/left_eye/camera_info").distortion_model == "equidistant"
    assert last(bag, "/depth/image_rect").header.frame_id == "depth_optical"


def test_depth_straight_down_is_the_height_and_ids_are_meshes(fly, controllers, three_cameras):
    _, bag = fly(controller=climbing(controllers), duration_s=2.0, **{"camera.file": three_cameras})
    truth = {stamp_ns(m): m for _, _, m in bag.messages(["/truth/odom"])}
    seen = [m for _, _, m in bag.messages(["/depth/image_rect"]) if stamp_ns(m) in truth]
    assert len(seen) == 20  # every third frame of 30 Hz meets one of 100 Hz
    for message in seen:
        pose = truth[stamp_ns(message)].pose.pose
        q = pose.orientation
        R = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
        height = pose.position.z + (R @ [0.2, 0.0, 0.1])[2]
        T = T_body_optical((0.0, 0.0, 0.0), pitch_deg=90.0)[:3, :3]
        axis = R @ T[:, 2]
        u, v = np.meshgrid((np.arange(64) - 31.5) / 40.0, (np.arange(48) - 23.5) / 40.0)
        rays = np.stack([u, v, np.ones_like(u)], axis=-1) @ (R @ T).T
        expected = height / -rays[..., 2]  # z along the axis: rays have it 1
        assert axis[2] == pytest.approx(-1.0, abs=1e-3)
        found = pixels(message, np.float32)[..., 0]
        np.testing.assert_allclose(found, expected, atol=DEPTH_ROUNDING_M)
    ids = pixels(last(bag, "/front/ids/image_raw"), np.int32)[..., 0]
    assert (ids[:20] == -1).all() and (ids[30:] == 0).all()  # above the horizon, below it
    depth = pixels(last(bag, "/front/depth/image_rect"), np.float32)[..., 0]
    assert np.isinf(depth[:20]).all() and np.isfinite(depth[30:]).all()


def test_tf_says_where_each_camera_stands_and_looks(fly, controllers, three_cameras):
    _, bag = fly(controller=climbing(controllers), duration_s=0.1, **{"camera.file": three_cameras})
    edges = {e.child_frame_id: e for e in last(bag, "/tf_static").transforms}
    expected = {"imu_link", *rotor_names(4)}
    for name in ("depth", "left_eye", "front"):
        expected |= {name, f"{name}_optical"}
    assert set(edges) == expected
    assert edges["depth"].header.frame_id == "base_link"
    assert edges["depth_optical"].header.frame_id == "depth"
    p, q = edges["depth"].transform.translation, edges["depth"].transform.rotation
    np.testing.assert_allclose([p.x, p.y, p.z], [0.2, 0.0, 0.1], atol=ROUNDING)
    looks = Rotation.from_quat([q.x, q.y, q.z, q.w]).apply([1.0, 0.0, 0.0])
    np.testing.assert_allclose(looks, [0.0, 0.0, -1.0], atol=ROUNDING)


def test_a_mounting_is_turned_by_yaw_then_pitch_then_roll():
    """Literal: the optical axis looks along cam x, image right is body right, and so on."""
    level = T_body_optical((1.0, 2.0, 3.0))
    np.testing.assert_allclose(level[:3, 3], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(level[:3, :3] @ [0, 0, 1], [1, 0, 0], atol=ROUNDING)
    np.testing.assert_allclose(level[:3, :3] @ [1, 0, 0], [0, -1, 0], atol=ROUNDING)
    down = T_body_optical((0, 0, 0), pitch_deg=30.0)[:3, :3] @ [0, 0, 1]
    np.testing.assert_allclose(down, [np.sqrt(0.75), 0.0, -0.5], atol=ROUNDING)
    left = T_body_optical((0, 0, 0), yaw_deg=90.0, pitch_deg=90.0, roll_deg=90.0)[:3, :3]
    np.testing.assert_allclose(left @ [0, 0, 1], [0, 0, -1], atol=ROUNDING)
    np.testing.assert_allclose(left @ [0, 1, 0], [-1, 0, 0], atol=ROUNDING)


def test_the_stereo_pair_may_be_a_preset(fly, controllers, small):
    preset = small(model="brown", k1=-0.1, p1=0.001, baseline_m=0.2, noise={"mean_dn": 3.0})
    _, bag = fly(
        camera=CameraSettings(preset=preset), controller=climbing(controllers), duration_s=0.2
    )
    left, right = (last(bag, f"/stereo/{side}/camera_info") for side in ("left", "right"))
    assert left.d.tolist() == right.d.tolist() == [-0.1, 0.0, 0.001, 0.0, 0.0]
    assert (left.p[3], right.p[3]) == (0.0, -40.0 * 0.2)
    edges = {e.child_frame_id: e for e in last(bag, "/tf_static").transforms}
    y = [edges[f"stereo_{side}"].transform.translation.y for side in ("left", "right")]
    assert y == [0.1, -0.1]
    assert last(bag, "/stereo/left/image_raw").encoding == "mono8"


def test_pictures_of_one_camera_do_not_depend_on_others(fly, controllers, three_cameras):
    common = {
        "camera": CameraSettings(width=64, height=48, focal_px=40.0),
        "controller": climbing(controllers),
        "duration_s": 0.3,
    }
    _, alone = fly("alone", **common)
    _, again = fly("again", **common, **{"camera.file": three_cameras})
    for topic in ("/stereo/left/image_raw", "/stereo/right/image_raw"):
        assert [raw for _, _, raw in alone.raw([topic])] == [
            raw for _, _, raw in again.raw([topic])
        ]


def test_all_cameras_and_vehicles_share_one_rasteriser(
    fly, controllers, three_cameras, monkeypatch
):
    made = []

    def count(meshes):
        made.append(meshes)
        return Rasteriser(meshes)

    monkeypatch.setattr(world_follower, "Rasteriser", count)
    fly(
        controller=climbing(controllers),
        fleet=FleetSettings(instances=2),
        duration_s=0.1,
        **{"camera.file": three_cameras},
    )
    assert len(made) == 1


def fly_half_a_second(parameters, world, folder, sensor="camera"):
    """Return the stamps that were waited at, and the simulation."""
    awaited = {"": AwaitedReadings((waited := []).append, sensor)}
    simulation = Simulation(parameters, world, folder, [], awaited=awaited)
    simulation.start()
    while simulation.stamp_ns < SECOND_NS // 2:
        simulation.advance()
    simulation.close()
    return waited, simulation


@pytest.mark.parametrize(
    ("with_stereo", "with_file", "rate_hz"),
    [(True, True, 20.0), (False, True, 30.0), (False, False, 20.0)],
)
def test_nodes_are_waited_for_at_the_frames_of_the_first_camera(
    flat_world, tmp_path, controllers, three_cameras, with_stereo, with_file, rate_hz
):
    """Without any camera the frames are those of a node that renders: at the stereo rate."""
    file = three_cameras if with_file else "none"
    parameters = SimulatorParameters(
        camera=replace(SMALL_STEREO, is_rendered=with_stereo, file=file),
        controller=climbing(controllers),
    )
    waited, _ = fly_half_a_second(parameters, flat_world, tmp_path)
    n = int(0.5 * rate_hz)
    assert waited == [round(k * SECOND_NS / rate_hz) for k in range(1, n + 1)]


@pytest.mark.parametrize("with_stereo", [True, False])
@pytest.mark.parametrize(("sensor", "rate_hz"), [("lidar", 10), ("radar", 4)])
def test_nodes_are_waited_for_at_the_turns_of_a_scanner(
    flat_world, tmp_path, controllers, with_stereo, sensor, rate_hz
):
    """The stamp is that of the header, the begin of the turn: what an answer carries."""
    parameters = SimulatorParameters(
        camera=replace(SMALL_STEREO, is_rendered=with_stereo),
        lidar=LidarSettings(preset="ideal"),
        radar=RadarSettings(preset="ideal"),
        controller=climbing(controllers),
    )
    waited, simulation = fly_half_a_second(parameters, flat_world, tmp_path, sensor)
    assert waited == [k * SECOND_NS // rate_hz for k in range(rate_hz // 2)]
    read = {"lidar": ["lidar/points"], "radar": ["radar/polar", "radar/points"]}
    assert [topic.name for topic in simulation.vehicles[0].awaited_topics] == read[sensor]


# -- rolling shutter -----------------------------------------------------------------------------


def echo(views):
    """Yield images whose pixels are the x of the camera's place, in millimetres."""
    for view in views:
        image = np.zeros((view.camera.height, view.camera.width), np.uint8)
        image[slice(*view.row_range)] = round(1e3 * view.T_map_optical[0, 3])
        yield RenderedFrame(image=image, depth=np.full(image.shape, 2.0, np.float32))


ECHO = SimpleNamespace(render=lambda views: [*echo(views)], objects_at=no_objects)


def drive(readout_s, step_ns=4_000_000, end_ns=200_000_000):
    """Take pictures of 48 rows at 10 Hz from a body that moves along x by 1 m/s."""
    eye = Eye(
        name="eye",
        frame_id="eye_optical",
        T_body_optical=np.eye(4),
        camera_index=0,
        sinks={MONO: CameraTopics(image=Topic("image", ""), info=Topic("info", ""))},
    )
    parameters = CameraParameters(**SMALL, readout_s=readout_s)
    camera = BodyCamera(parameters, [eye], rate_hz=10.0, renderer=ECHO, seed=0)

    def pose(stamp_ns):
        return make_transform(np.eye(3), [stamp_ns * 1e-9, 0.0, 0.0])

    for now_ns in range(step_ns, end_ns + 1, step_ns):
        for stamp, pictures in camera.frames(SimpleNamespace(end_ns=now_ns, pose=pose)):
            image = pictures[1][1][-48 * 64 :]
            yield now_ns, stamp, np.frombuffer(image, np.uint8).reshape(48, 64)


def test_the_eyes_of_a_pair_have_noise_of_their_own():
    def eye(k):
        kinds = {
            kind: CameraTopics(image=Topic(f"{k}/{kind}", ""), info=Topic("info", ""))
            for kind in (MONO, DEPTH)
        }
        return Eye(
            name=f"eye{k}",
            frame_id="",
            T_body_optical=np.eye(4),
            camera_index=k,
            sinks=kinds,
        )

    noise = {"read_noise_dn": 5.0}
    depth_noise = {"disparity_noise_px": 1.0}
    parameters = load_parameters(
        CameraParameters, {**SMALL, "noise": noise, "depth_noise": depth_noise}, where="a test"
    )
    pair = BodyCamera(parameters, [eye(0), eye(1)], rate_hz=10.0, renderer=ECHO, seed=0)
    motion = SimpleNamespace(end_ns=100_000_000, pose=lambda _: np.eye(4))
    ((_, pictures),) = pair.frames(motion)
    found = {topic.name: cdr for topic, cdr in pictures}
    assert found["0/mono"] != found["1/mono"] and found["0/depth"] != found["1/depth"]


def test_a_global_shutter_sees_one_instant():
    (now_ns, stamp, image), (_, second, _) = drive(0.0)
    assert (now_ns, stamp, second) == (100_000_000, 100_000_000, 200_000_000)
    assert (image == 100).all()


def test_a_rolling_shutter_sees_each_band_when_its_middle_row_is_read():
    ((now_ns, stamp, image),) = drive(0.047, end_ns=160_000_000)
    assert stamp == 100_000_000  # the first row
    assert now_ns == 140_000_000  # the first step after the last band, at 139.5 ms
    rows = np.arange(48)
    middle = 16 * (rows // 16) + 7.5
    np.testing.assert_allclose(image[:, 0], 100 + middle, atol=0.5)  # 1 mm a row


@pytest.mark.parametrize("model", ["pinhole", "fisheye"])
def test_a_rolling_shutter_at_rest_sees_what_a_global_one_sees(flat_world, model):
    sinks = CameraTopics(image=Topic("image", ""), info=Topic("info", ""))
    eye = Eye(
        name="eye",
        frame_id="eye_optical",
        T_body_optical=T_body_optical((0.0, 0.0, 2.0), pitch_deg=20.0),
        camera_index=0,
        sinks={RGB: sinks, DEPTH: sinks, IDS: sinks},
    )
    seen = []
    for readout_s, n_bands in ((0.0, 1), (0.02, 3)):
        parameters = CameraParameters(**SMALL, model=model, readout_s=readout_s)
        camera = BodyCamera(
            parameters, [eye], rate_hz=10.0, renderer=world_follower.Renderer(flat_world), seed=0
        )
        seen += camera.render([np.eye(4)] * n_bands)
    for name in ("image", "depth", "ids"):
        np.testing.assert_array_equal(getattr(seen[0], name), getattr(seen[1], name))
    assert np.isfinite(seen[0].depth[30:]).all()


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cameras", "message"),
    [
        ([{"name": "9"}], "name: expected a letter"),
        ([{"name": "base_link_truth"}], "no frame of other sensors"),
        ([{"name": "a_optical"}], "name: expected a letter"),
        ([{"name": "a"}, {"name": "a"}], "found a more than once"),
        ([{"name": "a", "outputs": []}], "outputs: expected some of"),
        ([{"name": "a", "outputs": ["rgb", "mono"]}], "of mono, rgb and bgr one"),
        ([{"name": "a", "outputs": ["depth", "depth"]}], "each once"),
        ([{"name": "a", "outputs": ["thermal"]}], "outputs: expected some of"),
        ([{"name": "a", "preset": "kodak"}], "a: preset: camera has none named 'kodak'"),
        ([{"name": "a", "preset": "none.yaml"}], "none.yaml: cannot be read"),
        ([{"name": "a", "rate": 3.0}], "unknown key 'rate'"),
    ],
)
def test_files_of_cameras_that_cannot_be_are_refused_before_the_flight(write, cameras, message):
    path = write("cameras.yaml", {"cameras": cameras})
    with pytest.raises(ParameterError, match=message):
        load_cameras(path)
    with pytest.raises(ParameterError, match=message):
        check_before_flight(SimulatorParameters(controller=ROS2, camera=CameraSettings(file=path)))


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        (CameraSettings(preset="dji_o3"), "expected a pair, found dji_o3"),
        (CameraSettings(preset="kodak"), "camera has none named 'kodak'"),
        (CameraSettings(preset="mt9v034_stereo", width=640), "camera.width: expected its def"),
        (CameraSettings(preset="mt9v034_stereo", noise="ideal"), "camera.noise: expected"),
    ],
)
def test_stereo_presets_that_cannot_be_are_refused_before_the_flight(camera, message):
    with pytest.raises(ParameterError, match=message):
        check_before_flight(SimulatorParameters(controller=ROS2, camera=camera))
