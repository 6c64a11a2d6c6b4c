"""The keyword-overlap screen: which words of an answer the sources hold, and the bands."""

import math

import pandas as pd
import pytest

from rageval_kit import faithfulness, faithfulness_frame
from rageval_kit.language import kiwi_words

SOURCE_KO = (
    "VACUUM은 삭제된 행이 차지하던 저장 공간을 회수하여 다시 쓰게 하는 명령입니다. "
    "기본적으로 테이블을 잠그지 않고 실행됩니다."
)
# The first sentence says it in other words, the second repeats the source.
GROUNDED_KO = (
    "VACUUM은 죽은 튜플의 저장 공간을 회수하는 작업입니다. "
    "기본적으로 테이블을 잠그지 않고 실행됩니다."
)
INVENTED_KO = (
    "VACUUM은 백업 파일을 압축하여 원격 서버로 전송하고, "
    "손상된 테이블과 인덱스를 복구하는 작업입니다."
)

SOURCE_EN = (
    "VACUUM reclaims the storage occupied by deleted rows, so that it can be used again. "
    "By default it runs without locking the table."
)
GROUNDED_EN = (
    "VACUUM reclaims the occupied storage of dead tuples. "
    "By default it runs without locking the table."
)
INVENTED_EN = (
    "VACUUM compresses backup files, sends them to a remote server "
    "and repairs damaged indexes of the table."
)


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


# ---------------------------------------------------------------- supported or not


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


@pytest.mark.parametrize(
    ("answer", "source"),
    [("정리하는", "공간을 정리하여"), ("기본", "기본적으로"), ("공간", "저장공간을 쓴다")],
)
def test_a_korean_word_is_supported_by_its_stem_anywhere(answer, source):
    assert faithfulness(answer, source).score == 1


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


@pytest.mark.parametrize(
    ("answer", "source", "unsupported"),
    [
        ("담당 부서는 병원입니다.", "담당 부서는 학사지원팀이다.", ["병원"]),
        ("답은 돈입니다.", "답은 책이다.", ["돈"]),
        ("앱에서 신청한다.", "홈페이지에서 신청한다.", ["앱"]),
        ("Die Gebühr ist größer.", "Die Gebühr ist hoch.", ["größer"]),
        ("図書館は二階", "図書館は三階", ["は二", "二階"]),
    ],
)
def test_an_invented_noun_is_unsupported(answer, source, unsupported):
    found = faithfulness(answer, source)
    assert found.unsupported == unsupported
    assert found.score < 1


def test_one_syllable_is_supported_by_the_same_noun_only():
    assert faithfulness("앱에서 연다", "앱을 연다").score == 1
    assert faithfulness("앱에서 연다", "앱스토어를 연다").unsupported == ["앱"]


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


@pytest.mark.parametrize("answer", ["The handbook does not say.", "편람에 나와 있지 않습니다."])
def test_a_refusal_has_no_score(answer):
    found = faithfulness(answer, SOURCE_KO)
    assert math.isnan(found.score)
    assert found.band == "refusal"


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
    with pytest.raises(KeyError, match="no query q9, which was answered"):
        faithfulness_frame({"q9": "백업"}, RESULTS)


def test_a_document_that_was_seen_and_is_not_in_the_results_is_named():
    answers = pd.DataFrame({"answer": ["백업"], "doc_ids": [["d1", "d7"]]}, index=["q1"])
    with pytest.raises(KeyError, match="q1: the answer saw d7, which results does not hold"):
        faithfulness_frame(answers, RESULTS)


def test_hits_without_content_are_named():
    with pytest.raises(KeyError, match="q1, rank 1: the hit d1 has no content"):
        faithfulness_frame({"q1": "백업"}, {"q1": [{"doc_id": "d1"}]})


@pytest.mark.parametrize("answer", [None, float("nan"), 3])
def test_an_answer_that_is_no_text_is_named(answer):
    with pytest.raises(TypeError, match=f"q1: the answer must be a text.*found .*{answer}"):
        faithfulness_frame({"q1": answer}, RESULTS)


def test_a_table_without_answers_says_what_it_found():
    with pytest.raises(KeyError, match="answers needs a column answer; found text, doc_ids"):
        faithfulness_frame(pd.DataFrame({"text": [], "doc_ids": []}), RESULTS)


