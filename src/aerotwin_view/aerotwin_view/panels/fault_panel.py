# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults on the page: chosen from all kinds, with their parameters; begun, ended, saved."""

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import viser

from aerotwin_core.parameters import flat_parameters
from aerotwin_faults import KINDS
from aerotwin_view.page import Page
from aerotwin_view.panels.injected_faults import HeardFault, events_text, fault_lines

_MOST_WAITING = 20
_FIRST = "gnss_loss"
_NONE = "none"
_STEP = 1e-3
"""Of numbers: a field takes as many decimals as its step has."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BeginFault:
    """A fault to begin; `values` are as `entry_text` takes them."""

    kind: str
    values: dict[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EndFault:
    """A fault to end."""

    name: str


FaultOrder = BeginFault | EndFault


class FaultPanel:
    """The choice of a fault with its parameters, and those that act; orders are taken from it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lock = threading.RLock()
        self._orders: SimpleQueue[FaultOrder] = SimpleQueue()
        self._faults: Sequence[HeardFault] = ()
        with page.gui.add_folder("Faults", expand_by_default=False):
            self._kind = page.gui.add_dropdown("Fault", tuple(KINDS), initial_value=_FIRST)
            self._form = page.gui.add_folder("Its parameters")
            self._inputs: dict[str, Any] = {}
            inject = page.gui.add_button("Inject the fault")
            self._active = page.gui.add_dropdown("Active", (_NONE,))
            end = page.gui.add_button("End the active one")
            self._list = page.add_text("no fault is active")
            self._save = page.gui.add_button("Save as events (YAML)", disabled=True)
            self.notice = page.add_text("")
        self._kind.on_update(lambda _: self._make_form())
        inject.on_click(lambda _: self._begin())
        end.on_click(lambda _: self._end())
        self._save.on_click(self._send)
        self._make_form()

    def take_order(self) -> FaultOrder | None:
        """Return what was asked for next, None for nothing."""
        try:
            return self._orders.get_nowait()
        except Empty:
            return None

    def set_faults(self, faults: Sequence[HeardFault]) -> None:
        """Show the faults that were injected until now."""
        active = tuple(dict.fromkeys(fault.name for fault in faults if fault.is_active))
        with self._lock:
            self._faults = tuple(faults)
            if tuple(self._active.options) != (active or (_NONE,)):
                self._active.options = active or (_NONE,)
            self._list.set("\n".join(fault_lines(faults)) or "no fault is active")
            self._save.disabled = not faults

    def _order(self, order: FaultOrder) -> None:
        if self._orders.qsize() < _MOST_WAITING:
            self._orders.put(order)

    def _end(self) -> None:
        with self._lock:
            name = str(self._active.value)
            is_active = any(fault.is_active and fault.name == name for fault in self._faults)
        if is_active:
            self._order(EndFault(name=name))
        else:
            self.notice.set("no fault is active")

    def _begin(self) -> None:
        with self._lock:
            kind = str(self._kind.value)
            values = {name: handle.value for name, handle in self._inputs.items()}
        fields = [(name, field.metadata["minimum"]) for name, field, _ in _parameters(kind)]
        is_shift = bool(fields) and all((minimum or 0.0) < 0.0 for _, minimum in fields)
        if is_shift and not any(np.any(values[name]) for name, _ in fields):
            self.notice.set(f"not injected: a {kind} of zero does nothing; set a parameter")
            return
        self._order(BeginFault(kind=kind, values=values))

    def _make_form(self) -> None:
        """Make an input for each parameter of the kind, and for its course in time."""
        with self._lock, self._form:
            for handle in self._inputs.values():
                handle.remove()
            self._inputs = {
                name: self._add_input(name, field, default)
                for name, field, default in _parameters(str(self._kind.value))
            }
            add = self._page.gui.add_number
            self._inputs["ramp_s"] = add(
                "Grows within [s]",
                0.0,
                min=0.0,
                max=1e4,
                step=_STEP,
                hint="and ends as slowly",
            )
            self._inputs["duration_s"] = add(
                "Lasts [s]", 0.0, min=0.0, max=1e6, step=_STEP, hint="0 = until it is ended"
            )

    def _add_input(self, name: str, field: dataclasses.Field[Any], default: Any) -> Any:
        about, gui = field.metadata, self._page.gui
        stem = name.removesuffix("_" + about["unit"].lower().replace("/", "_").replace("^", ""))
        label = f"{stem.replace('_', ' ')} [{about['unit']}]" if about["unit"] else name
        hint = str(about["text"])
        if isinstance(default, bool):
            return gui.add_checkbox(label, default, hint=hint)
        if isinstance(default, str):
            return gui.add_text(label, default, hint=hint)
        if isinstance(default, tuple):
            return gui.add_vector3(label, default, step=_STEP, hint=hint)
        if default is dataclasses.MISSING:
            default = about["minimum"] or 0
        is_whole = field.type in (int, "int")
        return gui.add_number(
            label, int(default) if is_whole else float(default), min=about["minimum"],
            max=about["maximum"], step=1 if is_whole else _STEP, hint=hint,
        )  # fmt: skip

    def _send(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            text = events_text(self._faults)
            event.client.send_file_download("events.yaml", text.encode(), save_immediately=True)


def _parameters(kind: str) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Yield name, field and default of each parameter of a kind of fault."""
    return flat_parameters(KINDS[kind])
