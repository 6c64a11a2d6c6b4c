"""Content words of Korean and English text, without particles, endings and stop words."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeAlias

Tokenizer: TypeAlias = Callable[[str], list[str]]

# A word loses the longest ending that leaves two syllables.
_ENDINGS = """
    에서는 에서도 으로부터 로부터 에서 에게 한테 까지 부터 으로 로 은 는 이 가 을 를 의 에 와
    과 도 만 이나 나 처럼 보다 마다 이라 라 이라고 라고 이며 며 이고 이란 란 들 들은 들을 들이
    들의 하고 하는 하여 하면 하며 하지 하게 하기 하다 한다 합니다 합니까 하세요 했다 했습니다 해서
    해야 해요 한 할 함 해 되고 되는 되어 되면 되며 되지 되기 된다 됩니다 됐다 되었습니다 되었다
    된 될 됨 돼요 시키고 시키는 시켜 시킨다 시킵니다 적으로 적인 적
    이므로 하므로 되므로 이거나 하거나 되거나 이면 이지만 하려면 하도록 되도록 하였다
"""
_KOREAN_ENDINGS = tuple(sorted(_ENDINGS.split(), key=len, reverse=True))
# A noun with the copula says what something is, and repeats the subject more often than a fact. The forms of
# there is (있다), there is not (없다) and not (않다) say nothing by themselves; 없애다 and 없어지다 do.
_BARE_PREDICATE = re.compile(
    "(입니다|이다|이에요|예요|였습니다|이었습니다|인가요)$|^(있|않|없(?!애|앤|앨|어지|어진|어졌))"
)
_KOREAN_STOP_WORDS = frozenset(
    """
        그리고 그러나 그래서 하지만 또한 또는 및 이것 그것 저것 이는 여기 거기 이런 그런 저런
        그렇다 그에 이를 다만 함께 모두 같은 같이 대한 대해 위해 위한 때문 경우 통해 따라 따르면
        모든 매우 가장 다시 바로 먼저 그냥 수도 것은 것이 것을 것도 것 수 등 합니다 한다 하는 하고
        됩니다 된다 되는 되고 이다 입니다 아닙니다 아니다
    """.split()
)
_ENGLISH_STOP_WORDS = frozenset(
    """
        a about above after again all also although an and any are as at be because been before being below
        between both but by can could did do does doing down during each either else ever every few for from
        further get gets had has have having he her here hers him himself his how however i if in into is it its
        itself just let may me might more most much must my neither no nor not now of off on once one only or
        other otherwise our out over own per same shall she should so some such than that the their them
        themselves then there these they this those though through to too under unless until up upon us use used
        uses using very was we were what whatever when where whether which while who whom why will with within
        without would yes yet you your
    """.split()
)
_WORD = re.compile(r"[a-z0-9_]+|[가-힣]+")
# So that stopped meets stop, and queries meets query; three letters stay.
_ENGLISH_ENDING = re.compile(
    r"(?<=\w\w([bdgmnprt]))\1(ed|ing)$|"
    r"(?<=\w\w\w)(ingly|edly|ing|ied|ies|ed|es|ly|(?<![ius])s|(?<![aeiou])y|(?<=\w{4})e)$"
)


def content_words(text: str) -> list[str]:
    """Return the stems of the content words, each once, in order.

    Hangul words count from two syllables on, others from three letters or digits. The unit of a number
    ("원을" in "500원을") is no word of its own if it has one syllable.

    >>> content_words("VACUUM은 저장 공간을 정리하는 작업입니다.")
    ['vacuum', '저장', '공간', '정리']
    >>> content_words("The command removes the dead rows.")
    ['command', 'remov', 'dead', 'row']
    """
    text = normalised(text)
    stems = (
        _stem(found[0], text[found.start() - 1 : found.start()].isdigit())
        for found in _WORD.finditer(text)
    )
    return list(dict.fromkeys(stem for stem in stems if stem))


@lru_cache(maxsize=256)  # a text is searched for many words, a corpus for the words of many queries
def normalised(text: str) -> str:
    """Return the text in one Unicode form and in lower case, without the commas of thousands.

    >>> normalised("VACUUM: 30,000원")
    'vacuum: 30000원'
    """
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", text).lower())


def _stem(word: str, after_number: bool) -> str:
    """Return the word's stem, or "" if it is no content word."""
    if word.isascii():
        if len(word) < 3 or word in _ENGLISH_STOP_WORDS:
            return ""
        return _ENGLISH_ENDING.sub("", word)
    if word in _KOREAN_STOP_WORDS or word in _KOREAN_ENDINGS or _BARE_PREDICATE.search(word):
        return ""
    stem = strip_ending(word, least=1 if after_number else 2)
    return stem if len(stem) >= 2 and stem not in _KOREAN_STOP_WORDS else ""


