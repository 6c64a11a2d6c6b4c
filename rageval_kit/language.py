"""What the kit knows of languages: a record each, and the words, sentences and refusals of a text.

Korean and English have a record. The words of any other language are taken whole, in the letters of their
own script; where a script puts no blanks between words (Chinese, Japanese, Thai), pairs of characters are.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

Tokenizer: TypeAlias = Callable[[str], list[str]]


@dataclass(frozen=True)
class Language:
    """What the kit knows of one language.

    Attributes:
        script: see `script_of`; and ``letters``, the words of it that are this language's.
        least: how many letters or syllables make a content word.
        stop_words: words that say nothing by themselves; ``stop_forms`` matches more of them.
        particles: what is cut from a word wherever words are compared.
        endings: what is cut from a content word besides.
        articles: words that make no difference between two answers.
        abbreviations: where their full stop stands, no sentence ends.
        refusal: what a sentence says that declines to answer, in lower case.
        stop_share: the share of stop words that a text has at least, where other languages have its script.
    """

    script: str
    letters: re.Pattern[str]
    least: int
    stop_words: frozenset[str]
    refusal: re.Pattern[str]
    stop_forms: re.Pattern[str] = re.compile("(?!)")
    particles: re.Pattern[str] = re.compile("(?!)")
    endings: re.Pattern[str] = re.compile("(?!)")
    articles: frozenset[str] = frozenset()
    abbreviations: tuple[str, ...] = ()
    stop_share: float = 0.0


def _any_of(patterns: str) -> str:
    """Return one pattern for several, which stand with white space between; the longest is tried first."""
    return f"(?:{'|'.join(sorted(patterns.split(), key=len, reverse=True))})"


# ---------------------------------------------------------------- Korean

# Nouns alone take these, so that one syllable may remain: 앱에서. The others leave two: 강의, 나는 and 정한다 stay.
_COPULA = "입니다 이다 이에요 예요 였습니다 이었습니다 이었다 이어야 인가요"
_AFTER_A_NOUN = f"에서 에게 한테 까지 부터 으로 마다 보다 처럼 에 를 {_COPULA}"
_AFTER_ANY_WORD = """
    로 는 의 도 만 이나 이라 이라고 라고 이란 들 로서 으로서 대로 라도 뿐 만큼
    이며 이고 이므로 이거나 이면 이지만 이든 적으로 적인 적
    하고 하는 하여 하면 하며 하지 하게 하기 하다 한다 합니다 합니까 하세요 했다 했습니다 해서 해야 해요
    한 할 함 해 하므로 하려면 하려는 하도록 하였다 하여야 하거나 하더라도 하면서 하는지 한다고 하다고
    되고 되는 되어 되면 되며 되지 되기 된다 됩니다 됐다 되었습니다 되었다 된 될 됨 돼요 되므로 되도록
    되어야 되거나 되더라도 되는지 된다고 시키고 시키는 시켜 시킨다 시킵니다
"""
# 이 or 가, 은 or 는: the syllable before decides. 평가 has lost no 가, since 평 ends in a consonant.
_OPEN = "".join(chr(code) for code in range(ord("가"), ord("힣"), 28))  # 가 개 갸 ...
_KOREAN_PARTICLES = re.compile(
    rf"((?<=.){_any_of(_AFTER_A_NOUN)}|(?<=..){_any_of(_AFTER_ANY_WORD)}|"
    rf"(?<=.[{_OPEN}])(가|와|나|라|란|여야|(?<!으)며)|(?<=.[^{_OPEN}])(은|을|이|과))+$"
)
_KOREAN_STOP_WORDS = """
    그리고 그러나 그래서 하지만 또한 또는 및 이것 그것 저것 이는 여기 거기 이런 그런 저런 그렇다 그에 이를
    다만 함께 모두 같은 같이 대한 대해 대하여 위해 위한 위하여 때문 경우 통해 통하여 관한 관하여 따라 따라서
    따르면 모든 다른 어떤 어느 여러 무슨 어떻게 누가 매우 가장 다시 바로 먼저 그냥 그대로 수도 것은 것이 것을
    것도 합니다 한다 하는 하고 됩니다 된다 되는 되고 아닙니다 아니다 아니라 아닌 아니며 못한 못한다 못하다
    것 수 등 전 후 안 밖 앞 뒤 위 밑 옆 중 때 곳 번 데 점 외 날 말 끝 이 그 저
