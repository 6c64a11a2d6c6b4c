"""The keyword-overlap screen: which words count, which of them the sources hold, and the bands."""

import math
import re
import unicodedata

import pandas as pd
import pytest

from rageval_kit import faithfulness, faithfulness_frame
from rageval_kit.language import content_words, is_refusal, kiwi_words, occurs, strip_ending

SOURCE_KO = (
    "VACUUM은 삭제된 행이 차지하던 저장 공간을 회수하여 다시 쓰게 하는 명령입니다. "
    "기본적으로 테이블을 잠그지 않고 실행됩니다."
)
# The first sentence says it in other words, the second repeats the source.
GROUNDED_KO = "VACUUM은 죽은 튜플의 저장 공간을 회수하는 작업입니다. 기본적으로 테이블을 잠그지 않고 실행됩니다."
INVENTED_KO = "VACUUM은 백업 파일을 압축하여 원격 서버로 전송하고, 손상된 테이블과 인덱스를 복구하는 작업입니다."

SOURCE_EN = (
    "VACUUM reclaims the storage occupied by deleted rows, so that it can be used again. "
    "By default it runs without locking the table."
)
GROUNDED_EN = "VACUUM reclaims the occupied storage of dead tuples. By default it runs without locking the table."
INVENTED_EN = "VACUUM compresses backup files, sends them to a remote server and repairs damaged indexes of the table."


def hit(doc_id, content, title=""):
    return {"doc_id": doc_id, "title": title, "content": content}


# ---------------------------------------------------------------- the two worked examples


@pytest.mark.parametrize(("answer", "source"), [(GROUNDED_KO, SOURCE_KO), (GROUNDED_EN, SOURCE_EN)])
def test_a_grounded_answer_has_8_of_10_words(answer, source):
    found = faithfulness(answer, source)
    assert (len(found.supported), len(found.unsupported)) == (8, 2)
    assert found.score == 0.8
    assert found.band == "partly from elsewhere"


@pytest.mark.parametrize(("answer", "source"), [(INVENTED_KO, SOURCE_KO), (INVENTED_EN, SOURCE_EN)])
def test_an_invented_answer_has_2_of_11_words(answer, source):
    found = faithfulness(answer, source)
    assert (len(found.supported), len(found.unsupported)) == (2, 9)
    assert found.score == pytest.approx(0.18, abs=0.005)
    assert found.band == "probably not grounded"


def test_words_of_the_grounded_answer_in_korean():
    found = faithfulness(GROUNDED_KO, SOURCE_KO)
    assert found.supported == ["vacuum", "저장", "공간", "회수", "기본", "테이블", "잠그지", "실행"]
    assert found.unsupported == ["죽은", "튜플"]


def test_words_of_the_grounded_answer_in_english():
    found = faithfulness(GROUNDED_EN, SOURCE_EN)
    assert found.supported == [
        "vacuum",
        "reclaim",
        "occup",
        "storag",
        "default",
        "run",
        "lock",
        "tabl",
    ]
    assert found.unsupported == ["dead", "tupl"]


def test_words_of_the_invented_answer_in_korean():
    found = faithfulness(INVENTED_KO, SOURCE_KO)
    assert found.supported == ["vacuum", "테이블"]
    assert found.unsupported == [
        "백업",
        "파일",
        "압축",
        "원격",
        "서버",
        "전송",
        "손상",
        "인덱스",
        "복구",
    ]


def test_words_of_the_invented_answer_in_english():
    found = faithfulness(INVENTED_EN, SOURCE_EN)
    assert found.supported == ["vacuum", "tabl"]
    assert found.unsupported == [
        "compress",
        "backup",
        "fil",
        "send",
        "remot",
        "server",
        "repair",
        "damag",
        "index",
    ]


# ---------------------------------------------------------------- content words


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("데이터베이스에서", "데이터베이스"),
        ("공간은", "공간"),
        ("공간을", "공간"),
        ("공간이", "공간"),
        ("공간의", "공간"),
        ("공간으로", "공간"),
        ("학생에게", "학생"),
        ("정리하고", "정리"),
        ("정리하는", "정리"),
        ("정리하여", "정리"),
        ("정리합니다", "정리"),
        ("정리됩니다", "정리"),
        ("정리되어", "정리"),
        ("정리하므로", "정리"),
        ("기본적으로", "기본"),
        ("목적으로", "목적"),
        ("과목이므로", "과목"),
        ("학교에서는", "학교"),
    ],
)
def test_a_particle_or_ending_is_removed(word, stem):
    assert strip_ending(word) == stem


@pytest.mark.parametrize("word", ["나는", "제도", "강의", "휴가"])
def test_two_syllables_stay(word):
    assert strip_ending(word) == word


