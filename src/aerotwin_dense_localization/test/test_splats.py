# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The splat rasteriser against closed forms and a slow version that asks the camera only."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera, FisheyeCamera, PinholeCamera
from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_dense_localization.splats import SplatCloud, SplatParameters, SplatRasteriser

LENS = {"width": 96, "height": 64, "fx": 70.0, "fy": 75.0, "cx": 47.0, "cy": 30.5}
CAMERAS = [
    PinholeCamera(**LENS, skew=1.5),
    BrownCamera(**LENS, k1=-0.12, k2=0.02, p1=0.002, p2=-0.001),
    FisheyeCamera(**LENS, k1=-0.02, k2=0.003),
]
TABLE_STEP = 0.007
"""Half the step of the table: its 1024 entries differ by exp(decay cutoff / 1024), 1.3 %."""
LENS_STEP = 0.02
"""A distortion is taken at the pixel nearest to the centre: 1 % of r, where weights lose most."""


def flat_cloud(rng, n, *, spread_m=2.0, size_m=0.08):
    points = np.column_stack(
        [rng.uniform(-spread_m, spread_m, (n, 2)) * [1.0, 0.6], rng.uniform(3.0, 3.2, n)]
    )
    A = rng.normal(0.0, size_m, (n, 3, 3))
    V = A @ A.swapaxes(1, 2) / 3.0
    upper = V[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return SplatCloud(points=points, colours=rng.uniform(0, 255, (n, 3)), covariances=upper)


def slow_sums(cloud, camera, T_cloud_optical, p):
    """Return weights and weighted colours by the definition: every splat at every pixel."""
    moved = cloud.moved(invert_transform(T_cloud_optical))
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    pixels = np.stack([u, v], axis=-1).astype(float)
    weight = np.zeros(u.shape)
    colour = np.zeros((*u.shape, 3))
    h = 1e-4
    for X, c, V in zip(moved.points.astype(float), cloud.colours, moved.matrices, strict=True):
        centre = camera.project(X[None])[0]
        if X[2] < p.near_m or not np.isfinite(centre).all():
            continue
        J = np.column_stack(
            [
                (camera.project((X + e)[None])[0] - camera.project((X - e)[None])[0]) / (2 * h)
                for e in h * np.eye(3)
            ]
        )
        Q = np.linalg.inv(J @ V @ J.T + p.low_pass_px2 * np.eye(2))
        d = pixels - centre
        r = np.einsum("...i,ij,...j->...", d, Q, d)
        w = np.where(r <= p.cutoff, np.exp(-p.decay * r), 0.0)
        weight += w
        colour += w[..., None] * c
    return weight, colour


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda camera: type(camera).__name__)
def test_a_view_is_the_weighted_mean_of_projected_covariances(camera):
    rng = np.random.default_rng(3)
    cloud = flat_cloud(rng, 40)
    p = SplatParameters(front_m=10.0)  # all splats are of one surface
    T = make_transform(Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix(), [0.2, -0.1, 0.4])
    view = SplatRasteriser(camera, p).render(cloud, T)
    weight, colour = slow_sums(cloud, camera, T, p)
    is_clear = weight > 1e-3
    assert is_clear.mean() > 0.2
    lens = 0.0 if isinstance(camera, PinholeCamera) else LENS_STEP
    np.testing.assert_allclose(view.weight[is_clear], weight[is_clear], TABLE_STEP, lens)
    is_clear = weight > 0.05
    expected = colour[is_clear] / weight[is_clear][:, None]
    assert np.abs(view.image[is_clear] - expected).max() < 255 * (TABLE_STEP + 2 * lens)


def test_one_round_splat_has_the_closed_form():
    camera = CAMERAS[0]
    size_m, z, p = 0.1, 2.0, SplatParameters(decay=0.5)
    cloud = SplatCloud(
        points=[[0.0, 0.0, z]],
        colours=np.array([[80.0]]),
        covariances=[[size_m**2, 0, 0, size_m**2, 0, 0]],
    )
    view = SplatRasteriser(PinholeCamera(**LENS), p).render(cloud, np.eye(4))
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    sigma_u, sigma_v = (np.hypot(f * size_m / z, np.sqrt(p.low_pass_px2)) for f in (70.0, 75.0))
    r = ((u - 47.0) / sigma_u) ** 2 + ((v - 30.5) / sigma_v) ** 2
    is_in = r < p.cutoff - 0.01
    np.testing.assert_allclose(view.weight[is_in], np.exp(-0.5 * r[is_in]), rtol=TABLE_STEP + 1e-4)
    assert (view.image[is_in, 0] == pytest.approx(80.0, abs=1e-3)) and np.isnan(view.depth[0, 0])
    assert not view.weight[r > p.cutoff + 0.01].any()


def slanted_wall(spacing_m=0.04):
    x, y = (axis.ravel() for axis in np.meshgrid(*(np.arange(-4.0, 4.0, spacing_m),) * 2))
    tangents = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, -0.2]])
    V = sum(np.outer(t, t) for t in tangents) * (0.6 * spacing_m) ** 2
    points = np.column_stack([x, y, 4.0 + 0.3 * x - 0.2 * y])
    covariances = np.tile(V[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]], (len(x), 1))
    colours = 128.0 + 50.0 * np.sin(2.0 * x)[:, None] * np.cos(2.5 * y)[:, None]
    return SplatCloud(points=points, colours=colours, covariances=covariances)