"""
# The forms of there is (있다), there is not (없다) and not (않다) say nothing by themselves; 없애다 and 없어지다
# do. Nor does a predicate that only stands for the clause before it: 공간을 정리하는 작업입니다.
_KOREAN_STOP_FORMS = re.compile(
    rf"(있|않|없(?!애|앤|앨|어지|어진|어졌)).*|(작업|명령|방법|과정|예정){_any_of(_COPULA)}"
)

# A refusal is the predicate, at the end of its sentence: "알 수 없으므로" gives a reason, and is none.
_END = r"[가-힣]{1,4}\W*$"
_DOCUMENTS = "(편람|문서|자료|본문|문맥|맥락|지문|텍스트|출처)"
_CONTENTS = "(정보|내용|설명|언급|답변?|규정)"
_KOREAN_REFUSAL = re.compile(
    "|".join(
        [
            f"(나와|적혀|쓰여|실려|(명시|기재|언급|안내|수록)(되어|돼)) ?있지는? 않{_END}",
            f"(명시|기재|언급|안내)(되|하)?(지|이)는? 않{_END}",
            f"{_DOCUMENTS}.*(나오|다루|말하|설명하|밝히|포함되어 있|제공되어 있)지는? 않{_END}",
            f"(해당|관련|관한|대한) .*{_CONTENTS}.*(포함|제공)되(어 있지|지)는? 않{_END}",
            f"^[^가-힣]*확인되지 않{_END}|{_DOCUMENTS}.*확인되지 않{_END}",
            f"{_DOCUMENTS}(에|에는|에서는?|에도) (.*{_CONTENTS}[은는이가도]? ?)?없{_END}",
            f"(해당|관련|관한|대한) (정보|내용|설명|언급|답변?)[은는이가도]? ?없{_END}",
            f"(없|않)는 (정보|내용|사항|질문)({'|'.join(_COPULA.split())})\\W*$",
            f"(알|답할|답변할|대답할|답변드릴|답을 드릴) 수[가는]? 없{_END}",
            f"({_DOCUMENTS}|{_CONTENTS}).*(찾을|찾아볼|확인할) 수[가는]? 없{_END}",
            f"({_DOCUMENTS}|{_CONTENTS}).*(찾|확인하)지는? 못[하했]{_END}",
            f"(답변|대답)(드리기|하기)[가는]? 어렵{_END}|{_DOCUMENTS}.*기[가는]? 어렵{_END}",
            f"모르겠{_END}|모릅니다\\W*$",
        ]
    )
)

# ---------------------------------------------------------------- English

_ENGLISH_STOP_WORDS = """
    a about above after again all also although an and any are as at be because been before being below
    between both but by can could did do does doing down during each either else ever every few for from
    further get gets had has have having he her here hers him himself his how however i if in into is it its
    itself just let may me might more most much must my neither no nor not now of off on once one only or
    other otherwise our out over own per same shall she should so some such than that the their them
    themselves then there these they this those though through to too under unless until up upon us use used
    uses using very was we were what whatever when where whether which while who whom why will with within
    without would yes yet you your
