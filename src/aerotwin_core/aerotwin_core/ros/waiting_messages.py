# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that wait in a subscription, without an executor."""

from collections.abc import Iterator
from typing import Any

from rclpy.subscription import Subscription


def waiting_messages(subscription: Subscription) -> Iterator[Any]:
    """Yield the messages that wait, oldest first, CDR bytes of a raw subscription.

    rclpy has no public way to take them.
    """
    kind, handle, is_raw = subscription.msg_type, subscription.handle, subscription.raw
    while True:
        with handle:
            taken = handle.take_message(kind, is_raw)
        if taken is None:
            return
        yield taken[0]
