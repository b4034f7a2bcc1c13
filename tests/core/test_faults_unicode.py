"""Reported faults with languages and characters: cuts inside them, sentence ends not seen or wrongly seen."""

from __future__ import annotations

import pytest
import regex
from checking import budget_kept, disjoint, outlined, separate, without_blanks

from pgchunk import STRATEGIES

SIZES = (16, 48)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("unit", ["猫が好き", "한국어문장", "กขฃค", "ελληνικά", "𠮷野家", "🙂"])
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base"])
def test_b53_characters_of_several_tokens_are_never_cut(size, unit, tokenizer):
    body = unit * 80
    chunks = separate(f"# {unit}\n\n{body}\n", max_tokens=size, tokenizer=tokenizer)
    assert len(chunks) > 1
    assert not any("\ufffd" in c.content for c in chunks)
    assert "".join(c.raw_content for c in chunks) == body


CLUSTERS = [
    "👨‍👩‍👧‍👦",
    "🇩🇪",
    "👍🏽",
    "e\u0301",
    "नि",
    "각",
    "❤️",
    "1️⃣",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "a\u0300\u0301\u0302",
    "\u0e01\u0e33",
]


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("unit", ["👨‍👩‍👧‍👦🇩🇪👍🏽e\u0301", *CLUSTERS, "".join(CLUSTERS)])
@pytest.mark.parametrize("overlap", [0, 10])
def test_b54_cuts_stand_between_grapheme_clusters(size, unit, overlap):
    body = unit * 60
    text = f"# E\n\n{body}\n"
    chunks = separate(text, max_tokens=size, overlap_tokens=overlap)
    assert len(chunks) > 1
    boundaries = {5} | {5 + match.end() for match in regex.finditer(r"\X", body)}
    for c in chunks:
        assert {c.char_start, c.char_end} <= boundaries
    if not overlap:
        assert "".join(c.raw_content for c in chunks) == body


@pytest.mark.parametrize("size", [48, 96])
@pytest.mark.parametrize(
    "unit",
    [
        "今日は晴れです。散歩に行きます！楽しいですか？",
        "今天天气很好。我们去散步吧！你高兴吗？",
        "他说了。她笑了！真的吗？好……",
    ],
)
def test_b55_text_without_blanks_is_cut_behind_its_sentence_ends(size, unit):
    chunks = separate("# A\n\n" + unit * 40 + "\n", max_tokens=size)
    assert len(chunks) > 3
    for c in chunks:
        assert c.raw_content[-1] in "。！？…", c.raw_content
        assert "hard_split" not in c.flags


@pytest.mark.parametrize("size", [48, 64, 100])
def test_b56_no_cut_inside_versions_links_and_abbreviations(size):
    text = "# A\n\n" + "Get v1.2.3 from a.b/c.d now, e.g. over night. Pi is 3.14 or so. " * 30 + "\n"
    chunks = separate(text, max_tokens=size)
    assert len(chunks) > 5
    for c in chunks:
        assert c.raw_content.endswith(("over night.", "or so.")), c.raw_content[-30:]
        assert c.raw_content.startswith(("Get", "Pi")), c.raw_content[:30]
        assert not {"hard_split", "split_sentence"} & set(c.flags)


@pytest.mark.parametrize(
    "word",
    ["Mr. Jones", "Dr. Who", "i.e. so", "file.tar.gz", "10.5 km", "No. 7", "https://host.example/a.b?c=d.e"],
)
def test_b56_a_stop_inside_a_term_ends_no_sentence(word):
    sentence = f"They met {word} at the gate of the town. "
    chunks = separate("# A\n\n" + sentence * 40 + "\n", max_tokens=64)
    assert len(chunks) > 5
    for c in chunks:
        assert c.raw_content.startswith("They met"), c.raw_content[:30]
        assert c.raw_content.endswith("of the town."), c.raw_content[-30:]


@pytest.mark.parametrize("size", [48, 64, 96])
def test_b57_full_width_decimals_and_closing_quotes_stay_whole(size):
    text = "# A\n\n" + "円周率は３．１４です。「はい。」と言った。" * 60 + "\n"
    chunks = separate(text, max_tokens=size)
    assert len(chunks) > 5
    assert sum(c.raw_content.count("３．１４") for c in chunks) == 60
    assert sum(c.raw_content.count("。」") for c in chunks) == 60
    for c in chunks:
        assert c.raw_content[0] not in "」。．１"
        assert c.raw_content[-1] == "。" or c.raw_content.endswith("。」")


@pytest.mark.parametrize("pair", ["「はい。」", "“好。”", "『そう！』", "（終わり。）", "《好！》", "【完。】"])
def test_b57_a_closing_quote_stays_with_its_sentence(pair):
    for c in separate("# A\n\n" + f"彼は{pair}" * 80 + "\n", max_tokens=48):
        assert c.raw_content[0] == "彼", c.raw_content


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_r09_no_character_is_removed(name):
    body = "Äpfel, 東京, naïve — “quoted” … ½ № \u00a0 \u200b \u200d ﷽ 😀"
    text = f"# Größe 東京\n\n{body}\n"
    (only,) = separate(text, strategy=name)
    assert only.raw_content.endswith(body.strip())
    assert only.content.startswith(("Größe 東京", "# Größe 東京"))
    assert outlined(text) == [(1, "Größe 東京")]


@pytest.mark.parametrize("script", ["Привет мир. ", "שלום עולם. ", "مرحبا بالعالم؟ ", "नमस्ते दुनिया। ", "สวัสดีชาวโลก "])
def test_every_script_is_covered_within_the_budget(script):
    body = script * 100
    chunks = separate(f"# A\n\n{body}\n", max_tokens=48)
    assert budget_kept(chunks, 48)
    assert disjoint(chunks)
    assert without_blanks("".join(c.raw_content for c in chunks)) == without_blanks(body)
