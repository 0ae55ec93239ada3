# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From acceleration, velocity and yaw to thrust, attitude and its rates, with linear drag.

A multirotor with drag linear in its body axes is differentially flat: Faessler, Franchi and
Scaramuzza, "Differential Flatness of Quadrotor Dynamics Subject to Rotor Drag for Accurate
Tracking of High-Speed Trajectories", IEEE RA-L 3(2), 2018, sec. III. Without drag it is the map of
Mellinger and Kumar (2011). Every vector carries its first two derivatives (a jet), so that each
line of the attitude is also the line of its rates.

A jet is an array whose first axis is the order of the derivative: (3, 3) for a vector.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray

# Leibniz' rule: (a b)'' = a''b + 2 a'b' + a b'', as one product with the terms a_left b_right.
_LEFT = np.array([0, 1, 0, 2, 1, 0])
_RIGHT = np.array([0, 0, 1, 0, 1, 2])
_LEIBNIZ = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 2.0, 1.0],
    ]
)
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


@dataclass(frozen=True, kw_only=True)
class FlatAttitude:
    """Attitude, rates and thrust that a motion requires.

    `omega_in_body`, `alpha_in_body` (3,): angular velocity [rad/s] and acceleration [rad/s^2] in
    the axes of `R_map_body`. `thrust_n`: force of all rotors along body z [N].
    """

    R_map_body: FloatArray
    omega_in_body: FloatArray
    alpha_in_body: FloatArray
    thrust_n: float


def attitude_of_motion(
    force_map: FloatArray,
    v_map: FloatArray,
    yaw_derivatives: FloatArray,
    drag_n_s_per_m: FloatArray,
) -> FlatAttitude:
    """Return attitude, its rates and thrust for a motion.

    `force_map`: m (a + g) with its first two derivatives, in map axes [N], [N/s], [N/s^2]. `v_map`:
    velocity, acceleration and jerk through the air, in map axes. `yaw_derivatives`,
    `drag_n_s_per_m` (3,): yaw, its rate and acceleration [rad], [rad/s], [rad/s^2]; linear drag
    along body x, y, z.

    Notes
    -----
    Faessler et al. (2018), eq. 4-13 with forces in place of mass-normalised terms: the forces
    across the thrust must be those of the drag, so x_B is orthogonal to m(a + g) + d_x v, and y_B
    to m(a + g) + d_y v. Singular where the first is along y_C (a roll of 90 degrees).
    """
    y_yaw = yaw_axis_jet(yaw_derivatives)
    x_body = normalise_jet(cross_jet(y_yaw, force_map + drag_n_s_per_m[0] * v_map))
    y_body = normalise_jet(cross_jet(force_map + drag_n_s_per_m[1] * v_map, x_body))
    z_body = cross_jet(x_body, y_body)
    rotation = np.stack([x_body, y_body, z_body], axis=-1)  # order, map axis, body axis
    R = rotation[0]
    spin = R.T @ rotation[1]
    change = R.T @ rotation[2] - spin @ spin  # R'' = R (spin^2 + alpha^)
    return FlatAttitude(
        R_map_body=R,
        omega_in_body=vee(spin),
        alpha_in_body=vee(change),
        thrust_n=float(z_body[0] @ (force_map[0] + drag_n_s_per_m[2] * v_map[0])),
    )


def yaw_axis_jet(yaw_derivatives: FloatArray) -> FloatArray:
    """Return y_C = (-sin yaw, cos yaw, 0), the left of the heading, with two derivatives."""
    yaw, rate, acceleration = yaw_derivatives
    left = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    back = np.array([-np.cos(yaw), -np.sin(yaw), 0.0])
    return np.array([left, rate * back, acceleration * back - rate * rate * left])


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a x b over the last axis (numpy's own is slow for few vectors)."""
    return a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]


def cross_jet(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a x b with two derivatives."""
    return _LEIBNIZ @ cross(a[_LEFT], b[_RIGHT])


def normalise_jet(a: FloatArray) -> FloatArray:
    """Return a / |a| with two derivatives.

    Raises ZeroDivisionError if a is zero.
    """
    d0, d1, d2 = (_LEIBNIZ @ (a[_LEFT] * a[_RIGHT]).sum(axis=1)).tolist()  # |a|^2
    if d0 <= 0.0:
        raise ZeroDivisionError("a direction must not be zero: free fall has no attitude")
    s0 = d0**-0.5
    s1 = -0.5 * s0 / d0 * d1
    s2 = 0.75 * s0 / d0**2 * d1 * d1 - 0.5 * s0 / d0 * d2
    scale = np.array([s0, s1, s2])
    return _LEIBNIZ @ (scale[_LEFT, None] * a[_RIGHT])


def vee(skew: FloatArray) -> FloatArray:
    """Return the vector (3,) of the skew part of a matrix (3, 3)."""
    return 0.5 * np.array(
        [skew[2, 1] - skew[1, 2], skew[0, 2] - skew[2, 0], skew[1, 0] - skew[0, 1]]
    )