"""
# Three letters stay. A stemmer such as Snowball's would also join applicant with application.
_ENGLISH_ENDINGS = re.compile(
    r"""(?<=\w\w([bdgmnprt]))\1(ed|ing)$             # stopped: stop
      | (?<=\w\w\w)(ingly|edly|ing|ied|ies|ed|es|ly  # queries: quer
        | (?<![ius])s                                # fees: fee; but campus, less
        | (?<![aeiou])y                              # query: quer
        | (?<=\w{4})e                                # remove: remov, as removed
      )$""",
    re.VERBOSE,
)

_SOURCES = (
    r"(documents?|handbooks?|sources?|contexts?|texts?|passages?|(provided|given) information)"
)
_NOT = r"( not|n['’]t)( \w+ly)?"
_ENGLISH_REFUSAL = re.compile(
    "|".join(
        [
            # the documents do not say
            rf"\b({_SOURCES}\b.*|it|they) (do|does|did){_NOT} (say|mention|specify|tell|answer|address|describe|discuss)\b",
            rf"\b{_SOURCES}( \w+)? (do|does|did){_NOT} (contain|include|cover|provide|state|give)\b",
            rf"\b{_SOURCES}\b.* (silent on|no (mention|information|details?)|says? nothing)\b",
            rf"\bnothing in the {_SOURCES}\b|\bno mention of\b",
            # it is not said
            rf"^[^.]*\b(is|are|was|were){_NOT} (mentioned|stated|specified)\W*$",
            rf"^(not|(this|that|the|such) information (is|was){_NOT}) (mentioned|stated|specified|provided|given|found)\W*$",
            rf"^(?!.*\bif\b).*(\bnot|n['’]t) (\w+ )?(in|by|from) the (\w+ )?{_SOURCES}\b",
            # there is nothing to answer from
            r"\bno (\w+ )?information (about|on|regarding|(is|was|were) (found|available|given|provided))\b",
            r"\b(is|are)( not|n['’]t) enough information\b|\bhave (enough|sufficient) information\b",
            # I cannot answer
            r"\b(i|we) (cannot|can['’]t|could not|couldn['’]t|(am|are|was|were) (unable|not able) to) "
            r"(find|tell|say|answer (this|that|it|the|your))\b",
            r"\bcan(not| not|['’]t) be (answered|(determined|inferred) from)\b",
            r"\b(i|we) (do not|don['’]t) know(?! is\b)",
        ]
    )
)

# ---------------------------------------------------------------- the records

LANGUAGES = {
    "ko": Language(
        script="Hangul",
        letters=re.compile("[가-힣]+"),
        least=2,
        stop_words=frozenset((_KOREAN_STOP_WORDS + _AFTER_A_NOUN + _AFTER_ANY_WORD).split()),
        stop_forms=_KOREAN_STOP_FORMS,
        particles=_KOREAN_PARTICLES,
        refusal=_KOREAN_REFUSAL,
    ),
    "en": Language(
        script="Latin",
        letters=re.compile("[a-z0-9_]+"),
        least=3,
        stop_words=frozenset(_ENGLISH_STOP_WORDS.split()),
        endings=_ENGLISH_ENDINGS,
        articles=frozenset(["a", "an", "the"]),
        abbreviations=(
            "Dr.",
            "Mr.",
            "Mrs.",
            "Ms.",
            "Prof.",
            "St.",
            "e.g.",
            "i.e.",
            "cf.",
            "vs.",
            "U.S.",
            "U.K.",
        ),
        refusal=_ENGLISH_REFUSAL,
        stop_share=0.1,
    ),
}


def script_of(text: str) -> str:
    """Return the script of the text: "Hangul", "Latin", "Han", "Kana", "Cyrillic", ...; "" if it has no letters.

    Latin words stand in texts of every script, and Han in Japanese and Korean: a letter of another script
    weighs ten Latin ones.

    >>> script_of("GPU 메모리란?"), script_of("What is RAG?"), script_of("RAGとは何ですか"), script_of("2026")
    ('Hangul', 'Latin', 'Kana', '')
    """
    weights: Counter[str] = Counter()
    for letter, times in Counter(unicodedata.normalize("NFKC", text)).items():
        if letter.isalpha():
            script = unicodedata.name(letter, "unknown").split()[0].split("-")[0].title()
            script = {"Cjk": "Han", "Hiragana": "Kana", "Katakana": "Kana"}.get(script, script)
            weights[script] += times * {"Latin": 1, "Han": 3}.get(script, 10)
    return max(weights, key=weights.__getitem__, default="")


# ---------------------------------------------------------------- words

_UNSPACED = (  # Thai and Lao, Burmese, Khmer, kana, Han
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "".join(chr(c) for c in range(0x300, 0x1E00) if unicodedata.category(chr(c))[0] == "M")
_LETTER = rf"[^\W가-힣{_UNSPACED}]"
_WORD = re.compile(
    rf"\d+(?:\.\d+)?|[가-힣]+|[{_UNSPACED}]+|(?![\d_]){_LETTER}(?:{_LETTER}|[{_MARKS}])*(?<!_)"
)


def content_words(text: str) -> list[str]:
    """Return the stems of the content words, each once, in order.

    Words count from three letters or digits on, Hangul from two syllables; from one, if a particle shows that
    it is a noun ("앱에서"). The unit of a number ("원을" in "500원을") is no word of its own if it has one.

    >>> content_words("VACUUM은 저장 공간을 정리하는 작업입니다.")
    ['vacuum', '저장', '공간', '정리']
    >>> content_words("The command removes the dead rows.")
    ['command', 'remov', 'dead', 'row']
    >>> content_words("Die Größe der Universität"), content_words("東京大学")
    (['die', 'größe', 'der', 'universität'], ['東京', '京大', '大学'])
    """
    stems = (_stem(word, is_unit) for word, is_unit in _words(text))
    return list(dict.fromkeys(stem for stem in stems if stem))


def normalised_tokens(text: str) -> list[str]:
    """Return the tokens that answers are compared by: all words, without articles and Korean particles.

    >>> normalised_tokens("The fee is 30,000 won."), normalised_tokens("수수료는 30,000원이다.")
    (['fee', 'is', '30000', 'won'], ['수수료', '30000', '원'])
    """
    articles = frozenset().union(*(language.articles for language in LANGUAGES.values()))
    return [
        without_particles(word, is_unit) for word, is_unit in _words(text) if word not in articles
    ]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every word, and whether it stands behind a digit as a unit does: the one rule of what a word is."""
    text = normalised(text)
    for found in _WORD.finditer(text):
        word = found[0]
        if len(word) > 2 and re.match(f"[{_UNSPACED}]", word):
            yield from ((word[start : start + 2], False) for start in range(len(word) - 1))
        else:
            yield word, text[found.start() - 1 : found.start()].isdigit()