@pytest.mark.parametrize("word", ["책으로", "받으며"])
def test_no_half_of_an_ending_is_removed(word):
    assert strip_ending(word) == word


def test_hangul_counts_from_two_syllables_on():
    assert content_words("두 행 공간") == ["공간"]


def test_other_words_count_from_three_letters_on():
    assert content_words("OT LMS 42 2026") == ["lms", "2026"]


def test_a_word_counts_once():
    assert content_words("공간은 공간을 공간에서 공간") == ["공간"]


@pytest.mark.parametrize(
    "text",
    [
        "그리고 이것은 또한 있다",
        "있습니다 있고 있으며 있으므로 있지만",
        "없습니다 없고 없으면 않는다 않으면 않고",
        "작업입니다 명령이다 것",
        "The and is of which they otherwise",
    ],
)
def test_stop_words_do_not_count(text):
    assert content_words(text) == []


@pytest.mark.parametrize("word", ["작업입니다", "작업이다", "작업이에요"])
def test_a_bare_predicate_does_not_count(word):
    assert content_words(f"정리 {word}") == ["정리"]


def test_to_abolish_is_not_a_form_of_there_is_not():
    assert content_words("제도를 없앤다") == ["제도", "없앤다"]


@pytest.mark.parametrize("unit", ["원", "원을", "원이므로", "원이다"])
def test_the_unit_of_a_number_is_no_word(unit):
    assert content_words(f"수수료 30,000{unit}") == ["수수료", "30000"]


def test_a_longer_word_behind_a_number_is_one():
    assert content_words("3학년은 2개월까지") == ["학년", "개월"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("removes", "removed"),
        ("deletes", "deleting"),
        ("copies", "copied"),
        ("queries", "query"),
        ("stopped", "stops"),
        ("submitted", "submit"),
        ("fees", "fee"),
    ],
)
def test_an_inflected_english_word_is_supported(one, other):
    assert faithfulness(one, f"it {other} so").score == 1
    assert faithfulness(one.upper(), f"it {other}.").score == 1


@pytest.mark.parametrize("word", ["plus", "campus", "less", "status"])
def test_an_s_that_is_no_plural_stays(word):
    assert content_words(word) == [word]


def test_words_are_compared_in_one_unicode_form():
    decomposed = unicodedata.normalize("NFD", "공간을 정리한다")
    assert content_words(decomposed) == ["공간", "정리"]
    assert faithfulness(decomposed, "공간 정리").score == 1
    assert is_refusal(unicodedata.normalize("NFD", "편람에 나와 있지 않다"))


# ---------------------------------------------------------------- supported or not


@pytest.mark.parametrize(
    ("answer", "source"),
    [("정리하는", "공간을 정리하여"), ("기본", "기본적으로"), ("공간", "저장공간을 쓴다")],
)
def test_a_korean_word_is_supported_by_its_stem_anywhere(answer, source):
    assert faithfulness(answer, source).score == 1


def test_an_english_word_is_supported_at_the_start_of_a_word_only():
    assert occurs("able", "ably able")
    assert not occurs("able", "table")


@pytest.mark.parametrize(
    ("number", "supported"), [("30,000", 1), ("30000", 1), ("3,000", 0), ("300", 0), ("50,000", 0)]
)
def test_a_number_is_supported_only_as_a_whole(number, supported):
    assert faithfulness(number + "원", "수수료는 30,000원이다.").score == supported


def test_the_score_is_supported_by_all_words():
    found = faithfulness("행을 지우고 백업을 만든다", "행을 지우고 다시 쓴다")
    assert found.supported == ["행을", "지우고"]
    assert found.unsupported == ["백업", "만든다"]
    assert found.score == 0.5


@pytest.mark.parametrize(
    "sources", [["공간을", "정리하여"], ("공간을 정리하여", ""), "공간을 정리하여"]
)
def test_sources_are_a_text_or_several(sources):
    assert faithfulness("공간을 정리하는", sources).score == 1


@pytest.mark.parametrize("sources", [[], "", [""]])
def test_without_sources_nothing_is_supported(sources):
    found = faithfulness("공간을 정리하는", sources)
    assert (found.score, found.supported, found.unsupported) == (0, [], ["공간", "정리"])


@pytest.mark.parametrize("text", [SOURCE_KO, SOURCE_EN, GROUNDED_KO, INVENTED_EN])
def test_a_text_stands_on_itself(text):
    assert faithfulness(text, text).score == 1


def test_a_paraphrase_is_not_recognised():
    found = faithfulness("서버가 crash 나도 안전하다", "서버가 비정상적으로 종료되어도 안전하다")
    assert found.unsupported == ["crash", "나도"]


def test_a_false_sentence_of_the_sources_words_passes():
    assert faithfulness("The table locks the rows by default.", SOURCE_EN).score == 1


