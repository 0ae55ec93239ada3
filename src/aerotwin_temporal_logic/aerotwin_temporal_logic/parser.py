# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parser: one method for each rule of the grammar in the docstring of the package.

Recursive descent by hand: the grammar needs one token of lookahead, and a generated parser could
neither say what was expected in the words of the signals nor refuse what a person may read in two
ways.
"""

from collections.abc import Callable, Collection, Mapping

from aerotwin_core.foreign_text import listed, shown
from aerotwin_temporal_logic.conditions import ConditionReader
from aerotwin_temporal_logic.cursor import TokenCursor
from aerotwin_temporal_logic.formula import Formula
from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
    AtInstant,
    Eventually,
    FormulaNode,
    Instant,
    Lasting,
    Not,
    NumberNode,
    OnlyAfter,
    Signal,
    Span,
    Until,
    Within,
)
from aerotwin_temporal_logic.tokens import FormulaError, Token
from aerotwin_temporal_logic.words import POSTFIXES, QUANTIFIERS, RESERVED


def parse(
    text: str, signals: Mapping[str, Signal], events: Collection[str] = (), *, where: str = ""
) -> Formula:
    """Return a formula that names signals and events.

    Parameters
    ----------
    text : str
        The formula; grammar and semantics are in the docstring of the package.
    signals : mapping of str to Signal
        What it may name.
    events : collection of str
        The events that it may name. Where an instant is expected, a name is that of an event;
        elsewhere, a signal comes before an event of the same name.
    where : str
        Where the text is from, such as "hover.yaml, expect 3": errors begin with it.

    Raises
    ------
    FormulaError
        If it cannot be read, in one way only, as a formula: what is expected, what was found, the
        text and a caret below the column.
    """
    place = f"{where}: " if where else ""
    if not isinstance(text, str):
        raise FormulaError(f"{place}expected a formula as text, found {shown(text)}")
    if taken := RESERVED & {*signals, *events}:
        raise FormulaError(
            f"{place}{listed(sorted(taken))}: a word of formulas is no name of a signal or event; "
            "rename it"
        )
    return _Parser(text, signals, events, where).formula()


class _Parser:
    """Where in the tokens the reader is, and what was read of the chain of and/or around it."""

    def __init__(
        self, text: str, signals: Mapping[str, Signal], events: Collection[str], where: str
    ) -> None:
        self._text, self._where = text, where
        self._cursor = TokenCursor(text, where)
        self._conditions = ConditionReader(self._cursor, signals, events, self._enclosed)
        self._instants = self._conditions.instants
        self._n_joined = 0
        """How many and/or/implies there were outside of parentheses that are closed again."""
        self._untimed: FormulaNode | None = None
        """An operand of this chain of and/or to which a later postfix might also belong."""

    def formula(self) -> Formula:
        root = self._condition(self._statement())
        if self._cursor.next.kind != "end":
            raise self._cursor.unexpected("'and', 'or', 'implies' or the end")
        return Formula(
            text=self._text,
            signals=frozenset(self._conditions.used_signals),
            events=frozenset(self._instants.used_events),
            root=root,
            where=self._where,
        )

    # Conditions, the loosest binding first.

    def _statement(self) -> FormulaNode:
        begin = self._cursor.next.column
        word = self._cursor.accept(*QUANTIFIERS)
        n_joined = self._n_joined
        body = self._implication(takes_postfix=word is None)
        if word is None:
            return body
        return self._quantified(word, self._condition(body), begin, self._n_joined > n_joined)

    def _enclosed(self) -> FormulaNode:
        """Read a statement in parentheses, of which nothing outside depends."""
        n_joined, untimed = self._n_joined, self._untimed
        node = self._statement()
        self._n_joined, self._untimed = n_joined, untimed
        return node

    def _quantified(
        self, word: Token, body: FormulaNode, begin: int, is_joined: bool
    ) -> FormulaNode:
        """Read the postfixes of always, never or eventually: they belong to all that it governs."""
        span: Span | None = None
        until: FormulaNode | None = None
        within: Within | None = None
        while postfix := self._cursor.accept(*POSTFIXES):
            kind, is_always = postfix.text, word.text == "always"
            if within or until or (span and kind != "until"):
                raise self._cursor.error(f"'{kind}' is one limit too many", postfix)
            if kind == "for":
                body = self._lasting_below(word, postfix, body, is_joined)
            elif kind == "until":
                if word.text == "eventually":
                    raise self._cursor.error("an 'eventually' ends by 'before EVENT'", postfix)
                until = self._until_what()
            elif kind == "within" and not is_always:
                within = self._within(body, begin)
            elif kind in ("within", "at"):
                way_out = "drop one, or put what the latter belongs to in parentheses"
                problem = f"'{word.text}' and '{kind}' both say when; {way_out}"
                raise self._cursor.error(problem, postfix)
            else:
                span = self._span(postfix)
        body = within or body
        inner = body
        if word.text == "never":
            text = f"not ({body.text})" if is_joined else f"not {body.text}"
            inner = Not(text=text, column=begin, body=body)
        if within:
            return inner
        if until:
            return self._cursor.node(Until, begin, left=inner, right=until, span=span)
        kind_of_node = Eventually if word.text == "eventually" else Always
        return self._cursor.node(kind_of_node, begin, body=inner, span=span)

    def _lasting_below(
        self, word: Token, postfix: Token, body: FormulaNode, is_joined: bool
    ) -> FormulaNode:
        if word.text == "always":
            raise self._cursor.error(
                "'always' has no duration; write 'from T to T', or drop this", postfix
            )
        if is_joined:
            raise self._two_ways(postfix)
        return self._lasting(body)

    def _implication(self, *, takes_postfix: bool) -> FormulaNode:
        begin = self._cursor.next.column
        left = self._alternative(takes_postfix)
        if not self._cursor.accept("implies"):
            return left
        self._n_joined += 1
        right = self._condition(self._alternative(takes_postfix))
        if self._cursor.next.text == "implies":
            raise self._two_ways(self._cursor.next)
        opposite = self._cursor.node(Not, begin, body=self._condition(left))
        return self._cursor.node(AnyOf, begin, parts=(opposite, right))

    def _alternative(self, takes_postfix: bool) -> FormulaNode:
        before, self._untimed = self._untimed, None
        node = self._chain("or", AnyOf, lambda: self._conjunction(takes_postfix))
        self._untimed = before
        return node

    def _conjunction(self, takes_postfix: bool) -> FormulaNode:
        return self._chain("and", AllOf, lambda: self._operand(takes_postfix))

    def _chain(
        self, word: str, kind: type[FormulaNode], part: Callable[[], FormulaNode]
    ) -> FormulaNode:
        begin = self._cursor.next.column
        parts = [part()]
        while self._cursor.accept(word):
            self._n_joined += 1
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return self._cursor.node(kind, begin, parts=tuple(self._condition(part) for part in parts))

    def _operand(self, takes_postfix: bool) -> FormulaNode:
        begin = self._cursor.next.column
        n_nots = 0
        while self._cursor.accept("not"):
            n_nots += 1
        if self._cursor.next.text in QUANTIFIERS:
            raise self._cursor.error(
                f"put parentheses around '{self._cursor.next.text} …'", self._cursor.next
            )
        node = self._conditions.relation()
        if takes_postfix and self._cursor.next.text in POSTFIXES:
            if self._untimed or (n_nots and self._cursor.next.text != "at"):
                raise self._two_ways(self._cursor.next)
            node = self._condition(node)
            while postfix := self._cursor.accept(*POSTFIXES):
                node = self._postfix(postfix, node, begin)
        else:
            self._untimed = node
        if n_nots % 2:
            return self._cursor.node(Not, begin, body=self._condition(node))
        return self._condition(node) if n_nots else node

    # What says when.

    def _postfix(self, postfix: Token, body: FormulaNode, begin: int) -> FormulaNode:
        if postfix.text == "for":
            return self._lasting(body)
        if postfix.text == "within":
            return self._within(body, begin)
        if postfix.text == "at":
            return self._cursor.node(AtInstant, begin, body=body, instant=self._instants.instant())
        if postfix.text == "after":
            return self._cursor.node(OnlyAfter, begin, body=body, instant=self._instants.instant())
        if postfix.text == "until":
            return self._cursor.node(Until, begin, left=body, right=self._until_what(), span=None)
        way_out = "write always, never or eventually before the condition"
        raise self._cursor.error(f"'{postfix.text}' does not say how often; {way_out}", postfix)

    def _lasting(self, body: FormulaNode) -> Lasting:
        return self._cursor.node(
            Lasting, body.column, body=body, duration_s=self._instants.duration_s()
        )

    def _within(self, body: FormulaNode, begin: int) -> Within:
        duration_s = self._instants.duration_s()
        of = self._instants.instant() if self._cursor.accept("of") else None
        return self._cursor.node(Within, begin, body=body, duration_s=duration_s, of=of)

    def _until_what(self) -> FormulaNode:
        node = self._condition(self._operand(takes_postfix=False))
        if self._cursor.next.text in ("and", "or", "implies"):
            raise self._two_ways(self._cursor.next)
        return node

    def _span(self, postfix: Token) -> Span:
        if postfix.text == "before":
            start = Instant("start", 0.0, "start")
            return Span(start, self._instants.instant(), excludes_last=True)
        first = self._instants.instant()
        if postfix.text == "after":
            return Span(first)
        self._cursor.expect("to")
        last_token = self._cursor.next
        last = self._instants.instant()
        if first.base == last.base and last.offset_s < first.offset_s:
            raise self._cursor.error(f"expected an instant after '{first.text}'", last_token)
        return Span(first, last)

    def _condition(self, node: FormulaNode) -> FormulaNode:
        if isinstance(node, NumberNode):
            problem = f"'{node.text}' is a number; compare it by < <= > >="
            raise self._cursor.error(problem, node.column)
        return node

    def _two_ways(self, token: Token) -> FormulaError:
        problem = f"what {token.shown} belongs to can be read in two ways; put it in parentheses"
        return self._cursor.error(problem, token)
