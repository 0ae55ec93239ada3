# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of requests: every handler answers with a code and a text, whatever happens."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from simulation_interfaces.msg import Result

from aerotwin_core.errors import UserError
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator.run_control import OrderRefused, RunState

UNSUPPORTED = Result.RESULT_FEATURE_UNSUPPORTED
OK = Result.RESULT_OK
NOT_FOUND = Result.RESULT_NOT_FOUND
INCORRECT_STATE = Result.RESULT_INCORRECT_STATE
FAILED = Result.RESULT_OPERATION_FAILED
MAX_TEXT = 256
"""Characters of a foreign text that are repeated in an answer."""
Handler = Callable[[Any, Any], None]
T = TypeVar("T")


class RequestRefused(Exception):
    """A request is answered with a result code that is not OK, and a text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def shown(text: str) -> str:
    """Return a foreign text as it is repeated in an answer: shortened, printable."""
    text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"
    return "".join(c if c.isprintable() else "?" for c in text)


def answering(node: SimulatorHost, handler: Handler) -> Callable[[Any, Any], Any]:
    """Return a service callback that fills `result` of the response from the handler's end."""

    def callback(request: Any, response: Any) -> Any:
        response.result.result, response.result.error_message = outcome(
            node, lambda: handler(request, response)
        )
        return response

    return callback


def outcome(node: SimulatorHost, call: Callable[[], None]) -> tuple[int, str]:
    """Run a call and return its result code and text."""
    try:
        call()
    except RequestRefused as refused:
        return refused.code, str(refused)
    except OrderRefused as refused:
        return FAILED, str(refused)
    except UserError as error:
        return FAILED, str(error)
    except CancelledError:
        return FAILED, "the simulator ends"
    except Exception as error:  # the service must outlive its own errors
        node.get_logger().error(f"request failed: {type(error).__name__}: {error}")
        return FAILED, f"internal error: {type(error).__name__}: {error}"
    return OK, ""


def on_loop(node: SimulatorHost, function: Callable[..., T], *arguments: object) -> T:
    """Run a function on the thread of the loop; what it raises is raised here, not there."""

    def attempt() -> tuple[list[T], Exception | None]:
        try:
            return [function(*arguments)], None
        except Exception as error:
            return [], error

    values, error = node.calls.ask(attempt)
    if error is not None:
        raise error
    return values[0]


def require_world(state: RunState) -> None:
    """Refuse a request that needs vehicles. Raises RequestRefused."""
    if state in (RunState.NO_WORLD, RunState.LOADING_WORLD, RunState.QUITTING):
        raise RequestRefused(INCORRECT_STATE, f"the state is {state.name}; load a world first")
