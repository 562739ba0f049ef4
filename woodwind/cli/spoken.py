"""Messages of the library in the words of the command: an option is named as it is typed, and what has none is not advised."""

import re

# What the library says, and what is said here instead.
_SAID = (
    (r"\bsay task=(['\"])(\w+)\1", r"give --task \2"),
    (r"\btask=(['\"])(\w+)\1", r"--task \2"),
    (r"\bdrop_missing_target=True \(--drop-missing-target\)", "--drop-missing-target"),
    (r", or say header=False\b", ""),
    (r"; or, if these are names, say header=True\b", ""),
    (r", or read only the columns that all files have with columns=\[\.\.\.\]", ""),
    (r"; guard_formulas=True puts an apostrophe before it", ""),
    (r"\bwithout resume\b", "without --resume"),
    (r"\bresume=True\b", "--resume"),
    (r"\bAutoEnsemble(?:Classifier|Regressor): ", ""),
    (r"(?<![\d.,])1 (column|fold|member|model|round|row)s\b", r"1 \1"),
)


def in_options(words: str) -> str:
    """The same words for somebody who types commands."""
    for said, instead in _SAID:
        words = re.sub(said, instead, words)
    return words
