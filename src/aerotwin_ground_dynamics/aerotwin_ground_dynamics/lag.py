# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A first-order lag with a rate limit, stepped exactly."""

import math


def lag_step(
    value: float, target: float, *, time_constant_s: float, limit_per_s: float, dt: float
) -> tuple[float, float]:
    """Return the value after a step of dt [s], and its mean over the step.

    The lag `value' = (target - value) / time_constant` has the closed solution (any textbook on
    control, such as Franklin, Powell, Emami-Naeini, Feedback Control of Dynamic Systems, 3.3):

        value(dt) = target + (value - target) exp(-dt / time_constant)
        mean      = target + (value - target) time_constant / dt (1 - exp(-dt / time_constant))

    As long as the value would change faster than `limit_per_s`, it changes at that rate instead;
    the step in which one goes over to the other counts as all limited if its whole change is more
    than the limit allows. A time constant of 0 means no lag.
    """
    decay = math.exp(-dt / time_constant_s) if time_constant_s > 0.0 else 0.0
    change, allowed = (target - value) * (1.0 - decay), limit_per_s * dt
    if abs(change) > allowed:
        change = math.copysign(allowed, change)
        return value + change, value + 0.5 * change
    return value + change, target - change * time_constant_s / dt
