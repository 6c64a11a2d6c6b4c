"""Split text into sentences."""

import re

_END = re.compile(r"(?<=[.!?])\s+")


def split_sentences(text: str) -> list[str]:
    """Split at white space after a full stop, an exclamation or a question mark.

    >>> split_sentences("It rains. Does it? It does!")
    ['It rains.', 'Does it?', 'It does!']
    """
    return [sentence for sentence in _END.split(text.strip()) if sentence]
