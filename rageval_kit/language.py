"""What the kit knows of languages: a record each, and the words, sentences and refusals of a text.

Korean and English have a record. The words of any other language are taken whole, in the letters of
their own script; where a script puts no blanks between words (Chinese, Japanese, Thai), its pairs
of characters are taken for words.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

from rageval_kit.messages import missing_extra, wrong_type

Tokenizer: TypeAlias = Callable[[str], list[str]]

_NOTHING = re.compile("(?!)")


@dataclass(frozen=True)
class Language:
    """What the kit knows of one language; the patterns read text in lower case.

    Attributes:
        script: see `script_of`.
        letters: matches the words that are read by this record.
        least: how many letters or syllables make a content word.
        stop_words: words that say nothing by themselves; ``stop_forms`` matches more of them.
        stop_share: the share of stop words that a text of this language has at least, where its
            script serves many languages.
        particles: what is cut from a word wherever words are compared.
        endings: what is cut from a content word besides.
        articles: words that make no difference between two answers.
        abbreviations: their full stop ends no sentence.
        refusal: matches a sentence that declines to answer.
    """

    script: str
    letters: re.Pattern[str]
    least: int
    stop_words: frozenset[str]
    refusal: re.Pattern[str]
    stop_forms: re.Pattern[str] = _NOTHING
    stop_share: float = 0.0
    particles: re.Pattern[str] = _NOTHING
    endings: re.Pattern[str] = _NOTHING
    articles: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()


def _any_of(patterns: str) -> str:
    """Return one pattern for several with white space between; the longest is tried first."""
    return f"(?:{'|'.join(sorted(patterns.split(), key=len, reverse=True))})"


def _one_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern for several that stand on lines of their own."""
    return re.compile("|".join(patterns))


# ---------------------------------------------------------------- Korean

# Nouns alone take the first kind, so that one syllable may remain: 앱에서. The others leave two:
# there are words such as 강의, 나는 and 정한다.
_COPULA = "입니다 이다 이에요 예요 였습니다 이었습니다 이었다 이어야 인가요"
_AFTER_A_NOUN = f"에서 에게 한테 까지 부터 으로 마다 보다 처럼 에 를 {_COPULA}"
_AFTER_ANY_WORD = """
    로 는 의 도 만 이나 이라 이라고 라고 이란 들 로서 으로서 대로 라도 뿐 만큼
    이며 이고 이므로 이거나 이면 이지만 이든 적으로 적인 적
    하고 하는 하여 하면 하며 하지 하게 하기 하다 한다 합니다 합니까 하세요 했다 했습니다 해서
    해야 해요 한 할 함 해 하므로 하려면 하려는 하도록 하였다 하여야 하거나 하더라도 하면서
    하는지 한다고 하다고 되고 되는 되어 되면 되며 되지 되기 된다 됩니다 됐다 되었습니다 되었다
    된 될 됨 돼요 되므로 되도록 되어야 되거나 되더라도 되는지 된다고
    시키고 시키는 시켜 시킨다 시킵니다
"""
# 이 or 가, 은 or 는: the syllable before decides. 평가 has lost no 가, for 평 ends in a consonant.
_OPEN = "".join(chr(code) for code in range(ord("가"), ord("힣"), 28))  # 가 개 갸 ...: none have
_KOREAN_STOP_WORDS = """
    그리고 그러나 그래서 하지만 또한 또는 및 이것 그것 저것 이는 여기 거기 이런 그런 저런 그렇다
    그에 이를 다만 함께 모두 같은 같이 대한 대해 대하여 위해 위한 위하여 때문 경우 통해 통하여
    관한 관하여 따라 따라서 따르면 모든 다른 어떤 어느 여러 무슨 어떻게 누가 매우 가장 다시 바로
    먼저 그냥 그대로 수도 것은 것이 것을 것도 아닙니다 아니다 아니라 아닌 아니며
    못한 못한다 못하다 것 수 등 전 후 안 밖 앞 뒤 위 밑 옆 중 때 곳 번 데 점 외 날 말 끝 이 그 저
"""

