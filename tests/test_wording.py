"""What the kit says, in English and Korean: one table, whole on both sides, and nothing left out."""

import ast
import json
import re
import unicodedata
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

import rageval_kit
from rageval_kit import (
    build_vectorstore,
    caption,
    check_results,
    check_scores,
    compare,
    diagnose,
    evaluate,
    experiment,
    explain,
    explore,
    faithfulness,
    find_duplicates,
    generate_answers,
    judge_answers,
    judge_relevance,
    judging_form,
    load_documents,
    load_embeddings,
    load_questions,
    plot_comparison,
    pool_results,
    prompts,
    search_all,
    set_language,
    suggest_questions,
    to_markdown,
    validate_dataset,
)
from rageval_kit.formulas import METRICS
from rageval_kit.korean import KOREAN, KOREAN_COUNTS
from rageval_kit.prompts import KOREAN_PROMPTS
from rageval_kit.rankings import Results
from rageval_kit.wording import current_language, in_english, is_said, say, say_count, say_some

PACKAGE = Path(rageval_kit.__file__).parent
HANGUL = re.compile("[가-힣]")
PLACEHOLDER = re.compile(r"\{\w+(?::[^}]*)?\}")
BOTH = KOREAN | KOREAN_PROMPTS

# Three words of Latin letters in a row are a sentence that was forgotten; none of these is.
ENGLISH = re.compile(r"(?:\b[a-z']{2,}[,:;]? ){2,}[a-z']{2,}\b", re.IGNORECASE)
IN_BOTH = (" and ", "{metrics} at {cutoffs}")  # a comma in Korean


@pytest.fixture
def in_language():
    """A function that chooses a language; after the test it is the one before."""
    before = current_language()
    yield set_language
    set_language(before)


@pytest.fixture
def korean(in_language):
    in_language("ko")


# ---------------------------------------------------------------- the table


def given_to(*functions):
    """What the package gives to these functions as a text: of a choice, ``a if ... else b``, both.

    It stands first, or of a count behind the number.
    """
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", None) in functions:
                text = call.args[1 if call.func.id == "say_count" else 0]
                yield from [text.body, text.orelse] if isinstance(text, ast.IfExp) else [text]


def literals(*functions):
    return {text.value for text in given_to(*functions) if isinstance(text, ast.Constant)}


def test_a_text_is_a_literal_or_the_name_of_one():
    kinds = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript)
    odd = [text for text in given_to("say", "label", "say_count") if not isinstance(text, kinds)]
    assert [ast.unparse(text) for text in odd] == []
    assert all(isinstance(text, ast.Constant) for text in given_to("to_say"))


def test_every_text_of_the_code_is_in_the_table_and_no_other():
    said = literals("say", "to_say", "label")
    assert said - set(KOREAN) == set()
    assert set(KOREAN) - said == set()


def test_every_prompt_is_there_in_korean_and_no_other():
    asked = {prompts.NO_ANSWER, *prompts.KINDS.values()}
    asked |= {getattr(prompts, name) for name in vars(prompts) if name.endswith("_PROMPT")}
    assert set(KOREAN_PROMPTS) == asked


