"""markdown-it-py's block rules, each tried only where it can match, in a state that can be interrupted.

The rules themselves are the library's own. What differs from its own parser is what is left undone: a rule that
cannot match a line by the line's first character is not called, tokens that nobody reads are not kept, and inline
text is not parsed. Blocks are equal, and a test holds them so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from typing import Any, Final, Literal, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from pgchunk.checkpoint import Checkpoint

Rule = Callable[[StateBlock, int, int, bool], bool]

#: Tokens that tell where a block begins or a container ends; and the text of a heading.
LEAVES: Final = frozenset({"paragraph_open", "heading_open", "fence", "code_block", "html_block", "hr", "table_open"})
CONTAINERS: Final = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"})
CONTAINER_ENDS: Final = frozenset(
    {"bullet_list_close", "ordered_list_close", "list_item_close", "blockquote_close"}
)
_KEPT: Final = LEAVES | CONTAINERS | CONTAINER_ENDS

#: The rules that a line may match, by its first character that is no blank; in the library's order. Tables, indented
#: code and paragraphs can begin with any.
_BY_CHARACTER: Final[Mapping[str, tuple[str, ...]]] = {
    "`": ("fence",),
    "~": ("fence",),
    ">": ("blockquote",),
    "*": ("hr", "list"),
    "-": ("hr", "list"),
    "_": ("hr",),
    "+": ("list",),
    **dict.fromkeys("0123456789", ("list",)),
    "[": ("reference",),
    "<": ("html_block",),
    "#": ("heading",),
}
#: What a rule may end: the library's names of chains.
_INTERRUPTED: Final = ("paragraph", "reference", "blockquote", "list")
_DELIMITER_ROW: Final = frozenset("|-:")
_UNDERLINE: Final = frozenset("-=")
#: Lines that are looked at between two chances to interrupt.
_LINES_AT_ONCE: Final = 65_536


class BlockToken:
    """What the library's rules write to a token; its own class takes several times as long to make."""

    __slots__ = ("attrs", "children", "content", "hidden", "info", "level", "map", "markup", "meta", "tag", "type")

    def __init__(self, type: str, tag: str, level: int) -> None:
        self.type = type
        self.tag = tag
        self.level = level
        self.map: list[int] | None = None
        self.content = ""


def block_tokens(text: str, environment: dict[str, Any], checkpoint: Checkpoint) -> list[Token]:
    """The tokens of a text's blocks: those of `LEAVES`, `CONTAINERS` and `CONTAINER_ENDS`, and the text of headings.

    Args:
        text: markdown without front matter.
        environment: receives the link references.
        checkpoint: called often; may raise to stop the parser.
    """
    parser = _parser()
    state = _State(_with_plain_line_ends(text), parser, environment, checkpoint)
    parser.block.tokenize(state, 0, state.lineMax)
    return state.tokens


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class _State(StateBlock):
    """The library's state: lines are found in parts, and only tokens that are read are kept."""

    def __init__(self, text: str, parser: MarkdownIt, environment: dict[str, Any], checkpoint: Checkpoint):
        super().__init__("", parser, environment, [])
        self.checkpoint = checkpoint
        self.src = text
        self.wants_text = False
        self._nobody_reads = Token("", "", 0)
        self._find_lines()

    def _find_lines(self) -> None:
        lines = self.src.split("\n")
        if not lines[-1].strip(" \t"):
            lines.pop()  # what follows the last line end is no line, even if there are blanks
        for marks in (self.bMarks, self.eMarks, self.tShift, self.sCount, self.bsCount):
            marks.clear()
        start = 0
        for low in range(0, len(lines), _LINES_AT_ONCE):
            self.checkpoint()
            start = self._add_lines(lines[low : low + _LINES_AT_ONCE], start)
        self.bMarks.append(len(self.src))
        self.eMarks.append(len(self.src))
        for marks in (self.tShift, self.sCount, self.bsCount):
            marks.append(0)
        self.lineMax = len(lines)

    def _add_lines(self, lines: list[str], start: int) -> int:
        """Notes where lines begin and end and how far they are indented; returns where the next line begins."""
        starts = list(accumulate([len(line) + 1 for line in lines], initial=start))
        following = starts.pop()
        first = len(self.bMarks)
        self.bMarks += starts
        self.eMarks += [at + len(line) for at, line in zip(starts, lines, strict=True)]
        for marks in (self.tShift, self.sCount, self.bsCount):
            marks += [0] * len(lines)
        for number, line in enumerate(lines, first):
            if line and line[0] in " \t":
                blanks = line[: len(line) - len(line.lstrip(" \t"))]
                self.tShift[number] = len(blanks)
                self.sCount[number] = _width(blanks)
        return following

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: N802, N803
        """The text of lines, for rules that look into it; what others put into tokens nobody reads."""
        return super().getLines(begin, end, indent, keepLastLF) if self.wants_text else ""

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """Adds a token, or gives one that is read by nobody."""
        if nesting < 0:
            self.level -= 1
        token = self._nobody_reads
        if ttype in _KEPT or (ttype == "inline" and self.tokens and self.tokens[-1].type == "heading_open"):
            token = cast("Token", BlockToken(ttype, tag, self.level))
            self.tokens.append(token)
        if nesting > 0:
            self.level += 1
        return token