# ---------------------------------------------------------------- the bands


@pytest.mark.parametrize(
    ("supported", "of", "band"),
    [
        (10, 10, "faithful"),
        (90, 100, "faithful"),
        (89, 100, "partly from elsewhere"),
        (1, 2, "partly from elsewhere"),
        (49, 100, "probably not grounded"),
        (0, 3, "probably not grounded"),
    ],
)
def test_band(supported, of, band):
    words = [f"word{number:03}" for number in range(of)]
    found = faithfulness(" ".join(words), " ".join(words[:supported]))
    assert found.score == supported / of
    assert found.band == band


# ---------------------------------------------------------------- no score


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_answer_has_no_score(answer):
    found = faithfulness(answer, SOURCE_KO)
    assert math.isnan(found.score)
    assert found[1:] == ("empty answer", [], [])


@pytest.mark.parametrize("answer", ["그리고 이것은 있다.", "It is what it is.", "?!", "네."])
def test_an_answer_without_content_words_has_no_score(answer):
    found = faithfulness(answer, SOURCE_KO)
    assert math.isnan(found.score)
    assert found[1:] == ("no content words", [], [])


REFUSALS = [
    "The handbook does not say what parking costs.",
    "The documents don't mention it.",
    "The documents don’t mention it.",
    "The fee is not specified.",
    "The answer is not in the documents.",
    "This is not given in the documents.",
    "The documents do not contain the answer.",
    "There is no information about parking.",
    "There is not enough information.",
    "I cannot find it.",
    "I don't know.",
    "I DO NOT KNOW",
    "편람에는 주차 요금에 관한 내용이 없다.",
    "편람에는 주차 요금이 나와 있지 않습니다.",
    "문서에서 찾을 수 없습니다.",
    "문서에 언급되지 않았다.",
    "주어진 문서만으로는 알 수 없다.",
    "관련 정보가 없으므로 답할 수 없습니다.",
    "잘 모르겠습니다.",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_has_no_score(answer):
    assert is_refusal(answer)
    found = faithfulness(answer, SOURCE_KO)
    assert math.isnan(found.score)
    assert found.band == "refusal"


@pytest.mark.parametrize(
    "answer",
    [
        "VACUUM does not lock the table.",
        "Places are not given in an extra semester.",
        "If you cannot find your card, call the office.",
        "If you don't know your number, ask.",
        "No information is lost.",
        "A request that does not state a reason is rejected.",
        "성분을 알 수 없는 물질은 먼저 분석한다.",
        "학생은 수업에 나오지 않아야 한다.",
        "추가 정보 없이 신청할 수 있다.",
        "길을 찾을 수 없으면 전화한다.",
        "수수료가 없다.",
    ],
)
def test_a_fact_is_no_refusal(answer):
    assert not is_refusal(answer)
    assert not math.isnan(faithfulness(answer, SOURCE_KO).score)


def test_a_refusal_still_tells_its_words():
    found = faithfulness("편람에는 백업에 관한 내용이 없다.", "백업은 날마다 만든다.")
    assert "백업" in found.supported
    assert "편람" in found.unsupported


# ---------------------------------------------------------------- another tokenizer


def test_a_tokenizer_can_be_passed():
    found = faithfulness(
        "Alpha beta gamma", "alpha beta", tokenizer=lambda text: text.lower().split()
    )
    assert found == (2 / 3, "partly from elsewhere", ["alpha", "beta"], ["gamma"])


def test_a_tokenizer_reads_the_sources_too():
    lemma = {"went": "go", "goes": "go"}
    found = faithfulness(
        "went", "goes", tokenizer=lambda text: [lemma[word] for word in text.split()]
    )
    assert found.supported == ["go"]


@pytest.fixture(scope="module")
def kiwi():
    pytest.importorskip("kiwipiepy")
    return kiwi_words


def test_kiwi_finds_nouns_and_verbs(kiwi):
    assert kiwi("학교에서는 저장 공간을 정리했습니다.") == ["학교", "저장", "공간", "정리"]


def test_kiwi_knows_inflected_verbs(kiwi):
    assert faithfulness("백업을 만들었다", "백업은 날마다 만든다", tokenizer=kiwi).score == 1
    assert faithfulness("백업을 만들었다", "백업은 날마다 만든다").score == 0.5


@pytest.mark.parametrize("text", [SOURCE_KO, GROUNDED_KO, INVENTED_KO])
def test_a_text_stands_on_itself_with_kiwi(kiwi, text):
    assert faithfulness(text, text, tokenizer=kiwi).score == 1


def test_kiwi_tells_the_worked_examples_apart(kiwi):
    assert (
        faithfulness(GROUNDED_KO, SOURCE_KO, kiwi).score
        > 0.7
        > 0.3
        > faithfulness(INVENTED_KO, SOURCE_KO, kiwi).score
    )


# ---------------------------------------------------------------- a row a query


RESULTS = {
    "q1": [hit("d1", "행을 지운다"), hit("d2", "백업을 만든다")],
    "q2": [hit("d1", "행을 지운다", title="공간 회수")],
    "q3": [],
}


def test_frame_has_a_row_a_query():
    table = faithfulness_frame({"q1": "행을 백업", "q2": "백업과 공간", "q3": ""}, RESULTS)
    assert table.index.tolist() == ["q1", "q2", "q3"]
    assert table.index.name == "query_id"
    assert table.columns.tolist() == ["faithfulness", "band", "supported", "unsupported"]
    assert table["faithfulness"].tolist()[:2] == [1.0, 0.5]
    assert table["band"].tolist() == ["faithful", "partly from elsewhere", "empty answer"]
    assert table.loc["q2", "supported"] == ["공간"]
    assert table.loc["q2", "unsupported"] == ["백업"]


def test_frame_of_a_dict_takes_all_hits_as_sources():
    assert faithfulness_frame({"q1": "백업"}, RESULTS).loc["q1", "faithfulness"] == 1


def test_frame_of_answers_takes_only_the_documents_that_were_seen():
    answers = pd.DataFrame(
        {"answer": ["백업", "백업"], "doc_ids": [["d1"], ["d1"]]}, index=["q1", "q2"]
    )
    assert faithfulness_frame(answers, RESULTS)["faithfulness"].tolist() == [0, 0]
    answers["doc_ids"] = [["d1", "d2"], ["d1"]]
    assert faithfulness_frame(answers, RESULTS)["faithfulness"].tolist() == [1, 0]


def test_frame_of_a_table_without_documents_takes_all_hits():
    answers = pd.DataFrame({"answer": ["백업"]}, index=["q1"])
    assert faithfulness_frame(answers, RESULTS).loc["q1", "faithfulness"] == 1


def test_frame_counts_titles_as_sources():
    assert faithfulness_frame({"q2": "공간"}, RESULTS).loc["q2", "faithfulness"] == 1


def test_frame_keeps_every_chunk_of_a_document():
    results = {"q1": [hit("d1", "행을 지운다"), hit("d1", "백업을 만든다")]}
    answers = pd.DataFrame({"answer": ["행을 백업"], "doc_ids": [["d1", "d1"]]}, index=["q1"])
    assert faithfulness_frame(answers, results).loc["q1", "faithfulness"] == 1


def test_frame_passes_the_tokenizer_on():
    table = faithfulness_frame({"q1": "행을 백업"}, RESULTS, tokenizer=str.split)
    assert table.loc["q1", "supported"] == ["행을", "백업"]


def test_frame_leaves_queries_without_an_answer_out():
    assert faithfulness_frame({"q2": "공간"}, RESULTS).index.tolist() == ["q2"]


def test_frame_of_no_answers_is_empty():
    assert faithfulness_frame({}, RESULTS).columns.tolist() == [
        "faithfulness",
        "band",
        "supported",
        "unsupported",
    ]


def test_an_answer_without_results_is_named():
    with pytest.raises(KeyError, match="results has no query 'q9', which was answered"):
        faithfulness_frame({"q9": "백업"}, RESULTS)


def test_a_document_that_was_seen_and_is_not_in_the_results_is_named():
    answers = pd.DataFrame({"answer": ["백업"], "doc_ids": [["d1", "d7"]]}, index=["q1"])
    with pytest.raises(KeyError, match="q1: the answer saw d7, which results does not hold"):
        faithfulness_frame(answers, RESULTS)


def test_hits_without_content_are_named():
    with pytest.raises(KeyError, match="q1: the hits have no content"):
        faithfulness_frame({"q1": "백업"}, {"q1": [{"doc_id": "d1"}]})


@pytest.mark.parametrize("answer", [None, float("nan"), 3])
def test_an_answer_that_is_no_text_is_named(answer):
    with pytest.raises(
        TypeError, match=re.escape(f"q1: the answer must be a text, found {answer!r}")
    ):
        faithfulness_frame({"q1": answer}, RESULTS)


def test_a_table_without_answers_says_what_it_found():
    with pytest.raises(KeyError, match="answers needs a column answer; found text, doc_ids"):
        faithfulness_frame(pd.DataFrame({"text": [], "doc_ids": []}), RESULTS)


def test_a_list_of_answers_is_refused():
    with pytest.raises(
        TypeError, match=r"answers must be a DataFrame or \{query_id: text}, found list"
    ):
        faithfulness_frame(["백업"], RESULTS)