def test_a_list_of_answers_is_refused():
    with pytest.raises(TypeError, match=r"answers must be .*\{query_id: text\}, found list"):
        faithfulness_frame(["백업"], RESULTS)


def test_a_query_that_is_answered_twice_is_named():
    answers = pd.DataFrame({"answer": ["행", "백업"]}, index=["q1", "q1"])
    with pytest.raises(ValueError, match="query_id appears twice: q1"):
        faithfulness_frame(answers, RESULTS)


def test_the_query_id_may_be_a_column():
    answers = pd.DataFrame({"query_id": ["q1"], "answer": ["백업"]})
    assert faithfulness_frame(answers, RESULTS).loc["q1", "faithfulness"] == 1


def test_doc_ids_that_a_file_made_a_text_are_refused():
    answers = pd.DataFrame({"answer": ["백업"], "doc_ids": ["['d1']"]}, index=["q1"])
    with pytest.raises(TypeError, match="q1: doc_ids must be a list"):
        faithfulness_frame(answers, RESULTS)


def test_results_may_be_a_table():
    results = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "rank": [1], "content": ["백업"]})
    assert faithfulness_frame({"q1": "백업을"}, results).loc["q1", "faithfulness"] == 1


@pytest.mark.parametrize(
    ("results", "fact"),
    [
        ({"q1": None}, "q1: a list of hits was wanted"),
        ({"q1": [None]}, "q1, rank 1: a hit must be a dict with a doc_id"),
        ({"q1": [{"content": "백업"}]}, "q1, rank 1: a hit must be a dict with a doc_id"),
        ([{"query_id": "q1"}], "Are two arguments swapped"),
        (None, "results must be"),
    ],
)
def test_broken_results_are_named(results, fact):
    with pytest.raises(TypeError, match=fact):
        faithfulness_frame({"q1": "백업"}, results)


def test_swapped_answers_and_results_are_called_swapped():
    with pytest.raises(TypeError, match="q1: a list of hits was wanted"):
        faithfulness_frame(RESULTS, {"q1": "백업"})


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((None, "text"), "answer"),
        (("text", None), "sources"),
        (("text", {"d1": "text"}), "sources"),
        (("text", [None]), "sources"),
        (("text", [hit("d1", "행을 지운다")]), "sources"),
        (("text", "text", None), "tokenizer"),
    ],
)
def test_faithfulness_of_something_else_is_refused(arguments, name):
    with pytest.raises(TypeError, match=f"{name} must be"):
        faithfulness(*arguments)


# ---------------------------------------------------------------- a language without a record

GERMAN = "Die Gebühr ist größer als der Betrag, den die Bibliothek für das Buch verlangt " * 5


def test_an_unknown_language_is_said():
    results = {"q1": [hit("d1", GERMAN)]}
    with pytest.warns(UserWarning, match="language without a record .* tokenizer"):
        table = faithfulness_frame({"q1": GERMAN}, results)
    assert table.loc["q1", "faithfulness"] == 1


@pytest.mark.filterwarnings("error")
def test_a_known_language_or_a_tokenizer_of_ones_own_is_not_warned_of():
    faithfulness_frame({"q1": GERMAN}, {"q1": [hit("d1", GERMAN)]}, tokenizer=str.split)
    faithfulness_frame({"q1": SOURCE_EN}, {"q1": [hit("d1", SOURCE_EN)]})
    faithfulness_frame({"q1": ""}, RESULTS)


# ---------------------------------------------------------------- a reasoning model


THINKING = "<think>Fees of 50,000 won? Not stated in the documents.</think>\n"


def test_what_a_model_thought_is_not_held_against_its_answer():
    sources = {"q1": [hit("d1", "The parking fee is 30,000 won.")]}
    table = faithfulness_frame({"q1": f"{THINKING}The fee is 30,000 won."}, sources)
    assert table.loc["q1", ["faithfulness", "unsupported"]].tolist() == [1, []]


def test_a_refusal_is_the_answers_and_not_the_thoughts():
    bands = [
        faithfulness(answer, "The parking fee is 30,000 won.").band
        for answer in (f"{THINKING}The fee is 30,000 won.", f"{THINKING}They do not say.", THINKING)
    ]
    assert bands == ["faithful", "refusal", "empty answer"]
