# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_map_evaluation import MapProtocol, MapReference, SurfaceReference
from aerotwin_map_evaluation.inputs import read_poses
from aerotwin_map_evaluation.observed import CameraFieldOfView, FieldOfView, visible_samples
from aerotwin_map_evaluation.reference import cubes, lattice_edge
from aerotwin_map_evaluation.surface import align_to_surface
from aerotwin_voxel_cloud import load_map, read_binvox

FLOAT32 = 2e-5
FOUR_DECIMALS = 1e-4


def box_mesh(size=(4.0, 2.0, 1.0), centre=(0.0, 0.0, 0.0)):
    surface = cubes(np.zeros((1, 3)), 1.0)
    return SurfaceReference(surface.vertices * size + centre, surface.triangles)


def all_round():
    return FieldOfView(lower_deg=-90.0, upper_deg=90.0)


def test_samples_stand_for_equal_areas():
    box = box_mesh()
    assert box.area_m2 == pytest.approx(2 * (8 + 4 + 2))
    samples = box.samples(0.05)
    assert len(samples) == pytest.approx(28 / 0.05**2, abs=1)
    assert box.distances(samples).max() < FLOAT32
    top = np.mean(samples[:, 2] > 0.5 - 1e-6)
    assert top == pytest.approx(8 / 28, abs=1e-3)
    # Evenly within a face too: quarters of the top hold a quarter each.
    on_top = samples[samples[:, 2] > 0.5 - 1e-6]
    quarter = np.mean((on_top[:, 0] > 0) & (on_top[:, 1] > 0))
    assert quarter == pytest.approx(0.25, abs=5e-3)


def test_a_half_seen_box_is_complete_by_its_seen_area():
    """From far above only the top is seen; from a corner above, three faces."""
    box = box_mesh()
    samples = box.samples(0.05)
    above = make_transform(np.eye(3), [0.0, 0.0, 500.0])[None]
    seen = visible_samples(box, samples, above, all_round(), max_range_m=1e4)
    # A rim of the tolerance's 5 mm below the edges of the top passes too: 12 m x 5 mm.
    assert len(seen) / len(samples) == pytest.approx((8 + 0.06) / 28, abs=1e-3)
    corner = make_transform(np.eye(3), [300.0, 200.0, 400.0])[None]
    seen = visible_samples(box, samples, corner, all_round(), max_range_m=1e4)
    assert len(seen) / len(samples) == pytest.approx(0.5, abs=5e-3)


def test_what_stands_behind_is_hidden_and_what_is_far_is_not_asked_for():
    wall = cubes(np.array([[0.0, 0, 0], [0.0, 5, 0]]), 1.0)
    samples = wall.samples(0.05)
    eye = make_transform(np.eye(3), [0.0, -20.0, 0.0])[None]
    near = visible_samples(wall, samples, eye, all_round(), max_range_m=100.0)
    assert near[:, 1].max() < -0.4  # the front face of the first cube hides the second
    assert len(visible_samples(wall, samples, eye, all_round(), max_range_m=10.0)) == 0


def random_poses(rng, n):
    """Return poses (n, 4, 4) within 20 m of the origin, turned at random."""
    R = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    R *= np.linalg.det(R)[:, None, None]
    return np.array([make_transform(R[k], rng.uniform(-20.0, 20.0, 3)) for k in range(n)])


@pytest.mark.parametrize("range_m", [15.0, 60.0])
def test_what_a_camera_saw_is_what_each_sample_alone_would_say(range_m):
    rng = np.random.default_rng(1000)
    wall = cubes(rng.uniform(-20.0, 20.0, (60, 3)), 4.0)
    samples, poses = wall.samples(0.5), random_poses(rng, 30)
    camera = PinholeCamera(width=64, height=24, fx=40.0, fy=40.0, cx=20.0, cy=11.5)
    is_seen = np.zeros(len(samples), dtype=bool)
    for T in poses:
        optical = (samples - T[:3, 3]) @ T[:3, :3]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = 40.0 * optical[:, 0] / optical[:, 2] + 20.0
            v = 40.0 * optical[:, 1] / optical[:, 2] + 11.5
        is_in = (optical[:, 2] > 1e-3) & (u >= -0.5) & (u <= 63.5) & (v >= -0.5) & (v <= 23.5)
        is_in &= np.linalg.norm(optical, axis=1) < range_m
        is_seen |= is_in & wall.visible(samples, T[:3, 3], 0.005)
    seen = visible_samples(wall, samples, poses, CameraFieldOfView(camera), max_range_m=range_m)
    assert 0.02 < is_seen.mean() < 0.8
    np.testing.assert_array_equal(seen, samples[is_seen])


