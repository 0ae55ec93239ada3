# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A formula that was read, and whether it says when it must hold."""

from dataclasses import dataclass

from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
    AtInstant,
    Compare,
    Eventually,
    FormulaNode,
    Lasting,
    Not,
    NumberSignal,
    OnlyAfter,
    Until,
    Within,
)
from aerotwin_temporal_logic.tokens import FormulaError, formula_error

_SAY_WHEN = "say when: always, never or eventually before it, or 'at end' or 'within D s' after it"


@dataclass(frozen=True)
class Formula:
    """A condition on a run, as `parse` returns it.

    Attributes
    ----------
    text : str
        As written.
    signals, events : frozenset of str
        The names that it uses.
    root : FormulaNode
        The tree.
    where : str
        Where the text is from, for errors.
    """

    text: str
    signals: frozenset[str]
    events: frozenset[str]
    root: FormulaNode
    where: str = ""

    def check_says_when(self) -> None:
        """Refuse what can be no expectation: it does not say at which instants it must hold.

        `height_m > 3` is a condition of a trigger; as an expectation it could mean always or once.

        Raises `FormulaError`.
        """
        for node in self.root.walk():
            if isinstance(node, OnlyAfter):
                raise self.error(f"'{node.text}' does not say how often; {_SAY_WHEN}", node)
        self._check_says_when(self.root)

    def _check_says_when(self, node: FormulaNode) -> None:
        numbers = (part for part in node.walk() if isinstance(part, NumberSignal))
        if isinstance(node, Compare) and all(number.is_constant for number in numbers):
            return
        if isinstance(node, Not | AllOf | AnyOf):
            for child in node.children():
                self._check_says_when(child)
        elif isinstance(node, Lasting) or not isinstance(
            node, Always | Eventually | Until | Within | AtInstant
        ):
            raise self.error(
                f"'{node.text}' may hold at one instant and not at another; {_SAY_WHEN}", node
            )

    def error(self, problem: str, node: FormulaNode) -> FormulaError:
        """Return an error that points at a node."""
        return formula_error(problem, self.text, node.column, self.where)
