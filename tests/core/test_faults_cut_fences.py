"""A piece of cut code is closed by a fence only where one is open, in quotes and out of them."""

import pytest
from checking import separate
from markdown_it import MarkdownIt


@pytest.mark.parametrize("size", [16, 20, 32, 48, 64])
@pytest.mark.parametrize("info", ["", "py", 'python title="the long name of a file that is here.py" {.numbered .wide}'])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("mark", ["", "> "])
def test_b06_a_closing_fence_is_added_only_where_one_was_opened(info, size, closed, mark):
    code = [f"call({i})" for i in range(30)]
    inside = [f"```{info}", *code, *(["```"] if closed else [])]
    text = "\n".join(["# A", "", *(mark + line for line in inside), ""])
    for c in separate(text, max_tokens=size):
        fences = [
            t for t in MarkdownIt("commonmark").parse(c.raw_prefix + c.raw_content + c.raw_suffix) if t.type == "fence"
        ]
        opened = "```" in c.raw_prefix or c.raw_content.startswith(f"{mark}```")
        if c.raw_suffix:
            assert opened, c
        if opened:
            assert len(fences) == 1