def test_a_field_of_view_is_all_around_and_z_up():
    view = FieldOfView(lower_deg=-10.0, upper_deg=20.0)
    points = np.array([[1.0, 0, 0], [1, 0.9, 0], [1, 1.1, 0], [-1, 0, 0], [1, 0, 0.3],
                       [1, 0, 0.4], [1, 0, -0.2]])  # fmt: skip
    assert view(points).tolist() == [True, True, True, True, True, False, False]
    with pytest.raises(ValueError, match="lower_deg"):
        FieldOfView(lower_deg=10.0, upper_deg=-10.0)


def test_a_cloud_hides_itself_as_cubes():
    x, z = np.meshgrid(np.arange(20.0), np.arange(10.0))
    front = np.column_stack([x.ravel(), np.zeros(200), z.ravel()])
    reference = MapReference(None, np.vstack([front, front + np.array([0, 6.0, 0])]), 1.0)
    eye = make_transform(np.eye(3), [10.0, -30.0, 5.0])[None]
    seen = reference.seen_from(eye, all_round(), MapProtocol())
    assert len(seen) == 200
    assert (seen[:, 1] == 0.0).all()


@pytest.mark.parametrize("edge", [1.0, 0.25, 0.1, 2.5])
def test_voxel_centres_are_known_by_their_lattice(edge):
    rng = np.random.default_rng(1000)
    x, y = np.meshgrid(np.arange(60), np.arange(50))
    index = np.column_stack([x.ravel(), y.ravel(), (8 * np.sin(0.1 * x) + 0.1 * y).ravel() // 1])
    centres = (index + 0.5) * edge + [1000.0, -2000.0, 7.0]
    assert lattice_edge(centres) == pytest.approx(edge, rel=1e-6)
    # Written as float32, half a step of 1e-4 at 2 km
    assert lattice_edge(centres.astype(np.float32).astype(float)) == pytest.approx(edge, rel=1e-4)
    assert lattice_edge(centres + rng.normal(0, 0.05 * edge, centres.shape)) is None


def test_a_cloud_written_in_millimetres_is_no_voxel_grid():
    points = np.random.default_rng(1000).uniform(0, 30, (5000, 3)).round(3)
    assert lattice_edge(points) is None


def test_distances_that_a_cloud_cannot_give_are_refused_with_a_way_out():
    cloud = MapReference(None, np.random.default_rng(1).normal(size=(100, 3)), None)
    with pytest.raises(UserError, match="use points"):
        cloud.distances(np.zeros((1, 3)), "boxes")
    with pytest.raises(UserError, match="--surface"):
        cloud.distances(np.zeros((1, 3)), "surface")


def test_a_plane_against_voxels_scores_the_known_floor():
    """errata_and_protocols: 0.480 s and 0.139 s, averaged over orientations (40 planes)."""
    rng = np.random.default_rng(1000)
    means, deviations = [], []
    for _ in range(40):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        u = np.cross(normal, [1.0, 0, 0] if abs(normal[0]) < 0.9 else [0, 1.0, 0])
        u /= np.linalg.norm(u)
        v = np.cross(normal, u)
        a, b = rng.uniform(-11, 11, (2, 25_000))
        points = np.outer(a, u) + np.outer(b, v) + rng.uniform(0, 1, 3)
        occupied = np.unique(np.floor(points), axis=0) + 0.5
        inner = points[(np.abs(a) < 7) & (np.abs(b) < 7)]
        distances = MapReference(None, occupied, 1.0).distances(inner)
        means.append(distances.mean())
        deviations.append(distances.std())
    sample_error = 5 * 0.02 / np.sqrt(40)  # planes differ by about 0.02 from each other
    assert np.mean(means) == pytest.approx(0.480, abs=sample_error)
    assert np.mean(deviations) == pytest.approx(0.139, abs=sample_error)


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5])
def test_a_horizontal_plane_scores_by_its_height_in_the_voxel(offset):
    """Mean of sqrt(x^2 + y^2 + h^2) over a unit square: 0.3826 at the centre, 0.6 at a face."""
    rng = np.random.default_rng(1001)
    n = 200_000
    x, y = np.meshgrid(np.arange(-15, 15) + 0.5, np.arange(-15, 15) + 0.5)
    centres = np.column_stack([x.ravel(), y.ravel(), np.zeros(900)])
    points = np.column_stack([rng.uniform(-10, 10, (n, 2)), np.full(n, offset)])
    u = (np.arange(1000) + 0.5) / 1000 - 0.5
    expected = np.sqrt(u[:, None] ** 2 + u**2 + offset**2).mean()
    found = MapReference(None, centres, 1.0).distances(points).mean()
    assert found == pytest.approx(expected, abs=5 * 0.14 / np.sqrt(n))
    if offset == 0.0:
        assert expected == pytest.approx(0.3826, abs=1e-4)