# A refusal is the predicate at the end of a sentence: "알 수 없으므로" gives a reason, and is none.
_END = r"[가-힣]{1,4}\W*$"
_NOT = f"(지는? ?않|지는? ?못[하했]){_END}"
_NONE = f"없{_END}"
_TEXTS = "(편람|문서|자료|본문|문맥|맥락|지문|텍스트|출처|매뉴얼|안내서|안내문)"
_SAID = "(정보|내용|설명|언급|답변?|규정)"
_ABOUT = "(해당|관련|관한|대한)"
_KOREAN = Language(
    script="Hangul",
    letters=re.compile("[가-힣]+"),
    least=2,
    stop_words=frozenset((_KOREAN_STOP_WORDS + _AFTER_A_NOUN + _AFTER_ANY_WORD).split()),
    # The forms of there is (있다), there is not (없다) and not (않다) say nothing by themselves;
    # 없애다 and 없어지다 do. Nor does a noun that stands for the clause before it: 공간을 정리하는
    # 작업입니다.
    stop_forms=_one_of(
        "(있|않|없(?!애|앤|앨|어지|어진|어졌)).*", f"(작업|명령|방법|과정|예정){_any_of(_COPULA)}"
    ),
    particles=re.compile(
        rf"((?<=.){_any_of(_AFTER_A_NOUN)}|(?<=..){_any_of(_AFTER_ANY_WORD)}|"
        rf"(?<=.[{_OPEN}])(가|와|나|라|란|여야|(?<!으)며)|(?<=.[^{_OPEN}])(은|을|이|과))+$"
    ),
    refusal=_one_of(
        # the documents do not say: 문서에 나와 있지 않습니다
        f"(나와|적혀|쓰여|실려|(명시|기재|언급|안내|수록|제시)(되어|돼)) ?있{_NOT}",
        f"(명시|기재|언급|안내)되{_NOT}|^[^가-힣]*확인되{_NOT}",
        f"{_TEXTS}.*(나오|다루|말하|설명하|언급하|밝히|확인되|(포함|제공)되어 있){_NOT}",
        f"{_ABOUT} .*{_SAID}.*(포함|제공)되(어 있)?{_NOT}",
        # it is not there: 문서에 그런 내용은 없습니다
        f"{_TEXTS}(에|에는|에서는?|에도) (.*{_SAID}[은는이가도]? ?)?{_NONE}",
        f"({_ABOUT} |^)(정보|내용|설명|언급|답변?)[은는이가도]? ?{_NONE}",
        rf"(없|않)는 (정보|내용|사항|질문){_any_of(_COPULA)}\W*$",
        # I cannot answer: 찾지 못했습니다, 알 수 없습니다, 답변드리기 어렵습니다
        f"(알|(답|답변|대답)(할|드릴|을 드릴)) 수[가는]? {_NONE}",
        f"({_TEXTS}|{_SAID}).*(찾|확인하){_NOT}",
        f"({_TEXTS}|{_SAID}).*(찾을|찾아볼|확인할|판단할) 수[가는]? {_NONE}",
        f"({_TEXTS}|{_SAID}).*(찾|확인하|판단하)기[가는]? 어렵{_END}",
        f"(답변|대답)(이|은|하기|드리기)?[가는]? ?(어렵|불가){_END}",
        rf"모르겠{_END}|모릅니다\W*$",
    ),
)

# ---------------------------------------------------------------- English

