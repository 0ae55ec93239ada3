# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Custom thrust and drag models, named by an airframe as `module:function`."""

import functools
import importlib
from collections.abc import Callable

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics.airframe import Airframe
from aerotwin_multirotor_dynamics.kernel import BUILT_IN, Kernels, compile_kernels


def kernels(airframe: Airframe) -> Kernels:
    """Return the compiled functions that step an airframe with its models.

    Raises ParameterError if a model is not `module:function` or cannot be imported.
    """
    if not airframe.thrust_model and not airframe.drag_model:
        return BUILT_IN
    return _compiled(airframe.thrust_model, airframe.drag_model)


@functools.cache
def _compiled(thrust_model: str, drag_model: str) -> Kernels:
    named = {"thrust_model": thrust_model, "drag_model": drag_model}
    own = {name: _function(text, name) for name, text in named.items() if text}
    return compile_kernels(**own)


def _function(text: str, name: str) -> Callable:
    module, colon, function = text.partition(":")
    if not (module and colon and function):
        raise ParameterError(f"{name}: expected 'module:function', found '{text}'")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"{name}: '{text}' cannot be imported ({error}); check its name and PYTHONPATH"
        ) from error
