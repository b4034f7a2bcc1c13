"""Random markdown: documents made of every structure the chunker has a rule for, and of junk between them."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "the",
    "a",
    "of",
    "and",
    "e.g.",
    "v1.2.3",
    "3.14",
    "Mr.",
    "https://host.example/a?b=c",
    "<kbd>x</kbd>",
    "`code",
    "|",
    "x`",
    "**bold**",
    "_it_",
    "[link](u)",
    "![img](u)",
    "\\|",
    "a|b",
    "#",
    "|",
    "-",
    "1.",
    ">",
    "~~~",
    "```",
    "<|endoftext|>",
    "今日は晴れです。",
    "散歩に行きます！",
    "「はい。」",
    "naïve",
    "café",
    "สวัสดีชาวโลก",
    "👨\u200d👩\u200d👧\u200d👦",
    "🇩🇪🇫🇷",
    "é",
    "́",
    "\u200b",
    "\xa0",
    "\u3000",
    "don't",
    "I'll",
    "/",
    "//",
    "/path",
    "C#",
    "internationalization",
    "0123456789",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "\t",
]
END = "\n"

word = st.sampled_from(WORDS)
sentence = st.lists(word, min_size=1, max_size=12).map(lambda ws: " ".join(ws) + ".")
words = st.lists(word, min_size=0, max_size=60).map(" ".join)
paragraph = st.lists(sentence, min_size=1, max_size=14).map(" ".join)
hard_wrapped = st.lists(sentence, min_size=1, max_size=8).map("\n".join)
junk = st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@st.composite
def heading(draw: st.DrawFn) -> str:
    level = draw(st.integers(1, 6))
    title = draw(st.one_of(st.just(""), words, junk.map(lambda t: t.replace("\n", " ").replace("\r", " ")))).strip()
    form = draw(st.integers(0, 3))
    if form == 0 and title:
        return f"{title}\n{draw(st.sampled_from(['===', '---', '=', '-----  ']))}"
    tail = draw(st.sampled_from(["", " #", " ###  ", " {#id}", " <!-- c -->"]))
    return "#" * level + " " + title + tail


@st.composite
def table(draw: st.DrawFn) -> str:
    columns = draw(st.integers(1, 4))
    pipes = draw(st.booleans()) or columns == 1

    def row(cells: list[str]) -> str:
        line = " | ".join(c.replace("\n", " ") or "x" for c in cells)
        return f"| {line} |" if pipes else line

    cell = st.one_of(word, words)
    head = row([draw(word) for _ in range(columns)])
    delimiter = row([draw(st.sampled_from(["---", ":-:", "--:", "-"])) for _ in range(columns)])
    body = draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), max_size=20))
    return "\n".join([head, delimiter, *map(row, body)])


@st.composite
def fence(draw: st.DrawFn) -> str:
    marker = draw(st.sampled_from(["```", "~~~", "````", "~~~~~"]))
    info = draw(st.sampled_from(["", "py", "sh {title=x}", "a b c"]))
    line = st.one_of(words, st.just(""), words.map(lambda w: "    " + w), st.just("# not a heading"))
    lines = draw(st.lists(line, max_size=25))
    closed = draw(st.booleans())
    return "\n".join([marker + info, *lines, *([marker] if closed else [])])


def indented(text: str, first: str, rest: str) -> str:
    return "\n".join((first if at == 0 else rest) + line for at, line in enumerate(text.split("\n")))


leaf = st.one_of(
    paragraph,
    paragraph,
    hard_wrapped,
    table(),
    fence(),
    words.map(lambda w: "    " + w + "\n    more code"),
    st.just("<div>\n<!-- # no heading -->\ntext\n</div>"),
    st.just("<Tabs>\n  <Tab value={1}>\n\ntext\n\n  </Tab>\n</Tabs>"),
    st.just("[ref]: https://host.example/r 'title'\n[^1]: A footnote."),
    st.just("***"),
    st.just("---"),
    heading(),
    junk,
)


@st.composite
def bullet_list(draw: st.DrawFn) -> str:
    items = draw(st.lists(st.lists(leaf, min_size=1, max_size=3), min_size=1, max_size=6))
    marker = draw(st.sampled_from(["-", "*", "1.", "7)"]))
    gap = draw(st.sampled_from(["\n", "\n\n"]))
    return gap.join(indented("\n\n".join(item), f"{marker} ", " " * (len(marker) + 1)) for item in items)


quote = st.lists(leaf, min_size=1, max_size=3).map(lambda bs: indented("\n\n".join(bs), "> ", "> "))
block = st.one_of(heading(), leaf, leaf, bullet_list(), quote)
front_matter = st.sampled_from(
    ["", "", "---\ntitle: A\ntags: [a]\n# c\n---\n", "+++\ntitle = 'A'\n+++\n", "---\n\nno\n\n---\n"]
)
line_end = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A markdown document."""
    gaps = st.sampled_from(["\n\n", "\n\n", "\n\n\n\n", "\n", "\n \t\n"])
    parts = [draw(st.sampled_from(["", "", "", "\ufeff"])), draw(front_matter)]
    for _ in range(draw(st.integers(0, 12))):
        parts += [draw(block), draw(gaps)]
    return "".join(parts).replace("\n", draw(line_end))


@st.composite
def options(draw: st.DrawFn) -> dict[str, object]:
    """Options that are allowed together."""
    size = draw(st.sampled_from([16, 17, 24, 32, 48, 64, 100, 128, 256, 512, 2048]))
    target = draw(st.one_of(st.none(), st.integers(max(1, size // 3), size)))
    low = draw(st.one_of(st.none(), st.integers(0, (target or size))))
    half = st.one_of(st.none(), st.integers(0, size // 2))
    return {
        "max_tokens": size,
        "target_tokens": target,
        "min_tokens": low,
        "overlap_tokens": draw(half),
        "heading_path_tokens": draw(half),
        "overlap": draw(st.sampled_from(["tokens", "sentence", "none"])),
        "split_levels": tuple(draw(st.sets(st.integers(1, 6)))),
        "heading_line": draw(st.sampled_from(["exclude", "include"])),
        "include_preamble": draw(st.booleans()),
        "merge": draw(st.sampled_from(["next", "previous", "none"])),
        "repeat_table_header": draw(st.booleans()),
        "include_title": draw(st.booleans()),
        "separator": draw(st.sampled_from([" > ", " / ", "›"])),
        "tokenizer": draw(st.sampled_from(["cl100k_base", "cl100k_base", "o200k_base"])),
    }