_ENGLISH_STOP_WORDS = """
    a about above after again all also although an and any are as at be because been before
    being below between both but by can could did do does doing down during each either else
    ever every few for from further get gets had has have having he her here hers him himself
    his how however i if in into is it its itself just let may me might more most much must my
    neither no nor not now of off on once one only or other otherwise our out over own per same
    shall she should so some such than that the their them themselves then there these they this
    those though through to too under unless until up upon us use used uses using very was we
    were what whatever when where whether which while who whom why will with within without
    would yes yet you your
"""
_SOURCES = (
    "((document|handbook|manual|guide|source|context|text|passage|excerpt|article)s?"
    "|(given|provided) information)"
)
_DO_NOT = r"(do|does|did)( not|n['’]t)( \w+ly)?"
_IS_NOT = r"(is|are|was|were)( not|n['’]t)( \w+ly)?"
_SAID_BY = "(mentioned|stated|specified|provided|given|covered|included|found|listed|answered)"
_NO_PART = "(silent on|no (mention|reference|indication|information|details?)|says? nothing)"
_ENGLISH = Language(
    script="Latin",
    letters=re.compile("[a-z0-9_]+"),
    least=3,
    stop_words=frozenset(_ENGLISH_STOP_WORDS.split()),
    stop_share=0.1,
    # Three letters stay. (A stemmer such as Snowball's would join applicant with application, too.)
    endings=re.compile(
        r"""(?<=\w\w([bdgmnprt]))\1(ed|ing)$             # stopped: stop
          | (?<=\w\w\w)(ingly|edly|ing|ied|ies|ed|es|ly  # queries: quer
            | (?<![ius])s                                # fees: fee; but campus, less
            | (?<![aeiou])y                              # query: quer
            | (?<=\w{4})e                                # remove: remov, as removed
          )$""",
        re.VERBOSE,
    ),
    articles=frozenset({"a", "an", "the"}),
    abbreviations=frozenset("Dr. Mr. Mrs. Ms. Prof. St. e.g. i.e. cf. vs. U.S. U.K.".split()),
    refusal=_one_of(
        # the documents do not say
        rf"\b({_SOURCES}\b.*|it|they) {_DO_NOT} (say|mention|specify|tell|answer|address)\b",
        rf"\b{_SOURCES}( \w+)? {_DO_NOT} (contain|include|cover|provide|state|give|discuss)\b",
        rf"\b{_SOURCES}\b.* {_NO_PART}\b|\bno mention of\b",
        rf"\b(nothing in the|(none|neither)( of the)?) {_SOURCES}\b",
        # it is not said in them
        rf"^[^,]*\b{_IS_NOT} (mentioned|stated|specified)(\W*$| (wh\w+|how)\b)",
        rf"^(not|(this|that|the|such) (information|answer) {_IS_NOT}) {_SAID_BY}\W*$",
        rf"^(?!.*\bif\b).*(\bnot|n['’]t) (\w+ )?(in|by|from) (the|these) (\w+ )?{_SOURCES}\b",
        # there is nothing to answer from
        r"(\bno|(\bnot|n['’]t) any) (\w+ )?information "
        r"(about|on|regarding|(is|was|were) (found|available|given))\b",
        r"(\bnot|n['’]t)( \w+)? (enough|sufficient) information\b|\binsufficient information\b",
        rf"\b(the answer is (unknown|unclear)|no (answer|information)( {_SAID_BY})?\W*$)",
        # I cannot answer
        r"\b(i|we) (cannot|can['’]t|could not|couldn['’]t|(am|are|was|were) (unable|not able) to) "
        r"(find|tell|say|determine|answer (this|that|it|the|your))\b",
        r"\bcan(not| not|['’]t) be (answered|(determined|inferred) from)\b",
        r"\b((i|we) (do not|don['’]t) know(?! is)|(i am|i['’]m) not sure)\b",
    ),
)

# ---------------------------------------------------------------- which language

LANGUAGES = {"ko": _KOREAN, "en": _ENGLISH}


def script_of(text: str) -> str:
    """Return the script of a text: "Hangul", "Latin", "Han", "Kana", ...; "" if it has no letter.

    Latin words appear in texts of every script, and Han in Korean and Japanese: a letter of another
    script weighs ten Latin ones.

    >>> script_of("GPU 메모리란?"), script_of("What is RAG?"), script_of("RAGとは何ですか")
    ('Hangul', 'Latin', 'Kana')
    """
    weights: Counter[str] = Counter()
    for letter, times in Counter(_nfkc(text)).items():
        if letter.isalpha():
            name = re.split("[ -]", unicodedata.name(letter, "unknown"))[0].title()
            script = {"Cjk": "Han", "Hiragana": "Kana", "Katakana": "Kana"}.get(name, name)
            weights[script] += times * {"Latin": 1, "Han": 3}.get(script, 10)
    return max(weights, key=weights.__getitem__, default="")


def language_of(text: str) -> str | None:
    """Return the key in `LANGUAGES` of a text's language; None if it has no record there.

    Latin letters are read as English, unless a text of fifty words and more has hardly an English
    stop word.

    >>> language_of("도서관은 몇 시에 여나요?"), language_of("Где библиотека?")
    ('ko', None)
    """
    words, script = [word for word, _ in _words(text)], script_of(text)
    for name, known in LANGUAGES.items():
        stop_words = sum(word in known.stop_words for word in words)
        few = len(words) >= 50 and stop_words < known.stop_share * len(words)
        if script in (known.script, "") and not few:
            return name
    return None


# ---------------------------------------------------------------- words