def test_no_text_stands_twice_in_the_table():
    tree = ast.parse((PACKAGE / "korean.py").read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    assert [len(table.keys) for table in tables] == [len(KOREAN_COUNTS), len(KOREAN)]


def test_every_noun_that_is_counted_is_in_the_table_and_no_other():
    assert literals("say_count") == set(KOREAN_COUNTS)


@pytest.mark.parametrize("text", BOTH)
def test_a_text_has_the_same_places_for_values_in_both_languages(text):
    assert sorted(set(PLACEHOLDER.findall(text))) == sorted(set(PLACEHOLDER.findall(BOTH[text])))


@pytest.mark.parametrize("text", [text for text in BOTH if text not in IN_BOTH])
def test_what_is_korean_has_hangul(text):
    assert HANGUL.search(BOTH[text])


@pytest.mark.parametrize("text", KOREAN)
def test_no_particle_hangs_on_the_last_sound_of_a_value(text):
    assert not re.search(r"\}(이|가|은|는|을|를|와|과|으로|로|이나|나)(?![가-힣])", KOREAN[text])


# ---------------------------------------------------------------- to choose a language


@pytest.mark.parametrize("language", ["kr", "KO", "", None, ["ko"], {"ko": 1}, 5])
def test_what_is_no_language_is_refused(language):
    with pytest.raises(ValueError, match='language must be "en" or "ko", found'):
        set_language(language)
    assert current_language() == "en"


def test_english_is_what_nobody_chose():
    assert current_language() == "en"
    assert say("better") == "better"


def test_a_block_in_english_ends_where_it_began(korean):
    with pytest.raises(ZeroDivisionError), in_english():
        assert say("better") == "better"
        raise ZeroDivisionError
    assert say("better") == "더 낫다"


def test_a_text_is_known_in_any_language():
    assert is_said("better", "better")
    assert is_said("더 낫다", "better")
    assert not is_said("더 못하다", "better")


def test_many_are_named_in_the_language(korean):
    assert say_some([*"abcdefg"]) == "a, b, c, d, e 외 2개"
    assert say_count(1, "query") == "질의 1개"


# ---------------------------------------------------------------- what a reader reads

# A corpus and questions with many a mistake.
ODD_DOCS = [
    {"doc_id": "doc_001", "title": "", "content": "제목이 없는 글"},
    {"doc_id": "doc_002", "title": "요금", "content": "주차 요금은 3만 원"},
    {"doc_id": "doc_003", "title": "요금", "content": "주차 요금은 3만 원"},
    {"doc_id": "DOC_003", "title": "요금", "content": "반쪽 \ud83d"},
    {"doc_id": "doc_004", "title": "벨 \x07", "content": ""},
    {"doc_id": "doc_004", "title": "겹침", "content": unicodedata.normalize("NFD", "요금")},
    {"doc_id": 5, "title": "수"},
]
ODD_QA = [
    {"query_id": "q1", "question": "요금", "relevant_doc_ids": ["doc_00", "doc_001 "]},
    {"query_id": "q2", "question": "요금", "relevant_doc_ids": []},
    {"query_id": "q3", "question": "벨 \x1b", "relevant_doc_ids": "doc_001, doc_002"},
    {"query_id": "q4", "question": "", "relevant_doc_ids": {"doc_001": "x"}},
    {"query_id": "q5", "question": "왜?", "relevant_doc_ids": [["doc_001"]]},
    {"query_id": "q5", "question": "왜?", "relevant_doc_ids": ["doc_004", "doc_004", 5]},
    {"question": "누구?", "relevant_doc_ids": "['doc_001']"},
    {"query_id": None, "question": "누구?"},
    {
        "query_id": "q6",
        "question": "어디?",
        "relevant_passages": [
            {"doc_id": "doc_001", "text": "없는 글"},
            {"doc_id": "doc_002", "text": ""},
            {"doc_id": "doc_009", "text": "글"},
            {"doc_id": "doc_002", "start": 3, "end": 1},
            {"doc_id": "doc_002", "start": 0, "end": 900},
            {"doc_id": "doc_002", "start": 0, "end": 2, "text": "요금"},
            {"doc_id": "doc_003", "text": " "},
            "글",
        ],
    },
    {"query_id": "q7", "question": "언제?", "relevant_passages": 5},
]

QA = [{"query_id": f"q{i}", "relevant_doc_ids": ["A", "C"][: 1 + i % 2]} for i in range(40)]
RIGHT = {f"q{i}": [{"doc_id": "A", "score": 0.9}, {"doc_id": "B", "score": 0.5}] for i in range(40)}
LATE = {f"q{i}": [{"doc_id": "B", "score": 0.9}, {"doc_id": "A", "score": 0.5}] for i in range(40)}
ONE_LATE = {**RIGHT, "q1": LATE["q1"]}
ONE_QA = [
    {"query_id": "q1", "question": "얼마?", "ground_truth": "3만 원", "relevant_doc_ids": ["A"]}
]
DOCS = [{"doc_id": name, "title": name, "content": f"글 {name}"} for name in "ABC"]


def looked_over(results, docs=None, all_qa=QA):
    return str(check_results(all_qa, results, docs))


def with_scores(*scores, docs="AB"):
    hits = [{"doc_id": doc, "score": score} for doc, score in zip(docs, scores, strict=True)]
    return {**RIGHT, "q1": hits}


def diagnosed(*args, **options):
    table = diagnose(*args, **options)
    return "\n".join(" | ".join(map(str, row)) for row in table.to_numpy())


def broken(all_qa):
    raise ValueError("고장")


def an_experiment():
    return experiment({"old": LATE, "new": RIGHT, "broken": broken}, QA, k=2)


def found_again(changed):
    return repr(Results(RIGHT, 2, "squared L2 distance", True, searched=3, changed=changed))


FIRST_20 = {f"q{i}": [{"doc_id": f"D{n}"} for n in range(20)] for i in range(40)}
SCORES = pd.DataFrame({1: [0.62, 0.7, 0.1], 3: [1.2, 0.55, 0.1]}, index=["HitRate", "MRR", "x"])

READ = {
    "a dataset": lambda: str(validate_dataset(ODD_DOCS, ODD_QA)),
    "an empty dataset": lambda: str(validate_dataset([], [])),
    "a dataset without a field": lambda: str(
        validate_dataset([{"doc_id": "A"}, {"doc_id": "B"}], [{"query_id": "q1"}])
    ),
    "results": lambda: looked_over(RIGHT, DOCS),
    "results of few queries": lambda: looked_over({"q1": RIGHT["q1"], "q99": LATE["q1"]}, DOCS),
    "results of no query": lambda: looked_over({"q1": []}),
    "a mixed order": lambda: looked_over({"q1": [("A", 0.1), ("B", 0.9), ("C", 0.5)]}, DOCS),
    "two orders": lambda: looked_over(with_scores(0.1, 0.9)),
    "distances that fall": lambda: looked_over(Results(RIGHT, lower_is_better=True)),
    "similarities that rise": lambda: looked_over(
        Results(with_scores(0.1, 0.9), lower_is_better=False)
    ),
    "ties": lambda: looked_over({f"q{i}": [("A", 0.5), (f"B{i}", 0.5)] for i in range(40)}),
    "a document twice": lambda: looked_over(with_scores(0.9, 0.5, docs="AA")),
    "chunks": lambda: looked_over({q: [("A#1", 0.9), ("A#2", 0.5)] for q in RIGHT}, DOCS),
    "strangers": lambda: looked_over({q: [("가", 0.9), ("나", 0.5)] for q in RIGHT}),
    "another question": lambda: looked_over(
        Results({"q1": RIGHT["q1"]}, questions={"q1": "왜?"}, folded={"C": "A"}),
        all_qa=[{"query_id": "q1", "question": "누구?", "relevant_doc_ids": ["A", "C"]}],
    ),
    "grades": lambda: looked_over(
        LATE, all_qa=[{"query_id": q, "relevant_doc_ids": {"A": 1, "C": 0}} for q in ("q1", "q2")]
    ),
    "scores": lambda: str(check_scores(SCORES)),
    "macro": lambda: caption(evaluate(QA, RIGHT)),
    "pooled": lambda: caption(evaluate(QA, RIGHT, metrics=["Recall"], average="pooled")),
    "choices": lambda: caption(
        evaluate(QA, RIGHT, no_relevant="zero", duplicates="unique", gain="exponential")
    ),
    "a caption of a comparison": lambda: caption(
        compare({"old": LATE, "new": RIGHT}, QA, k=2, metrics=["RR"], duplicates="position")
    ),
    "verdicts": lambda: "\n".join(
        compare({"old": RIGHT, "new": ONE_LATE, "worst": LATE, "same": RIGHT}, QA, k=2)["verdict"]
    ),
    "a diagnosis": lambda: diagnosed(QA, FIRST_20),
    "a diagnosis of few hits": lambda: diagnosed(QA, RIGHT),
    "an experiment": lambda: repr(an_experiment()),
    "a grid": lambda: repr(rageval_kit.grid(size=[1, 2], model=["a", "b"])),
    "its report": lambda: to_markdown(an_experiment()),
    "a search": lambda: found_again(""),
    "a table of documents": lambda: load_documents([{"id": "1", "본문": "글", "쪽": "3"}]).note,
    "a table of questions": lambda: (
        load_questions([{"질문": "왜?", "정답": "글"}], relevant=[]).note
    ),
}


def as_read(make, language):
    set_language(language)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


def without_code(text):
    """A text without what is no language: code, quotes, names of columns."""
    text = re.sub(r"\w+\([^()]*(\([^()]*\))?[^()]*\)", "", text)
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", text)


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_korean_with_the_same_numbers(name, in_language):
    english, korean = as_read(READ[name], "en"), as_read(READ[name], "ko")
    assert HANGUL.search(korean)
    assert not ENGLISH.search(without_code(korean))
    assert sorted(re.findall(r"\d+", korean)) == sorted(re.findall(r"\d+", english))


@pytest.mark.parametrize("metric", METRICS)
def test_an_explanation_is_korean_with_the_same_numbers(metric, in_language):
    for query_id, results in (("q1", RIGHT), ("q1", {"q1": []})):
        lines = [
            as_read(lambda: explain(QA, results, query_id, metric, k=3).lines, language)  # noqa: B023
            for language in ("en", "ko")
        ]
        english, korean = map("\n".join, lines)
        assert HANGUL.search(korean)
        assert not ENGLISH.search(without_code(korean))
        assert sorted(re.findall(r"\d+", korean)) == sorted(re.findall(r"\d+", english))


def test_errors_and_warnings_stay_english(korean):
    with pytest.raises(ValueError, match="the grade must be a finite number, found 'x'"):
        evaluate([{"query_id": "q1", "relevant_doc_ids": {"A": "x"}}], RIGHT)
    with pytest.warns(UserWarning, match="all 40 queries have the same ranking"):
        evaluate(QA, RIGHT)
    with pytest.warns(UserWarning, match="the scores rise here and fall in other queries"):
        evaluate(QA, with_scores(0.1, 0.9))


def test_values_that_code_compares_stay_english(korean):
    report = check_results(QA, RIGHT, DOCS)
    assert set(report.to_frame()["severity"]) <= {"error", "warning"}
    assert rageval_kit.outcomes(QA, RIGHT).iloc[0] == "complete"


def test_a_band_of_faithfulness_is_korean(korean):
    assert faithfulness("요금은 3만 원입니다.", "요금은 3만 원이다.").band == "근거에 충실"
    assert faithfulness("", "글").band == "빈 답"


def test_what_changed_since_the_last_search_is_said_in_korean(korean, tmp_path):
    asked = [{"query_id": "q1", "question": "글 A"}]
    for docs in (DOCS, DOCS[:2]):
        store = build_vectorstore(docs, load_embeddings("chars"))
        results = search_all(store, asked, k=2, cache=tmp_path / "cache.sqlite")
    assert repr(results) == (
        "질의 1개의 검색 결과, k=2; 점수: L2 거리의 제곱, 낮을수록 좋음; "
        "새로 검색 1개, 캐시에서 0개; 지난 검색 이후 바뀐 문서: 삭제 1개(C)"
    )


def test_what_a_copy_differs_in_is_said_in_korean(korean):
    docs = [*DOCS, {**DOCS[0], "doc_id": "D"}]
    copies = find_duplicates(docs, build_vectorstore(docs, load_embeddings("chars")))
    assert copies.set_index("doc_id").loc["D", "differs"] == "없음"


def test_the_form_to_judge_in_is_korean(korean, tmp_path):
    pool = pool_results({"run": {"q1": ["B"]}}, ONE_QA, k=1)
    _, said, _, row, keys = judging_form(pool, DOCS, tmp_path / "judged.csv").children
    assert said.value == "1개 가운데 0개 판정함"
    assert row.children[0].description == "0: 질문과 관계없음"
    assert keys.placeholder == "여기를 누르고 0~3, u 키를 쓰십시오"


def test_the_form_to_explore_in_is_korean(korean):
    form = explore(an_experiment(), DOCS)
    assert [choice.description for choice in form.children[0].children] == [
        "첫째", "둘째", "k", "종류",
    ]  # fmt: skip
    assert form.children[1].value.startswith("질의 40개: 둘째가 놓침 0개, 둘째만 찾음 ")


def test_a_table_made_in_korean_is_drawn_in_english(in_language):
    in_language("ko")
    table = compare({"old": LATE, "new": RIGHT}, QA, k=2, metrics=["RR"])
    in_language("en")
    ax = plot_comparison(table, "MRR@2")
    said = [label.get_text() for label in ax.child_axes[1].get_yticklabels()]
    assert [text.partition("\n")[0] for text in said] == ["baseline", "better"]
    plt.close(ax.figure)


# ---------------------------------------------------------------- what a model reads and replies


class Recorded(FakeListChatModel):
    """A model that keeps what it was asked."""

    def _call(self, messages, *args, **options):
        ASKED.append(messages[0].content)
        return super()._call(messages, *args, **options)


ASKED = []


@pytest.fixture(autouse=True)
def nothing_asked():
    ASKED.clear()


def replying(**reply):
    return Recorded(responses=[json.dumps(reply, ensure_ascii=False)])


def test_a_judge_is_asked_in_korean(korean):
    judge_answers(replying(verdict="correct", reason="같다."), ONE_QA, {"q1": "3만 원"})
    assert "답변을 정답과 비교하십시오" in ASKED[0]
    assert "{" not in ASKED[0].replace('{"verdict"', "")


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(
    "reply",
    [
        {"verdict": "partly", "reason": "The unit is missing."},
        {"verdict": "partly", "reason": "단위가 없다."},
        {"판정": "부분 정답", "이유": "단위가 없다."},
    ],
)
def test_a_verdict_in_either_language_is_read_in_both(in_language, language, reply):
    in_language(language)
    judged = judge_answers(replying(**reply), ONE_QA, {"q1": "3만"})
    assert judged["verdict"].tolist() == ["partly"]
    assert judged["reason"].tolist() == [list(reply.values())[1]]


def test_a_prompt_of_the_users_own_is_asked_as_it_is(korean):
    mine = "Q {question} T {ground_truth} A {answer}"
    judge_answers(replying(verdict="wrong", reason="No."), ONE_QA, {"q1": "5"}, prompt=mine)
    assert ASKED == ["Q 얼마? T 3만 원 A 5"]


def test_answers_are_asked_for_in_korean(korean):
    hits = {"q1": [{"doc_id": "A", "content": "요금은 3만 원"}]}
    generate_answers(Recorded(responses=["3만 원"]), ONE_QA, hits)
    assert "문서만을 근거로 질문에 답하십시오" in ASKED[0]


def test_grades_are_asked_for_in_korean_and_read(korean):
    pool = pool_results({"run": {"q1": ["B"]}}, ONE_QA, k=1)
    judged = judge_relevance(pool, DOCS, replying(등급=2, 이유="일부만 답한다."))
    assert "2: 일부만 또는 분명하지 않게 답함" in ASKED[0]
    assert judged["grade"].tolist() == [2]


def test_questions_are_asked_for_in_korean_and_what_it_costs_is_said(korean, capsys):
    reply = replying(질문="무엇?", 답="글", 구절=["글 A"])
    (question,) = suggest_questions(DOCS[:1], reply, n=1, kinds=["keyword"])
    assert question["question"] == "무엇?"
    assert "검색창에 치듯이 핵심 낱말" in ASKED[0]
    suggest_questions(DOCS[:1], reply, n=1, kinds=["paraphrase"], dry_run=True)
    assert "아직 아무것도 묻지 않았습니다" in capsys.readouterr().out