def _width(blanks: str) -> int:
    """Columns of blanks at the start of a line, tabs reaching to the next multiple of four."""
    return len(blanks.expandtabs(4)) if "\t" in blanks else len(blanks)


@cache
def _parser() -> MarkdownIt:
    """The library's parser, with one rule in front that calls the others, and one for each kind of interruption."""
    parser = MarkdownIt("commonmark").enable("table")
    ruler = parser.block.ruler
    rules = dict(zip(ruler.get_active_rules(), ruler.getRules(), strict=True))
    interruptions = {what: set(ruler.getRules(what)) for what in _INTERRUPTED}
    for name, rule in rules.items():
        ruler.at(name, rule, {"alt": []})
    ending = {
        what: _interruption({name: rule for name, rule in rules.items() if rule in able})
        for what, able in interruptions.items()
    }
    ruler.before("table", "first", _first_rule(rules, ending["paragraph"]), {"alt": []})
    for what, rule in ending.items():
        ruler.push(f"interrupt_{what}", rule, {"alt": [what]})
    return parser


def _candidates(rules: Mapping[str, Rule]) -> dict[str, tuple[Rule, ...]]:
    return {
        character: tuple(rules[name] for name in names if name in rules) for character, names in _BY_CHARACTER.items()
    }


def _reads_text(rule: Rule) -> Rule:
    """The rule, given the text of the lines it asks for."""

    def reading(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        assert isinstance(state, _State)
        state.wants_text = True
        matches = rule(state, line, end, silent)
        state.wants_text = False
        return matches

    return reading


def _first_rule(rules: Mapping[str, Rule], interrupts: Rule) -> Rule:
    """The rule that always matches: it calls those that may match, in the library's order.

    Args:
        rules: the library's, by name.
        interrupts: says whether a line ends a paragraph.
    """
    candidates = _candidates({**rules, "reference": _reads_text(rules["reference"])})
    table, code, underlined = rules["table"], rules["code"], _reads_text(rules["lheading"])

    def first(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        state.checkpoint()  # type: ignore[attr-defined]
        if state.is_code_block(line):
            return code(state, line, end, silent)
        if _may_be_table(state, line) and table(state, line, end, silent):
            return True
        for rule in candidates.get(_first_character(state, line), ()):
            if rule(state, line, end, silent):
                return True
        if _may_be_underlined(state, line, end) and underlined(state, line, end, silent):
            return True
        state.parentType = "paragraph"  # so the library's rules leave it, and lists look at it
        state.line = _paragraph_end(state, line, interrupts)
        state.push("paragraph_open", "p", 1).map = [line, state.line]
        state.push("paragraph_close", "p", -1)
        return True

    return first


def _paragraph_end(state: StateBlock, line: int, interrupts: Rule) -> int:
    """The line behind the paragraph that begins at ``line``."""
    starts, shifts, ends, widths, indent = state.bMarks, state.tShift, state.eMarks, state.sCount, state.blkIndent
    last = state.lineMax
    for number in range(line + 1, last):
        if starts[number] + shifts[number] >= ends[number]:
            return number
        # A line indented this far goes on with the paragraph, whatever it is; so does one that a quote has looked at.
        if 0 <= widths[number] <= indent + 3 and interrupts(state, number, last, True):
            return number
    return last


def _interruption(rules: Mapping[str, Rule]) -> Rule:
    """The rule that says whether a line ends what stands before it."""
    candidates = _candidates(rules)
    table = rules.get("table")

    def interrupts(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        state.checkpoint()  # type: ignore[attr-defined]
        for rule in candidates.get(_first_character(state, line), ()):
            if rule(state, line, end, silent):
                return True
        return table is not None and _may_be_table(state, line) and table(state, line, end, silent)

    return interrupts


def _first_character(state: StateBlock, line: int) -> str:
    at = state.bMarks[line] + state.tShift[line]
    return state.src[at : at + 1]


def _may_be_table(state: StateBlock, line: int) -> bool:
    return _first_character(state, line + 1) in _DELIMITER_ROW


def _may_be_underlined(state: StateBlock, line: int, end: int) -> bool:
    """Whether a line of the paragraph that begins at ``line`` looks like the underline of a heading."""
    starts, shifts, ends, text = state.bMarks, state.tShift, state.eMarks, state.src
    for number in range(line + 1, end):
        at = starts[number] + shifts[number]
        if at >= ends[number]:
            return False
        if text[at] in _UNDERLINE:
            return True
    return False