_UNSPACED = (  # Thai and Lao, Burmese, Khmer, kana, Han
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents that are letters of their own, as Hindi and Arabic have them.
_MARKS = "".join(chr(c) for c in range(0x300, 0x1E00) if unicodedata.category(chr(c))[0] == "M")
_LETTER = rf"[^\W가-힣{_UNSPACED}]"
_WORD = re.compile(
    rf"\d+(?:\.\d+)?|[가-힣]+|[{_UNSPACED}]+|(?![\d_]){_LETTER}(?:{_LETTER}|[{_MARKS}])*(?<!_)"
)
_IN_UNSPACED = re.compile(f"[{_UNSPACED}]+")


def content_words(text: str) -> list[str]:
    """Return the stems of the content words, each once, in order.

    Words count from three letters or digits on, Hangul from two syllables; one does where a
    particle shows that it is a noun (앱 of "앱에서"), but not as a unit (원 of "500원을").

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
    """Return the tokens that answers are compared by: all words, without articles and particles.

    >>> normalised_tokens("The fee is 30,000 won."), normalised_tokens("수수료는 30,000원이다.")
    (['fee', 'is', '30000', 'won'], ['수수료', '30000', '원'])
    """
    tokens = []
    for word, is_unit in _words(text):
        language = _language_of_word(word)
        if language is None or word not in language.articles:
            tokens.append(without_particles(word, is_unit))
    return tokens


def search_terms(text: str) -> list[str]:
    """Return the terms that a search by words counts, as often as they stand, in order.

    Decided word by word, so that a question and a document agree in texts of both languages: Hangul
    in pairs of syllables, since endings stick to its words; English without stop words and endings;
    any other word as it is.

    >>> search_terms("수강신청은 언제 하나요?")
    ['수강', '강신', '신청', '청은', '언제', '하나', '나요']
    >>> search_terms("Which queries did the GPU run?"), search_terms("Die Größe der Universität")
    (['quer', 'gpu', 'run'], ['die', 'größe', 'der', 'universität'])
    """
    return [term for word, _ in _words(text) for term in _terms_of(word)]


@lru_cache(maxsize=65_536)
def _terms_of(word: str) -> list[str]:
    language = _language_of_word(word)
    if language is None:
        return [word]
    if language is _KOREAN:
        return _pairs(word)
    return [] if word in language.stop_words else [language.endings.sub("", word)]


def _pairs(word: str) -> list[str]:
    """Return each two neighbouring characters; a word of one or two is one."""
    return [word[i : i + 2] for i in range(max(len(word) - 1, 1))]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every word, and whether it is a unit behind a number: the one rule for words."""
    text = normalised(text)
    for found in _WORD.finditer(text):
        word, start = found[0], found.start()
        if _IN_UNSPACED.match(word):
            yield from ((pair, False) for pair in _pairs(word))
        else:
            yield word, text[max(start - 1, 0) : start].isdigit()


def equal_text_key(text: str) -> str:
    """Return what two texts share if the kit calls them equal: the same letters, in the same case.

    Their Unicode form (NFKC) and their white space make no difference.

    >>> equal_text_key("ＡＢＣ  123 rag") == equal_text_key("ABC 123 rag")
    True
    """
    return " ".join(_nfkc(text).split())


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", _checked(text))


def _checked(text: Any) -> str:
    if not isinstance(text, str):
        raise wrong_type("text", "a text", text)
    return text


def normalised(text: str) -> str:
    """Return the text in one Unicode form and in lower case, without the commas of thousands.

    >>> normalised("VACUUM: 30,000원")
    'vacuum: 30000원'
    """
    return _normalised(_checked(text))


@lru_cache(maxsize=256)  # a text is searched for many words, a corpus for the words of many queries
def _normalised(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", _nfkc(text).lower())


def _language_of_word(word: str) -> Language | None:
    return next((known for known in LANGUAGES.values() if known.letters.fullmatch(word)), None)


def without_particles(word: str, is_unit: bool = False) -> str:
    """Return a word without its particles and endings.

    Of Hangul two syllables stay; of a unit ("원을" behind a number) and of what is clearly a noun,
    one does.

    >>> [without_particles(word) for word in ("학교에서는", "앱에서", "나는", "강의")]
    ['학교', '앱', '나는', '강의']
    """
    language = _language_of_word(word)
    if language is None:
        return word
    number = "0" * is_unit  # stands for the first of the two syllables
    return language.particles.sub("", number + word).removeprefix(number)


@lru_cache(maxsize=65_536)
def _stem(word: str, is_unit: bool) -> str:
    """Return the word's stem, or "" if it is no content word."""
    language = _language_of_word(word)
    if language is None:
        return word if len(word) >= (2 if _IN_UNSPACED.match(word) else 3) else ""
    if word in language.stop_words or language.stop_forms.fullmatch(word):
        return ""

    # A short stem is a noun where something was cut from it; else it is a word such as 두 or 더.
    stem = language.endings.sub("", without_particles(word, is_unit))
    counts = len(stem) >= language.least or (stem != word and not is_unit)
    return stem if counts and stem not in language.stop_words else ""


def occurs(stem: str, text: str) -> bool:
    """Say whether the stem occurs in the text, as the start of a word; in Hangul, anywhere.

    A number must be the same to its last digit, and one syllable a whole word but for particles.

    >>> occurs("remov", "He removed it."), occurs("500", "It costs 5,000.")
    (True, False)
    >>> occurs("앱", "앱을 연다"), occurs("앱", "앱스토어를 연다")
    (True, False)
    """
    text, stem = normalised(text), _nfkc(stem)
    if re.fullmatch("[가-힣]", stem):
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
        raise missing_extra("Kiwi", "kiwi", error) from error
    return Kiwi()


def kiwi_words(text: str) -> list[str]:
    """Return the content words that the analyser Kiwi finds in Korean: nouns, verbs, adjectives.

    It knows the forms of a verb as one ("만들었다", "만든다"), which `content_words` does not.
    """
    return list(dict.fromkeys(kiwi_terms(text)))


def kiwi_terms(text: str) -> list[str]:
    """Return what `kiwi_words` finds, as often as it stands."""
    tags = ("NNG", "NNP", "NR", "VV", "VA", "XR", "SL", "SN", "SH")
    tokens = _kiwi().tokenize(_nfkc(text))
    words = [token.form.lower() for token in tokens if token.tag.split("-")[0] in tags]
    stop_words = LANGUAGES["en"].stop_words
    return [word for word in words if len(word) > 1 and word not in stop_words]


# ---------------------------------------------------------------- sentences

_ABBREVIATIONS = frozenset().union(*(known.abbreviations for known in LANGUAGES.values()))
_NO_END = "".join(rf"(?<!\b{re.escape(known)})" for known in sorted(_ABBREVIATIONS))
_SENTENCE_END = re.compile(
    rf"(?<=[.!?]){_NO_END}"
    r"(?!(?<=\bNo\.)\s+\d)(?!(?<=\b[ap]\.m\.)\s+[^A-Z])\s+"  # No. 5; 3 p.m. in
    r"|(?<=[。！？])(?![」』）”’。！？])\s*"
)


def split_sentences(text: str) -> list[str]:
    """Split behind a full stop, an exclamation or a question mark, but not behind an abbreviation.

    >>> split_sentences("It rains. Does it? Ask Dr. Kim at 3 p.m. in Room No. 5.")
    ['It rains.', 'Does it?', 'Ask Dr. Kim at 3 p.m. in Room No. 5.']
    >>> split_sentences("3.5절을 본다. 끝이다."), split_sentences("雨です。本当？")
    (['3.5절을 본다.', '끝이다.'], ['雨です。', '本当？'])
    """
    return list(filter(None, _SENTENCE_END.split(_checked(text).strip())))


_THOUGHTS = re.compile(
    r"""(\s*<think>(.*</think>|.*))+   # to the last mark, which thoughts may quote; or cut off
      | (?:(?!<think>).)*\n</think>    # begun in the model's prompt, which some servers leave out
    """,
    re.DOTALL | re.VERBOSE,
)


def without_thoughts(text: str) -> str:
    """Return what a reasoning model says behind its thoughts; "" where it came to no answer.

    >>> without_thoughts("<think>Is it 3? Yes.</think> It costs 3 won.")
    'It costs 3 won.'
    >>> without_thoughts("Models think between <think> and </think>.")
    'Models think between <think> and </think>.'
    """
    thoughts = _THOUGHTS.match(_checked(text))
    return text[thoughts.end() :].strip() if thoughts else text


def looks_like_refusal(text: str) -> bool:
    """Say whether an answer says, in Korean or English, that the documents do not say.

    A screen, and no proof: it knows common wordings. Whether a question can be answered at all is
    what the dataset says, see `unanswerable`, and is never read off a text.

    >>> looks_like_refusal("The handbook does not say what parking costs.")
    True
    >>> looks_like_refusal("문서에 나와 있지 않습니다."), looks_like_refusal("환불 규정이 없다.")
    (True, False)
    """
    # A refusal is no longer than this, and its predicate ends it.
    sentences = split_sentences(without_thoughts(text))
    ends = [normalised(equal_text_key(sentence)[-500:]) for sentence in sentences]
    return any(known.refusal.search(end) for known in LANGUAGES.values() for end in ends)