def test_the_chair_of_trimesh_lies_as_far_from_its_voxels_as_its_notes_say(shared_data):
    """README of the data: mean 0.0075, 95 % 0.0148, by 100 000 samples of the mesh."""
    grid = read_binvox(shared_data("binvox/trimesh/chair_model.binvox"))[0]
    mesh = load_map(shared_data("binvox/trimesh/chair_model.obj")).content
    surface = SurfaceReference(mesh.vertices, mesh.triangles)
    centres = grid.centres()
    assert len(centres) == 1932
    samples = surface.samples(np.sqrt(surface.area_m2 / 100_000))
    by_samples = MapReference(None, samples, None).distances(centres)
    assert by_samples.mean() == pytest.approx(0.0075, abs=FOUR_DECIMALS)
    assert np.quantile(by_samples, 0.95) == pytest.approx(0.0148, abs=FOUR_DECIMALS)
    # The mesh itself is nearer than samples of it, by at most half their spacing's diagonal.
    exact = surface.distances(centres)
    assert (exact <= by_samples + FLOAT32).all()
    assert exact.mean() == pytest.approx(0.0073, abs=FOUR_DECIMALS)
    assert lattice_edge(centres) == pytest.approx(0.663756 / 32, rel=1e-4)


def test_the_voxels_of_airsim_are_a_lattice_of_a_metre(shared_data):
    points = load_map(shared_data("binvox/airsim_ppo/map.binvox")).content
    assert len(points) == 43_519
    assert lattice_edge(points) == pytest.approx(1.0)
    reference = MapReference.of(None, points, MapProtocol())
    ground = points[points[:, 2] == points[:, 2].min()]
    assert len(ground) == 10_000  # the complete ground plane, 100 x 100
    # Half a cell above the ground's centres is its face: no distance to the box, half to points.
    above = ground + np.array([0.0, 0.0, 0.5])
    assert reference.distances(above, "boxes").max() < FLOAT32
    assert reference.distances(above, "points").max() == pytest.approx(0.5)


@pytest.mark.parametrize("half_m", [500.0, 1500.0])
@pytest.mark.parametrize("with_scale", [False, True])
def test_a_shift_of_a_large_map_is_found(half_m, with_scale):
    """Walls are few and far apart on a map of a kilometre, and say where it lies all the same."""
    rng = np.random.default_rng(1000)
    sizes, places = rng.uniform(10, 60, (60, 3)), rng.uniform(-0.9 * half_m, 0.9 * half_m, (60, 2))
    boxes = cubes(np.zeros((60, 3)), 1.0)
    middles = np.column_stack([places, sizes[:, 2] / 2.0])
    vertices = boxes.vertices.reshape(60, 8, 3) * sizes[:, None] + middles[:, None]
    ground = np.array([[x, y, 0.0] for x in (-half_m, half_m) for y in (-half_m, half_m)])
    triangles = np.vstack([boxes.triangles, np.array([[0, 1, 3], [0, 3, 2]]) + 480])
    surface = SurfaceReference(np.vstack([vertices.reshape(-1, 3), ground]), triangles)
    shift = np.array([0.5, -0.4, 0.3])
    points = surface.samples(half_m / 200.0) + shift
    S, left_open = align_to_surface(points, surface, radius_m=1.0, with_scale=with_scale)
    assert left_open == ()
    centre = points.mean(axis=0)
    np.testing.assert_allclose(S[:3, :3] @ centre + S[:3, 3], centre - shift, atol=0.01)


def test_what_a_plane_leaves_open_is_said():
    corners = np.array([[0.0, 0, 0], [50, 0, 0], [50, 50, 0], [0, 50, 0]])
    plane = SurfaceReference(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    points = plane.samples(0.5) * [0.9, 0.9, 1.0] + [2.0, 2.0, 0.2]
    S, left_open = align_to_surface(points, plane, radius_m=1.0)
    assert S[2, 3] == pytest.approx(-0.2, abs=1e-3)
    # Two shifts and a turn, in any mixture: none of them moves a point off the plane.
    assert len(left_open) == 3
    for direction in left_open:
        motion = [*direction.translation, *direction.rotation]
        np.testing.assert_allclose(motion[2:5], 0.0, atol=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_poses_in_a_mirrored_frame_are_refused(tmp_path, sign):
    rows = np.tile(np.eye(4)[:3].ravel(), (3, 1))
    rows[:, 0] = sign
    np.savetxt(tmp_path / "poses.txt", rows)
    if sign > 0.0:
        assert read_poses(str(tmp_path / "poses.txt")).shape == (3, 4, 4)
        return
    with pytest.raises(UserError, match="mirrored"):
        read_poses(str(tmp_path / "poses.txt"))


@pytest.mark.parametrize(
    ("edge", "offset"), [(0.1, [500_000.0, 5_200_000.0, 400.0]), (1.0, [500_000, 5_200_000, 0.0])]
)
def test_voxel_centres_are_known_in_utm_too(edge, offset):
    x, y = np.meshgrid(np.arange(60), np.arange(50))
    index = np.column_stack([x.ravel(), y.ravel(), (x + y).ravel() // 7])
    assert lattice_edge((index + 0.5) * edge + offset) == pytest.approx(edge, rel=1e-6)