def strip_ending(word: str, least: int = 2) -> str:
    """Return a Hangul word without its particles and endings, as long as so many syllables remain.

    >>> strip_ending("정리하는"), strip_ending("학교에서는"), strip_ending("나는")
    ('정리', '학교', '나는')
    """
    while ending := next(
        (e for e in _KOREAN_ENDINGS if _ends(word, e) and len(word) - len(e) >= least), ""
    ):
        word = word[: -len(ending)]
    return word


def _ends(word: str, ending: str) -> bool:
    return word.endswith(ending) and not word.endswith(
        "으" + ending
    )  # 로 is no ending of 책으로, 며 none of 받으며


def occurs(stem: str, text: str) -> bool:
    """Say whether the stem occurs in the text: at the start of a word, for Hangul anywhere (compounds).

    A number must be the same to its last digit.

    >>> occurs("remov", "He removed it."), occurs("500", "It costs 5,000.")
    (True, False)
    """
    text = normalised(text)
    if stem.isascii():
        return (
            re.search(rf"(?<![a-z0-9_]){re.escape(stem)}{'(?![0-9])' * stem[-1:].isdigit()}", text)
            is not None
        )
    return stem in text


@cache
def _kiwi() -> Any:
    try:
        from kiwipiepy import Kiwi
    except ImportError as error:
        raise ImportError(
            "kiwi_words needs the extra kiwi: pip install -e '.[kiwi]' in the virtual environment."
        ) from error
    return Kiwi()


def kiwi_words(text: str) -> list[str]:
    """Return the content words that the morphological analyser Kiwi finds: nouns, verbs, adjectives, foreign words."""
    tags = ("NNG", "NNP", "NR", "VV", "VA", "XR", "SL", "SN", "SH")
    tokens = _kiwi().tokenize(unicodedata.normalize("NFKC", text))
    words = (token.form.lower() for token in tokens if token.tag.split("-")[0] in tags)
    return list(
        dict.fromkeys(word for word in words if len(word) > 1 and word not in _ENGLISH_STOP_WORDS)
    )


# Not "a substance that cannot be known" or "if you cannot find": those are facts.
_NOT_THERE = "없(?!는|이|으면|다면|을|애)"
_DOCUMENTS = "(documents?|handbooks?|sources?|contexts?|texts?)"
_REFUSAL = re.compile(
    r"\b(do|does|did)( not|n['’]t) (say|mention)\b|\b(is|are)( not|n['’]t) (mentioned|stated|specified)\b|"
    rf"\b{_DOCUMENTS} (do|does|did)( not|n['’]t) (tell|contain|answer|provide|state|specify)\b|"
    rf"\bnot (\w+ )?in the (given |provided )?{_DOCUMENTS}\b|"
    r"\b(not enough information|no information (about|on|in)|cannot be (answered|determined))\b|"
    r"\b(i|we) (cannot|can['’]t|could not|couldn['’]t) (find|tell|answer|say)\b|\bi (do not|don['’]t) know\b|"
    "나와 있지 않|(편람|문서|자료|본문)[^.]*나오지 않|언급(되지|하지|이) 않|모르겠|"
    f"(내용|정보|규정|언급|설명)[은는이가]? ?{_NOT_THERE}|(알|찾을|답할) 수 {_NOT_THERE}"
)


def is_refusal(text: str) -> bool:
    """Say whether an answer says that the documents do not say.

    >>> is_refusal("The handbook does not say what parking costs.")
    True
    >>> is_refusal("편람에는 주차 요금에 관한 내용이 없다.")
    True
    """
    return _REFUSAL.search(normalised(text)) is not None


# ---------------------------------------------------------------- sentences

_END = re.compile(r"(?<=[.!?])\s+")


def split_sentences(text: str) -> list[str]:
    """Split at white space after a full stop, an exclamation or a question mark.

    >>> split_sentences("It rains. Does it? It does!")
    ['It rains.', 'Does it?', 'It does!']
    """
    return [sentence for sentence in _END.split(text.strip()) if sentence]


def equal_text_key(text: str) -> str:
    """Return what two texts share if the kit calls them equal: the same letters, in the same case.

    Their Unicode form (NFKC) and their white space make no difference.

    >>> equal_text_key("ＡＢＣ  123 rag") == equal_text_key("ABC 123 rag")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())
