"""The names by which tools call their columns, in English and Korean: one table a kind of record.

A column is known by its name alone, never by what stands in it. The first name of a line that the
file has is taken; upper and lower case, blanks, ``_``, ``-`` and ``.`` make no difference.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from rageval_kit.messages import name_some, shown, wrong_type

_CONTENT = """
    content contents text body page_content passage_text passage document_text document context
    paragraph chunk 본문 내용 문서내용 텍스트 지문 문단
"""
_QUESTION = """
    question query user_input question_text query_text q 질문 질의 문의 질문내용 질의문 물음
    prompt input utterance 제목 text
"""
_GROUND_TRUTH = """
    ground_truth ground_truths generation_gt reference_answer gold_answer golden_answer
    expected_answer expected_output expected reference truth ideal_answer correct_answer answers
    answer 정답 모범답안 모범답변 답변 답 내용
"""
_GOLD_TEXTS = """
    reference_contexts reference_context gold_contexts gold_context gold_passages gold_passage
    gold_text positive_passages evidence evidences excerpts excerpt references contexts context
    passages passage paragraph 근거 근거문장 근거문단 지문 문맥 발췌
"""
DOCUMENTS = {
    "doc_id": """
        doc_id document_id id pid passage_id corpus_id chunk_id article_id 문서id 문서번호
        문서아이디 아이디 식별자 번호
    """,
    "title": "title doc_title document_title subject heading 제목 문서제목 문서명",
    "content": _CONTENT,
    "source_id": "source_id",
    "start": "start",
    "end": "end",
    "page": "page",
}
QUESTIONS = {
    "query_id": "query_id qid question_id topic_id id 질문id 질의id 질문번호 아이디 번호",
    "question": _QUESTION,
    "relevant": """
        relevant_doc_ids relevant_docs relevant_documents relevant gold_doc_ids gold_doc_id
        gold_docs gold_ids gold_id gold expected_doc_ids retrieval_gt doc_ids doc_id document_ids
        document_id docs corpus_id pid file_name file 정답문서 정답문서id 관련문서 관련문서id
        근거문서 근거문서id 문서id 문서번호 문서 출처 파일명 파일
    """,
    "relevant_passages": "relevant_passages",
    "texts": _GOLD_TEXTS,
    "relevance": "relevance grade rel relevance_score 관련도 적합도",
    "ground_truth": _GROUND_TRUTH,
}
PAIRS = {
    "query_id": QUESTIONS["query_id"],
    "question": f"{_QUESTION} anchor sentence1",
    "content": f"{_GOLD_TEXTS} {_CONTENT} positive sentence2",
    "relevance": f"{QUESTIONS['relevance']} is_selected is_relevant label score 라벨 점수",
    "ground_truth": _GROUND_TRUTH,
}
QRELS = {
    "query_id": "query_id query qid topic topic_id 질문id",
    "doc_id": "doc_id document_id corpus_id corpus docno pid 문서id",
    "relevance": f"{QUESTIONS['relevance']} label score",
}
RUN = {
    "query_id": QRELS["query_id"],
    "doc_id": QRELS["doc_id"],
    "score": "score",
    "name": "name",
}


def recognise(
    columns: Sequence[str], fields: Mapping[str, str], given: Mapping[str, str | None], where: str
) -> dict[str, str]:
    """Return the column of each field that has one.

    Args:
        columns: those of the file.
        fields: names by field, a table above.
        given: the columns that the user names; None where the names above decide.
        where: what an error calls the file.

    >>> recognise(["번호", "질문", "답변"], QUESTIONS, {}, "qa.csv")
    {'query_id': '번호', 'question': '질문', 'ground_truth': '답변'}

    Raises:
        KeyError: a column that the user names is not there.
        TypeError: its name is not a text.
        ValueError: two columns have a name of the same field, but for case and blanks.
    """
    found = {field: column for field, column in given.items() if column is not None}
    for field, column in found.items():
        if not isinstance(column, str):
            raise wrong_type(field, "the name of a column", column)
        if column not in columns:
            raise KeyError(f"{where} has no column {shown(column)} (found {named(columns)}).")

    by_key: dict[str, list[str]] = {}
    for column in columns:
        if column not in found.values():
            by_key.setdefault(_key(column), []).append(column)

    # In the order of the table, each column once.
    for field, names in fields.items():
        key = next((key for name in names.split() if (key := _key(name)) in by_key), None)
        if field in found or key is None:
            continue
        if len(by_key[key]) > 1:
            raise ValueError(
                f"{where}: which column holds the {field}, {' or '.join(by_key[key])}? "
                f"Say it: {field}={by_key[key][0]!r}."
            )
        found[field] = by_key.pop(key)[0]
    return {field: found[field] for field in (*fields, *given) if field in found}


def is_known(column: str) -> bool:
    """Say whether a name means something, in documents, questions or pairs."""
    return _key(column) in _KNOWN


def named(columns: Sequence[str]) -> str:
    """Name columns in a message.

    >>> named(["질문", "답변"])
    '"질문", "답변"'
    """
    return name_some([f'"{column}"' for column in columns]) or "none"


def _key(column: str) -> str:
    written = unicodedata.normalize("NFKC", column).casefold()
    return re.sub(r"[\s_.\-]+", "", written)


_KNOWN = {
    _key(name)
    for fields in (DOCUMENTS, QUESTIONS, PAIRS)
    for names in fields.values()
    for name in names.split()
}