def language_of(text: str) -> str | None:
    """Return the key in `LANGUAGES` of a text's language; None if it has no record there.

    Latin letters are read as English, unless a text of twenty words and more has hardly an English stop word.

    >>> language_of("도서관은 몇 시에 여나요?"), language_of("Где библиотека?")
    ('ko', None)
    """
    words, script = [word for word, _ in _words(text)], script_of(text)
    for name, known in LANGUAGES.items():
        stop_words = sum(word in known.stop_words for word in words)
        few = len(words) >= 20 and stop_words < known.stop_share * len(words)
        if script in (known.script, "") and not few:
            return name
    return None


def equal_text_key(text: str) -> str:
    """Return what two texts share if the kit calls them equal: letters and case, in one Unicode form (NFKC).

    How much white space stands between words, and of which kind, makes no difference.

    >>> equal_text_key("ＡＢＣ  123\\nrag") == equal_text_key("ABC 123 rag")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


@lru_cache(maxsize=256)  # a text is searched for many words, a corpus for the words of many queries
def normalised(text: str) -> str:
    """Return the text in one Unicode form and in lower case, without the commas of thousands.

    >>> normalised("VACUUM: 30,000원")
    'vacuum: 30000원'
    """
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", text).lower())


def _language_of(word: str) -> Language | None:
    return next((known for known in LANGUAGES.values() if known.letters.fullmatch(word)), None)


def without_particles(word: str, is_unit: bool = False) -> str:
    """Return a word without its particles and endings; of Hangul two syllables stay, of a unit or clear noun one.

    >>> [without_particles(word) for word in ("정리하는", "학교에서는", "앱에서", "나는", "강의")]
    ['정리', '학교', '앱', '나는', '강의']
    """
    language = _language_of(word)
    number = "0" * is_unit  # counts as one of the two
    return language.particles.sub("", number + word)[len(number) :] if language else word


@lru_cache(maxsize=65_536)
def _stem(word: str, is_unit: bool) -> str:
    """Return the word's stem, or "" if it is no content word."""
    language = _language_of(word)
    if language is None:
        return word if len(word) >= (2 if re.match(f"[{_UNSPACED}]", word) else 3) else ""
    if word in language.stop_words or language.stop_forms.fullmatch(word):
        return ""

    # One syllable is a noun where a particle of nouns stood behind it, and says little anywhere else.
    stem = language.endings.sub("", without_particles(word, is_unit))
    counts = len(stem) >= language.least or (stem != word and not is_unit)
    return stem if counts and stem not in language.stop_words else ""


