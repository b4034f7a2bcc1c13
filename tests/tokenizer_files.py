"""Real tokenizer.json files of three families, trained on the spot: WordPiece, byte-level BPE and Metaspace unigram."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXT = [
    "Grind right before you brew, because ground coffee goes stale within minutes.",
    "Tables are cut between rows, code between lines, prose between sentences.",
    "今日は晴れです。散歩に行きます！",
    "Äpfel und Größe, naïve café; don't, can't, we'll.",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]  # fmt: skip


def word_piece() -> Tokenizer:
    """As BERT's: lower case, split at blanks and punctuation, [CLS] and [SEP] around, truncation switched on."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    tokenizer.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    return tokenizer


def byte_level() -> Tokenizer:
    """As GPT-2's and RoBERTa's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet))
    return tokenizer


def unigram() -> Tokenizer:
    """As XLM-R's and E5's: blanks become part of the words."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>")
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


FAMILIES: dict[str, Callable[[], Tokenizer]] = {
    "word-piece": word_piece,
    "byte-level": byte_level,
    "unigram": unigram,
}


def write(folder: Path, family: str, name: str) -> Path:
    """Writes a family's tokenizer.json under a name; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    FAMILIES[family]().save(str(path))
    return path