def test_depth_and_grey_of_a_slanted_wall_are_those_of_the_plane():
    camera = CAMERAS[1]
    view = SplatRasteriser(camera).render(slanted_wall(), np.eye(4))
    a, b = np.moveaxis(camera.rays(), -1, 0)
    z = 4.0 / (1.0 - 0.3 * a + 0.2 * b)
    x, y = a * z, b * z
    is_on = (np.abs(x) < 3.9) & (np.abs(y) < 3.9)
    assert is_on.mean() > 0.9 and np.isfinite(view.depth[is_on]).all()
    assert np.abs(view.depth - z)[is_on].max() < 0.004  # of a splat's slope, with a step of 0.04 m
    assert np.abs(view.grey - 128.0 - 50.0 * np.sin(2 * x) * np.cos(2.5 * y))[is_on].max() < 1.5
    assert np.sqrt(np.nanmax(view.variance[is_on])) < 0.03


def test_a_near_wall_hides_a_far_one():
    far, near = slanted_wall(), slanted_wall()
    near = SplatCloud(
        points=near.points - np.float32([0, 0, 1.0]),
        colours=np.full_like(near.colours, 250.0),
        covariances=near.covariances,
    )
    both = SplatCloud(
        **{
            name: np.concatenate([getattr(far, name), getattr(near, name)])
            for name in ("points", "colours", "covariances")
        }
    )
    rasteriser = SplatRasteriser(CAMERAS[0])
    alone, view = (rasteriser.render(cloud, np.eye(4)) for cloud in (near, both))
    is_on = alone.weight > 0.1
    np.testing.assert_array_equal(view.depth[is_on], alone.depth[is_on])
    np.testing.assert_allclose(view.grey[is_on], 250.0, atol=1e-3)


def test_what_is_behind_or_beside_the_camera_is_not_drawn():
    behind = make_transform(Rotation.from_rotvec([0.0, np.pi, 0.0]).as_matrix(), [0.0, 0.0, 0.0])
    view = SplatRasteriser(CAMERAS[0]).render(slanted_wall(), behind)
    assert not view.weight.any()
    assert np.isnan(view.image).all() and np.isnan(view.depth).all()


def test_a_splat_that_is_passed_closely_is_not_smeared_over_the_view():
    # Its far end, at three sigmas, is at x/z = 1 / 1.05; the image ends at (95 - 47) / 70.
    sigma_m = 0.25
    beside = SplatCloud(
        points=[[1.0, 0.0, 0.3]],
        colours=np.array([[250.0]]),
        covariances=[[1e-4, 0, 0, 1e-4, 0, sigma_m**2]],
    )
    wall = slanted_wall()
    rasteriser = SplatRasteriser(CAMERAS[0])
    alone = rasteriser.render(wall, np.eye(4))
    both = rasteriser.render(SplatCloud.joined([wall, beside]), np.eye(4))
    assert both.depth.tobytes() == alone.depth.tobytes()
    assert both.image.tobytes() == alone.image.tobytes()


def test_views_do_not_depend_on_the_number_of_threads():
    cloud, views = slanted_wall(), []
    for n_threads in (1, 3):
        views.append(SplatRasteriser(CAMERAS[0], n_threads=n_threads).render(cloud, np.eye(4)))
    for name in ("image", "depth", "weight", "variance"):
        assert getattr(views[0], name).tobytes() == getattr(views[1], name).tobytes()


def test_moving_the_cloud_is_moving_the_camera():
    cloud = flat_cloud(np.random.default_rng(5), 60)
    T = make_transform(Rotation.from_rotvec([0.3, 0.1, -0.4]).as_matrix(), [0.3, 0.2, -0.5])
    rasteriser = SplatRasteriser(CAMERAS[0])
    here, there = rasteriser.render(cloud, np.eye(4)), rasteriser.render(cloud.moved(T), T)
    is_on = (here.weight > 1e-3) & (there.weight > 1e-3)
    assert is_on.any()
    assert np.quantile(np.abs(here.depth - there.depth)[is_on], 0.99) < 1e-4


@pytest.mark.parametrize(
    ("change", "tokens"),
    [
        ({"points": [[0.0, 0.0, np.nan]]}, "points must be finite"),
        ({"covariances": [[1.0, 0, 0, -1.0, 0, 1.0]]}, "variances must be 0 or more"),
        ({"colours": np.zeros((1, 0))}, "must have a channel"),
        ({"covariances": np.zeros((1, 3))}, "covariances of 1 splats must be"),
    ],
)
def test_bad_splats_are_refused(change, tokens):
    good = {"points": [[0.0, 0, 1]], "colours": np.zeros((1, 1)), "covariances": np.zeros((1, 6))}
    with pytest.raises(ValueError, match=tokens):
        SplatCloud(**{name: np.asarray(value) for name, value in (good | change).items()})