def occurs(stem: str, text: str) -> bool:
    """Say whether the stem occurs in the text: at the start of a word, for Hangul anywhere (compounds).

    A number must be the same to its last digit, and one syllable the whole word but for its particles.

    >>> occurs("remov", "He removed it."), occurs("500", "It costs 5,000.")
    (True, False)
    >>> occurs("앱", "앱을 연다"), occurs("앱", "앱스토어를 연다")
    (True, False)
    """
    text = normalised(text)
    if len(stem) == 1:
        return any(without_particles(stem + word) == stem * 2 for word, _ in _words(text))
    if re.fullmatch(f"[가-힣{_UNSPACED}]+", stem):
        return stem in text
    whole_number = "(?![0-9])" * stem[-1:].isdigit()
    return re.search(rf"(?<!{_LETTER}){re.escape(stem)}{whole_number}", text) is not None


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
    """Return the content words that the morphological analyser Kiwi finds in Korean: nouns, verbs, adjectives."""
    tags = ("NNG", "NNP", "NR", "VV", "VA", "XR", "SL", "SN", "SH")
    tokens = _kiwi().tokenize(unicodedata.normalize("NFKC", text))
    words = [token.form.lower() for token in tokens if token.tag.split("-")[0] in tags]
    stop_words = LANGUAGES["en"].stop_words
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in stop_words))


# ---------------------------------------------------------------- sentences

_NO_END = "".join(
    rf"(?<!\b{re.escape(known)})"
    for language in LANGUAGES.values()
    for known in language.abbreviations
)
_SENTENCE_END = re.compile(
    rf"(?<=[.!?]){_NO_END}(?!(?<=\bNo\.)\s+\d)(?!(?<=\b[ap]\.m\.)\s+[^A-Z])\s+"
    r"|(?<=[。！？])(?![」』）”’。！？])\s*"
)


def split_sentences(text: str) -> list[str]:
    """Split behind a full stop, an exclamation or a question mark, but not behind an abbreviation or in a number.

    >>> split_sentences("It rains. Does it? Ask Dr. Kim at 3 p.m. in Room No. 5.")
    ['It rains.', 'Does it?', 'Ask Dr. Kim at 3 p.m. in Room No. 5.']
    >>> split_sentences("3.5절을 본다. 끝이다."), split_sentences("雨です。本当？")
    (['3.5절을 본다.', '끝이다.'], ['雨です。', '本当？'])
    """
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


def looks_like_refusal(text: str) -> bool:
    """Screen an answer: does a sentence of it say, in Korean or English, that the documents do not say?

    A screen, and no proof: it knows common wordings. Whether a question has an answer at all is what the
    dataset says (no relevant document), never this.

    >>> looks_like_refusal("The handbook does not say what parking costs.")
    True
    >>> looks_like_refusal("편람에는 주차 요금에 관한 내용이 없다."), looks_like_refusal("환불 규정이 없다.")
    (True, False)
    """
    return any(
        language.refusal.search(normalised(sentence))
        for sentence in split_sentences(text)
        for language in LANGUAGES.values()
    )
