"""Files in every form that people bring: loaded to the expected dicts, or refused in a sentence."""

import gzip
import json
import os
import unicodedata
import zipfile

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from langchain_core.documents import Document

from rageval_kit import (
    build_vectorstore,
    evaluate,
    load_dataset,
    load_documents,
    load_embeddings,
    load_pairs,
    load_questions,
    match_passages,
    search_all,
    split_documents,
    validate_dataset,
)

HANDBOOK = ROOT / "data" / "handbook" / "ko"


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file, packed if its name says so, and returns its path."""

    def to_file(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content, ensure_ascii=False)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return to_file


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def doc(doc_id, title, content, **more):
    return {"doc_id": doc_id, "title": title, "content": content, **more}


def qa(query_id, question, relevant, truth=None):
    record = {"query_id": query_id, "question": question, "relevant_doc_ids": relevant}
    return record if truth is None else {**record, "ground_truth": truth}


# ---------------------------------------------------------------- documents, a form a line

REFUND = doc("001", "환불", "7일 안에 환불한다.")
FEE = doc("1e5", "Fee", "It costs 10,912 won.")
CSV = 'id,title,content\n001,환불,7일 안에 환불한다.\n1e5,Fee,"It costs 10,912 won."\n'
KOREAN = "문서번호,제목,본문\n001,환불,7일 안에 환불한다.\n"

DOCUMENTS = {
    "CSV": ("d.csv", CSV, {}, [REFUND, FEE]),
    "CSV, packed": ("d.csv.gz", CSV, {}, [REFUND, FEE]),
    "CSV with the names of Korean tools": ("d.csv", KOREAN, {}, [REFUND]),
    "CP949": ("d.csv", KOREAN.encode("cp949"), {}, [REFUND]),
    "CP949, named": ("d.csv", KOREAN.encode("cp949"), {"encoding": "cp949"}, [REFUND]),
    "UTF-8 with BOM": ("d.csv", KOREAN.encode("utf-8-sig"), {}, [REFUND]),
    "UTF-16 with tabs, as Excel saves Unicode text": (
        "d.csv", KOREAN.replace(",", "\t").encode("utf-16"), {}, [REFUND]
    ),
    "Windows line ends": ("d.csv", CSV.replace("\n", "\r\n"), {}, [REFUND, FEE]),
    "semicolons": ("d.csv", "id;content\n1;a, b\n", {}, [doc("1", "", "a, b")]),
    "Excel's line for the separator": (
        "d.csv", "sep=;\nid;content\n1;a, b\n", {}, [doc("1", "", "a, b")]
    ),
    "TSV": ("d.tsv", 'id\ttext\n1\ta "b" c\n', {}, [doc("1", "", 'a "b" c')]),
    "a quoted line break": (
        "d.csv", 'id,content\n1,"one\ntwo"\n', {}, [doc("1", "", "one\ntwo")]
    ),
    "a trailing column without a name": ("d.csv", "id,content,\n1,a,\n2,b\n", {}, [
        doc("1", "", "a"), doc("2", "", "b")
    ]),
    "the index that pandas writes": (
        "d.csv", ",id,content\n0,09081824,a\n", {}, [doc("09081824", "", "a")]
    ),
    "blank lines": ("d.csv", "id,content\n\n1,a\n,\n", {}, [doc("1", "", "a")]),
    "a document longer than csv allows": (
        "d.csv", f"id,content\n1,{'x' * 200_000}\n", {}, [doc("1", "", "x" * 200_000)]
    ),
    "no ids": ("d.csv", "content\na\nb\n", {}, [doc("d0", "", "a"), doc("d1", "", "b")]),
    "names that the user gives": (
        "d.csv", "code,words\nA-1,a\n", {"doc_id": "code", "content": "words"},
        [doc("A-1", "", "a")],
    ),
    "a name beats another": (
        "d.csv", "id,body,text\n1,a,b\n", {"content": "body"}, [doc("1", "", "a")]
    ),
    "JSON, a list of objects": ("d.json", [REFUND], {}, [REFUND]),
    "JSON, columns": (
        "d.json", {"id": ["1", "2"], "text": ["a", "b"]}, {},
        [doc("1", "", "a"), doc("2", "", "b")],
    ),
    "JSON, columns by row as pandas writes them": (
        "d.json", {"id": {"0": 7}, "text": {"0": "a"}}, {}, [doc("7", "", "a")]
    ),
    "JSON, texts by id": ("d.json", {"001": "a", "x": "b"}, {}, [
        doc("001", "", "a"), doc("x", "", "b")
    ]),
    "JSON, objects by id": (
        "d.json", {"A": {"title": "T", "text": "a"}}, {}, [doc("A", "T", "a")]
    ),
    "JSON, one record": ("d.json", {"title": "T", "content": "a"}, {}, [doc("d0", "T", "a")]),
    "numbers for ids, as they are written": (
        "d.json", '[{"id": 14717500, "text": "a"}, {"id": 1e5, "text": "b"}]', {},
        [doc("14717500", "", "a"), doc("1e5", "", "b")],
    ),
    "BEIR's corpus": (
        "corpus.jsonl", lines({"_id": "d1", "title": "T", "text": "a", "metadata": {}}), {},
        [doc("d1", "T", "a")],
    ),
    "LangChain's documents as JSON lines": (
        "d.jsonl", lines({"page_content": "a", "metadata": {"doc_id": "x", "title": "T"}}), {},
        [doc("x", "T", "a")],
    ),
    "AutoRAG's corpus": (
        "corpus.jsonl", lines({"doc_id": "c1", "contents": "a", "path": "p"}), {},
        [doc("c1", "", "a")],
    ),
    "chunks": (
        "c.jsonl", lines({"doc_id": "a#0", "content": "x", "source_id": "a", "start": 0, "end": 1}),
        {}, [doc("a#0", "", "x", source_id="a", start=0, end=1)],
    ),
    "Markdown with front matter": (
        "a.md", "---\ntitle: 'Beta'\ndate: 2024\n---\n# Real\n", {},
        [doc("a.md", "Beta", "---\ntitle: 'Beta'\ndate: 2024\n---\n# Real\n")],
    ),
    "Markdown with front matter without a title": (
        "a.md", "---\ndate: 2024\n---\n# Real\n", {},
        [doc("a.md", "Real", "---\ndate: 2024\n---\n# Real\n")],
    ),
    "Markdown": ("환불.md", "머리말\n\n# 환불 규정 #\n7일\n", {}, [
        doc("환불.md", "환불 규정", "머리말\n\n# 환불 규정 #\n7일\n")
    ]),
    "Markdown with an underlined heading": (
        "a.md", "Refunds\n=======\n7 days\n", {}, [doc("a.md", "Refunds", "Refunds\n=======\n7 days\n")]
    ),
    "Markdown with a comment in its code": (
        "a.md", "```\n# no heading\n```\n## Real\n", {},
        [doc("a.md", "Real", "```\n# no heading\n```\n## Real\n")],
    ),
    "text": ("안내.txt", "7일 안에".encode("cp949"), {}, [doc("안내.txt", "안내", "7일 안에")]),
    "HTML": (
        "a.html",
        "<html><head><title>Site</title><style>p {}</style></head><body><h1>Re<b>funds</b></h1>"
        "<p>7&nbsp;days &amp; no <i>more</i></p><script>x()</script><ul><li>a<li>b</ul></html>",
        {}, [doc("a.html", "Refunds", "Refunds\n\n7 days & no more\n\na\nb")],
    ),
    "HTML without a heading": (
        "a.htm", "<title>환불\n규정</title><p>7일", {}, [doc("a.htm", "환불 규정", "7일")]
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"), DOCUMENTS.values(), ids=DOCUMENTS
)
def test_documents_are_loaded(write, name, content, options, expected, capsys):
    docs = load_documents(write(name, content), **options)
    assert docs == expected
    assert [list(one) for one in docs] == [list(one) for one in expected]
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------- questions, a form a line

ASKED = '질문,정답,근거문서\n며칠 안에?,7일,001\n얼마?,"10,912원",1e5\n'
TWO = [qa("q0", "며칠 안에?", ["001"], "7일"), qa("q1", "얼마?", ["1e5"], "10,912원")]
WHY = {"question": "Why?", "answer": "So."}
SQUAD = {
    "version": "KorQuAD_v1.0",
    "data": [{"title": "환불", "paragraphs": [{"context": "7일 안에 환불한다.", "qas": [
        {"id": "a-0", "question": "며칠?", "answers": [{"text": "7일", "answer_start": 0}]},
        {"id": "a-1", "question": "누가?", "answers": [], "is_impossible": True},
    ]}]}],
}  # fmt: skip
LLAMA = {
    "queries": {"u1": "Why?"}, "corpus": {"n1": "Because.", "n2": "No."},
    "relevant_docs": {"u1": ["n1"]}, "mode": "text",
}  # fmt: skip


def listed(cell):
    """Return a CSV with one question and this cell for its documents."""
    return 'question,doc_ids\nWhy?,"' + cell.replace('"', '""') + '"\n'


QUESTIONS = {
    "CSV with Korean names": ("q.csv", ASKED, {}, TWO),
    "CP949": ("q.csv", ASKED.encode("cp949"), {}, TWO),
    "names of other tools": (
        "q.csv", "Query ID,User Input,Expected Answer,Gold-ID\n7,Why?,So.,d1\n", {},
        [qa("7", "Why?", ["d1"], "So.")],
    ),
    "제목 and 내용 of a board": (
        "q.csv", "번호,제목,내용,파일\n01,환불?,7일,a.md\n", {}, [qa("01", "환불?", ["a.md"], "7일")]
    ),
    "names that the user gives": (
        "q.csv", "nr,ask,say,where\n1,Why?,So.,d1\n",
        {"query_id": "nr", "question": "ask", "ground_truth": "say", "relevant": "where"},
        [qa("1", "Why?", ["d1"], "So.")],
    ),
    "the kit's own": (
        "q.jsonl", lines(qa("q01", "Why?", {"d1": 2, "d2": 0}, "So.")), {},
        [qa("q01", "Why?", {"d1": 2, "d2": 0}, "So.")],
    ),
    "several rows a query": (
        "q.csv", "qid,question,doc_id\n1,Why?,d1\n1,Why?,d2\n2,Who?,d1\n", {},
        [qa("1", "Why?", ["d1", "d2"]), qa("2", "Who?", ["d1"])],
    ),
    "several rows a question without ids": (
        "q.csv", "question,answer,doc_id\nWhy?,So.,d1\nWhy?,So.,d2\nWho?,,d1\n", {},
        [qa("q0", "Why?", ["d1", "d2"], "So."), qa("q1", "Who?", ["d1"])],
    ),
    "rows with grades": (
        "q.csv", "qid,question,doc_id,relevance\n1,Why?,d1,2\n1,Why?,d2,0\n1,Why?,d3,0.5\n", {},
        [qa("1", "Why?", {"d1": 2, "d2": 0, "d3": 0.5})],
    ),
    "a list as JSON": ("q.csv", listed('["d1", "d2"]'), {}, [qa("q0", "Why?", ["d1", "d2"])]),
    "a list as Python": ("q.csv", listed("['d1', 'd2']"), {}, [qa("q0", "Why?", ["d1", "d2"])]),
    "a list as numpy": ("q.csv", listed("['d1' 'd2'\n 'd3']"), {}, [
        qa("q0", "Why?", ["d1", "d2", "d3"])
    ]),
    "a list without quotes": ("q.csv", listed("[001, 002]"), {}, [qa("q0", "Why?", ["001", "002"])]),
    "a list parted by ;": ("q.csv", listed("001; 1e5"), {}, [qa("q0", "Why?", ["001", "1e5"])]),
    "a dict as Python": ("q.csv", listed("{'d1': 2, 'd2': 0}"), {}, [
        qa("q0", "Why?", {"d1": 2, "d2": 0})
    ]),
    "an id with the comma of thousands": ("q.csv", listed("10,912"), {}, [
        qa("q0", "Why?", ["10,912"])
    ]),
    "ids parted by a comma, as the documents tell": (
        "q.csv", listed("d1, d2"), {"docs": [doc("d1", "", "a"), doc("d2", "", "b")]},
        [qa("q0", "Why?", ["d1", "d2"])],
    ),
    "an id with a comma, as the documents tell": (
        "q.csv", listed("d1, d2"), {"docs": [doc("d1, d2", "", "a")]},
        [qa("q0", "Why?", ["d1, d2"])],
    ),
    "a file's name in another Unicode form": (
        "q.csv", listed(unicodedata.normalize("NFD", "환불.md")), {"docs": [doc("환불.md", "", "a")]},
        [qa("q0", "Why?", ["환불.md"])],
    ),
    "one without a relevant document": (
        "q.csv", "question,doc_id\nWhy?,d1\nWho?,\n", {}, [qa("q0", "Why?", ["d1"]), qa("q1", "Who?", [])]
    ),
    "none on purpose": ("q.json", [WHY], {"relevant": []}, [qa("q0", "Why?", [], "So.")]),
    "a function of the row": (
        "q.json", [{**WHY, "page": 3}], {"relevant": lambda row: [f"p{row['page']}"]},
        [qa("q0", "Why?", ["p3"], "So.")],
    ),
    "BEIR's queries": (
        "q.jsonl", lines({"_id": "7", "text": "Why?"}), {"relevant": []}, [qa("7", "Why?", [])]
    ),
    "AutoRAG's": (
        "qa.jsonl",
        lines({"qid": "a", "query": "Why?", "retrieval_gt": [["d1"], ["d2"]], "generation_gt": ["So."]}),
        {}, [qa("a", "Why?", ["d1", "d2"], "So.")],
    ),
    "AutoRAG's as CSV": (
        "qa.csv", "qid,query,retrieval_gt\na,Why?,\"[array(['d1'], dtype=object)]\"\n", {},
        [qa("a", "Why?", ["d1"])],
    ),
    "LlamaIndex's": ("q.json", LLAMA, {}, [qa("u1", "Why?", ["n1"])]),
    "SQuAD's and KorQuAD's": (
        "q.json", SQUAD, {}, [qa("a-0", "며칠?", ["p0"], "7일"), qa("a-1", "누가?", [])]
    ),
    "Azure's": (
        "q.jsonl",
        lines({"question": "Why?", "truth": "So [a b.pdf#page=2]. And so [c.md][d.md]."}), {},
        [qa("q0", "Why?", ["a b.pdf#page=2", "c.md", "d.md"], "So. And so.")],
    ),
    "Azure's, for whole files": (
        "q.jsonl", lines({"question": "Why?", "truth": "So [a.pdf#page=2]."}),
        {"docs": [doc("a.pdf", "", "x")]}, [qa("q0", "Why?", ["a.pdf"], "So.")],
    ),
    "promptfoo's": (
        "q.json",
        {"prompts": [], "tests": [{"vars": {"query": "Why?", "file": "a.md"},
                                   "assert": [{"type": "contains", "value": "So."}]}]},
        {}, [qa("q0", "Why?", ["a.md"], "So.")],
    ),
    "promptfoo's as CSV": (
        "q.csv", "query,file,__expected\nWhy?,a.md,contains: So.\n", {},
        [qa("q0", "Why?", ["a.md"], "So.")],
    ),
    "LangSmith's": (
        "q.jsonl",
        lines({"inputs": {"question": "Why?"}, "outputs": {"answer": "So."}, "metadata": {"doc_id": "d1"}}),
        {}, [qa("q0", "Why?", ["d1"], "So.")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"), QUESTIONS.values(), ids=QUESTIONS
)
def test_questions_are_loaded(write, name, content, options, expected, capsys):
    all_qa = load_questions(write(name, content), **options)
    assert all_qa == expected
    assert [list(one) for one in all_qa] == [list(one) for one in expected]
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------- refused, with what and the cure

REFUSED_DOCUMENTS = {
    "no column of texts": ("d.csv", "id,words\n1,a\n", {}, ('"id", "words"', "content=")),
    "no such column": ("d.csv", CSV, {"content": "body"}, ("no column 'body'", '"content"')),
    "a column twice": ("d.csv", "id,id,text\n1,1,a\n", {}, ("'id' appears twice",)),
    "two columns of one name": ("d.csv", "ID,id,text\n1,1,a\n", {}, ("ID or id", "doc_id='ID'")),
    "only a header": ("d.csv", "id,text\n", {}, ("holds no row",)),
    "an empty id": ("d.csv", "id,text\n1,a\n ,b\n", {}, ("row 2", "doc_id", "empty")),
    "cut within a quote": ("d.csv", 'id,text\n1,"a\nb', {}, ("line 3", "cut short")),
    "cut within a row": ("d.csv", "id,title,text\n1,T,a\n2,", {}, ("line 3", "found 2", "cut short")),
    "an unquoted comma": ("d.csv", "id,text\n1,a, b\n", {}, ("line 2", "found 3", "Quote")),
    "cut JSON": ("d.json", '[{"id": "1", "text": "a', {}, ("not JSON", "cut short")),
    "cut JSON lines": ("d.jsonl", '{"id": 1, "text": "a"}\n{"id":', {}, ("line 2", "cut short")),
    "a line that is no object": ("d.jsonl", "[1]\n", {}, ("entry 1", "must be a dict")),
    "unknown keys": (
        "d.json", {"data": [1], "meta": {}}, {}, ('"data", "meta"', "json.load(file)[key]")
    ),
    "a number": ("d.json", "7", {}, ("a list or an object", "'7'")),
    "a text in place of a dict in SQuAD's": (
        "d.json", {"version": 1, "data": ["x"]}, {}, ('"data", "version"',)
    ),
    "an empty file": ("d.csv", "", {}, ("is empty",)),
    "an empty text": ("a.md", " \n", {}, ("holds no text",)),
    "a Git LFS pointer": (
        "d.csv", "version https://git-lfs.github.com/spec/v1\n", {}, ("Git LFS pointer", "git lfs pull")
    ),
    "a Git LFS pointer to Parquet": (
        "d.parquet", "version https://git-lfs.github.com/spec/v1\n", {}, ("git lfs pull",)
    ),
    "an HTML error page": (
        "d.csv", "<!DOCTYPE html><html><title>404 Not Found</title>", {}, ("HTML page", "404 Not Found")
    ),
    "a zip": ("d.zip", b"PK\x03\x04", {}, (".zip", "unpack it")),
    "a zip that is called CSV": ("d.csv", b"PK\x03\x04xx", {}, ("zip", ".xlsx")),
    "an old workbook": ("d.xls", b"\xd0\xcf\x11\xe0", {}, (".xls ", "save it as .xlsx")),
    "a workbook with a password": (
        "d.xlsx", b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), {}, ("password",)
    ),
    "a pickle": ("d.pkl", b"\x80\x04.", {}, ("pickle", "never opened")),
    "a pickle that is called JSON": ("d.json", b"\x80\x04.", {}, ("pickle", "never opened")),
    "an SQLite file": ("d.csv", b"SQLite format 3\0", {}, ("SQLite",)),
    "no ending": ("corpus", "id,text\n", {}, ("no ending", ".csv")),
    "another encoding": ("d.csv", "id,text\n1,caf\xe9 \n".encode("cp1252"), {}, ("UTF-8 nor CP949", "byte 13", "encoding=")),
    "an unknown encoding": ("d.csv", CSV, {"encoding": "utf-88"}, ("'utf-88'", "cp949")),
    "bytes that are no text": ("a.txt", b"\0\1\2", {}, ("NUL", "encoding=")),
}  # fmt: skip
REFUSED_QUESTIONS = {
    "no relevant documents": (
        "q.csv", "질문,답변\nA?,a\n", {},
        ('question <- "질문", ground_truth <- "답변"', "no relevant documents", "relevant=[]", "answer_accuracy"),
    ),
    "a column of relevant documents that is empty": (
        "q.csv", "question,doc_id\nWhy?,\n", {}, ("no relevant documents",)
    ),
    "no column of questions": ("q.csv", "qid,doc_id\n1,d1\n", {}, ('"qid", "doc_id"', "load_qrels")),
    "an empty question": ("q.csv", "question,doc_id\nWhy?,d1\n ,d2\n", {}, ("row 2", "empty")),
    "two questions of one id": (
        "q.csv", "qid,question,doc_id\n1,Why?,d1\n1,Who?,d2\n", {}, ("row 2", "'Why?'", "'Who?'")
    ),
    "two answers of one question": (
        "q.csv", "question,answer,doc_id\nWhy?,a,d1\nWhy?,b,d2\n", {}, ("row 2", "'a'", "'b'", "query_id")
    ),
    "a document judged twice": (
        "q.csv", "qid,question,doc_id,relevance\n1,Why?,d1,1\n1,Why?,d1,0\n", {},
        ("1 -> d1", "both 1 and 0"),
    ),
    "a grade that is no number": (
        "q.csv", "question,doc_id,relevance\nWhy?,d1,high\n", {}, ("row 1", "'high'", "number")
    ),
    "a list that was cut when it was printed": (
        "q.csv", listed("['d1' 'd2' ... 'd9']"), {}, ("row 1", "...", "printed")
    ),
    "alternatives": (
        "q.jsonl", lines({"query": "Why?", "retrieval_gt": [["d1", "d2"]]}), {}, ("alternatives", "d1")
    ),
    "one id or two": ("q.csv", listed("d1, d2"), {}, ("'d1, d2'", "one id or 2", "docs")),
    "texts without documents": (
        "q.jsonl", lines({"user_input": "Why?", "reference_contexts": ["a"]}), {}, ("docs", "load_pairs")
    ),
    "a file, where the documents are its chunks": (
        "q.csv", listed("a.md"), {"docs": [doc("a.md#0", "", "x", source_id="a.md")]},
        ("'a.md'", "search_folded"),
    ),
    "no such column": ("q.csv", listed("d1"), {"relevant": "gold"}, ("no column 'gold'", '"doc_ids"')),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "options", "facts"), REFUSED_DOCUMENTS.values(), ids=REFUSED_DOCUMENTS
)
def test_documents_are_refused(write, name, content, options, facts):
    refused(load_documents, write(name, content), options, facts)


@pytest.mark.parametrize(
    ("name", "content", "options", "facts"), REFUSED_QUESTIONS.values(), ids=REFUSED_QUESTIONS
)
def test_questions_are_refused(write, name, content, options, facts):
    refused(load_questions, write(name, content), options, facts)


def refused(load, path, options, facts):
    with pytest.raises((ValueError, KeyError, TypeError, OSError)) as caught:
        load(path, **options)
    message = caught.value.args[0]
    assert path.name in message or "docs" in facts
    for fact in facts:
        assert fact in message


def test_packed_files_that_are_cut_short_are_named(write):
    path = write("d.csv.gz", CSV * 50)
    path.write_bytes(path.read_bytes()[:-9])
    refused(load_documents, path, {}, ("not a whole gzip file",))


def test_a_packed_bomb_is_refused(write):
    path = write("d.csv.gz", b"id,text\n1," + b"x" * 150_000_000)
    refused(load_documents, path, {}, ("zip bomb",))


# ---------------------------------------------------------------- folders


def test_a_folder_is_a_document_a_file_in_the_order_of_its_paths(write, tmp_path):
    write("b.md", "# Two\n")
    write("a/z.txt", "One")
    write("a/.hidden.md", "# Hidden\n")
    write(".git/c.md", "# Hidden\n")
    write("c.png", b"\x89PNG")
    docs = load_documents(tmp_path)
    assert docs == [doc("a/z.txt", "z", "One"), doc("b.md", "Two", "# Two\n")]
    assert docs.note == "read 2 documents from 2 files; left out: c.png"


def test_the_ids_of_files_are_in_one_unicode_form(write, tmp_path):
    write(unicodedata.normalize("NFD", "환불.md"), "7일")
    assert load_documents(str(tmp_path))[0]["doc_id"] == "환불.md"


def test_all_files_that_cannot_be_read_are_named_at_once(write, tmp_path):
    write("a.md", " ")
    write("b.md", "fine")
    write("c.txt", b"\0")
    refused(load_documents, tmp_path, {}, ("2 of 3 files", "a.md", "c.txt is not text"))


def test_a_folder_without_texts_names_what_is_in_it(write, tmp_path):
    write("corpus.csv", CSV)
    refused(load_documents, tmp_path, {}, ("corpus.csv", "Give the file"))


@pytest.mark.parametrize("name", ["out.md", "out"])
def test_a_link_out_of_the_folder_is_refused(write, tmp_path, name):
    outside = write("outside/secret.md", "secret")
    write("folder/a.md", "a")
    os.symlink(outside if name == "out.md" else outside.parent, tmp_path / "folder" / name)
    refused(load_documents, tmp_path / "folder", {}, ("link", "out of the folder", "outside"))


def test_a_link_within_the_folder_is_read_once_where_it_leads_to_a_folder(write, tmp_path):
    write("a/x.md", "x")
    os.symlink(tmp_path / "a", tmp_path / "b")
    os.symlink(tmp_path / "a" / "x.md", tmp_path / "y.md")
    assert [one["doc_id"] for one in load_documents(tmp_path)] == ["a/x.md", "y.md"]


@pytest.mark.parametrize("load", [load_documents, load_questions, load_pairs])
def test_what_is_not_found_is_named(load, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv not found"):
        load(tmp_path / "nowhere.csv")


def test_an_address_is_no_file():
    with pytest.raises(ValueError, match="Download"):
        load_documents("https://example.org/corpus.csv")


# ---------------------------------------------------------------- objects


def test_a_table_with_a_gap_gives_whole_ids():
    table = pd.DataFrame({"id": [1.0, 2.0], "title": ["a", None], "text": ["x", np.nan]})
    assert load_documents(table) == [doc("1", "a", "x"), doc("2", "", "")]


def test_arrays_in_cells_are_lists():
    table = pd.DataFrame({"qid": ["a"], "query": ["Why?"], "retrieval_gt": [None]})
    table["retrieval_gt"] = [np.array([np.array(["d1"], dtype=object)], dtype=object)]
    assert load_questions(table) == [qa("a", "Why?", ["d1"])]


def test_langchains_documents_keep_their_ids():
    documents = [Document("T\na", metadata={"doc_id": "x", "title": "T"}), Document("b", id="y")]
    assert load_documents(documents) == [doc("x", "T", "a"), doc("y", "", "b")]


def test_a_loader_gives_its_files_and_pages():
    class Loader:
        def lazy_load(self):
            yield Document("a", metadata={"source": "guide/환불.md"})
            yield Document("b", metadata={"source": "fees.pdf", "page": 1})

    assert load_documents(Loader()) == [
        doc("guide/환불.md", "환불", "a"),
        doc("fees.pdf#page=2", "fees", "b", source_id="fees.pdf", page=2),
    ]


def test_a_dataset_of_datasets_is_read_by_its_rows_and_its_splits_are_named():
    class Split(list):
        column_names = ("id", "text")

    class Splits(dict):
        num_rows = property(len)

    rows = Split([{"id": 7, "text": "a"}])
    assert load_documents(rows) == [doc("7", "", "a")]
    with pytest.raises(ValueError, match=r"\"train\""):
        load_documents(Splits(train=rows))


@pytest.mark.parametrize("source", [None, 3, [3], ["a text"], {1: "a"}])
@pytest.mark.parametrize("load", [load_documents, load_questions, load_pairs])
def test_what_is_no_source_is_refused(load, source):
    with pytest.raises((TypeError, ValueError), match=r"must be|keys"):
        load(source)


# ---------------------------------------------------------------- gold that is text

CORPUS = [
    doc("d1", "Fees", "A “double” room costs\r\n890,000 won – a single one more."),
    doc("d2", "Hours", "Open from 9 to 5. Closed on Sundays."),
    doc("d3", "More hours", "The desk: open from 9 to 5. Closed on Sundays."),
]


def gold(*texts, **options):
    rows = [{"user_input": "Why?", "reference_contexts": list(texts)}]
    return load_questions(rows, CORPUS, **options)[0]


def test_gold_texts_are_found_but_for_how_they_are_written():
    found = gold('"double"  room costs 890,000 won - a', "single one more.")
    assert found["relevant_doc_ids"] == ["d1"]
    assert found["relevant_passages"] == [
        {"doc_id": "d1", "start": 2, "end": 38},
        {"doc_id": "d1", "start": 39, "end": 55},
    ]
    assert [CORPUS[0]["content"][p["start"] : p["end"]] for p in found["relevant_passages"]] == [
        "“double” room costs\r\n890,000 won – a", "single one more.",
    ]  # fmt: skip


def test_a_gold_text_may_be_a_document_as_it_is_embedded():
    assert gold("Hours\nOpen from 9 to 5. Closed on Sundays.")["relevant_passages"] == [
        {"doc_id": "d2", "start": 0, "end": len(CORPUS[1]["content"])}
    ]


def test_a_gold_text_in_several_places_is_said():
    with pytest.warns(UserWarning, match=r"1 gold text .*several places.*q0.*d2 at 18, d3 at 28"):
        assert gold("Closed on Sundays.")["relevant_doc_ids"] == ["d2", "d3"]


def test_gold_texts_that_are_not_found_are_listed_with_what_is_nearest():
    with pytest.raises(
        ValueError, match=r"1 gold text not found.*q0.*d2 at 0 to 17.*near="
    ) as caught:
        gold("single one more.", "Open from 9 until 5.")
    assert "similarity 0.8" in str(caught.value)


def test_a_gold_text_that_shares_no_word_has_nothing_near():
    with pytest.raises(ValueError, match="nothing near"):
        gold("완전히 다른 글")


def test_what_is_nearly_the_same_is_taken_on_request_and_said():
    rows = [{"question": "When?", "contexts": "Open from 9 until 5."}]
    all_qa = load_questions(rows, CORPUS, near=0.8)
    assert all_qa[0]["relevant_passages"] == [{"doc_id": "d2", "start": 0, "end": 17}]
    assert "1 found by near=0.8" in all_qa.note
    with pytest.raises(ValueError, match="not found"):
        load_questions(rows, CORPUS, near=0.95)


@pytest.mark.parametrize("near", [0, 1.5, "0.9", True])
def test_near_is_a_similarity(near):
    with pytest.raises(ValueError, match="near"):
        gold("x", near=near)


def test_a_column_that_is_named_may_hold_ids_or_texts():
    rows = [{"q": "Why?", "where": "d1"}, {"q": "When?", "where": "Open from 9 to 5.  Closed"}]
    all_qa = load_questions(rows, CORPUS, relevant="where")
    assert [one["relevant_doc_ids"] for one in all_qa] == [["d1"], ["d2"]]


def test_contexts_of_an_evaluated_run_are_no_gold():
    rows = [{"question": "Why?", "answer": "So.", "contexts": ["x"], "ground_truth": "So!"}]
    with pytest.raises(
        ValueError, match=r"no relevant documents; left out: \"answer\", \"contexts\""
    ):
        load_questions(rows, CORPUS)


def test_passages_in_the_kits_own_form_stay(write):
    passages = [{"doc_id": "d2", "start": 0, "end": 17}, {"doc_id": "d1", "text": "single one"}]
    record = {"query_id": "q1", "question": "When?", "relevant_doc_ids": ["d2", "d1"]}
    record["relevant_passages"] = passages
    assert load_questions(write("q.jsonl", lines(record))) == [record]
    del record["relevant_doc_ids"]
    assert load_questions([record])[0]["relevant_doc_ids"] == ["d2", "d1"]


def test_a_question_without_a_passage_says_so_beside_others_that_have_one():
    rows = [{"question": "Why?", "evidence": "a single one more"}, {"question": "Who?"}]
    why, who = load_questions(rows, CORPUS)
    assert why["relevant_passages"] == [{"doc_id": "d1", "start": 37, "end": 54}]
    assert (who["relevant_doc_ids"], who["relevant_passages"]) == ([], [])


def test_passages_that_name_no_document_are_refused():
    with pytest.raises(ValueError, match="row 1: relevant_passages must be dicts with doc_id"):
        load_questions([{"question": "When?", "relevant_passages": [{"text": "x"}]}])


def test_an_empty_column_that_was_named_is_refused():
    with pytest.raises(ValueError, match="no relevant documents"):
        load_questions([{"question": "When?", "where": ""}], relevant="where")


# ---------------------------------------------------------------- pairs


def pairs(rows, **options):
    with pytest.warns(UserWarning, match="far too good"):
        return load_pairs(rows, **options)


PAIRS = {
    "ragas": (
        [{"user_input": "Why?", "reference": "So.", "reference_contexts": ["a", "b"]}],
        [qa("q0", "Why?", ["d0", "d1"], "So.")], ["a", "b"],
    ),
    "sentence-transformers": (
        [{"anchor": "Why?", "positive": "a"}, {"anchor": "Who?", "positive": "a"}],
        [qa("q0", "Why?", ["d0"]), qa("q1", "Who?", ["d0"])], ["a"],
    ),
    "MS MARCO": (
        [{"query_id": 7, "query": "Why?", "answers": ["So."],
          "passages": {"is_selected": [0, 1], "passage_text": ["a", "b"], "url": ["u", "v"]}}],
        [qa("7", "Why?", {"d0": 0, "d1": 1}, "So.")], ["a", "b"],
    ),
    "labels a row": (
        [{"question": "Why?", "passage": "a", "label": 1}, {"question": "Why?", "passage": "b", "label": 0}],
        [qa("q0", "Why?", {"d0": 1, "d1": 0})], ["a", "b"],
    ),
    "SQuAD's rows": (
        [{"id": "s", "title": "T", "context": "a", "question": "Why?",
          "answers": {"text": ["So."], "answer_start": [0]}}],
        [qa("s", "Why?", ["d0"], "So.")], ["a"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "all_qa", "texts"), PAIRS.values(), ids=PAIRS)
def test_pairs_are_loaded(rows, all_qa, texts):
    dataset = pairs(rows)
    assert dataset.all_qa == all_qa
    assert dataset.docs == [doc(f"d{n}", "", text) for n, text in enumerate(texts)]


@pytest.mark.parametrize("rows", [
    [{"query": "Why?", "passage": "a", "label": 1}, {"query": "Why?", "passage": "a", "label": 0}],
    [{"query": "Why?", "passages": {"is_selected": [1, 0], "passage_text": ["a", "a"]}}],
])  # fmt: skip
def test_a_pair_judged_relevant_and_not_is_refused(rows):
    with pytest.raises(ValueError, match="judged both 1 and 0"):
        load_pairs(rows)


def test_pairs_without_a_text_are_refused():
    with pytest.raises(ValueError, match=r"content among \"question\".*content="):
        load_pairs([{"question": "Why?"}])


# ---------------------------------------------------------------- what is said


def test_how_files_were_read_is_in_the_note_and_printed_by_the_validation(write, capsys):
    docs = load_documents(write("d.csv", KOREAN.encode("cp949")))
    rows = [{"질문": "며칠?", "답변": "7일", "근거문서": "001", "작성자": "김"}, {"질문": "누가?"}]
    all_qa = load_questions(rows)
    assert capsys.readouterr().out == ""
    validate_dataset(docs, all_qa)
    assert capsys.readouterr().out.splitlines()[:3] == [
        'read 1 document: doc_id <- "문서번호", title <- "제목", content <- "본문"; CP949',
        'read 2 questions: question <- "질문", relevant_doc_ids <- "근거문서", '
        'ground_truth <- "답변"; 1 without relevant documents; left out: "작성자"',
        "[OK] 1 document, 2 queries: 0 errors, 1 warning",
    ]


def test_what_the_user_did_not_write_is_said():
    assert load_questions([WHY], relevant=[]).note == (
        'read 1 question: question <- "question", ground_truth <- "answer"; no relevant documents'
    )
    cited = load_questions([{"question": "Why?", "truth": "So [a.md]."}])
    assert cited.note.endswith("; relevant_doc_ids <- files in 1 answer")


def test_a_note_is_one_line_whatever_the_columns_are_called():
    assert "\n" not in load_documents([{"text": "a", "x\n[OK]": 1}]).note


def test_the_lists_are_plain_lists_of_dicts():
    docs = load_documents([REFUND])
    assert docs == [REFUND]
    assert json.loads(json.dumps(docs)) == [REFUND]
    assert type(docs[0]) is dict


# ---------------------------------------------------------------- both in one


def test_a_json_file_may_hold_both(write):
    docs, all_qa = load_dataset(write("x.json.gz", LLAMA))
    assert docs == [doc("n1", "", "Because."), doc("n2", "", "No.")]
    assert all_qa == [qa("u1", "Why?", ["n1"])]


def test_of_a_file_with_both_each_part_can_be_loaded(write):
    path = write("korquad.json", SQUAD)
    assert (
        load_documents(path) == load_dataset(path).docs == [doc("p0", "환불", "7일 안에 환불한다.")]
    )


def test_a_file_in_the_kits_own_form_may_hold_both(write):
    path = write("x.json", {"docs": [REFUND], "all_qa": TWO})
    assert load_dataset(path) == ([REFUND], TWO)


def test_a_json_file_with_one_of_the_two_is_no_dataset(write):
    path = write("x.json", [REFUND])
    with pytest.raises(NotADirectoryError, match="load_documents"):
        load_dataset(path)


@pytest.mark.parametrize(("name", "content"), [
    ("qrels.jsonl", lines({"query_id": "1", "doc_id": "001", "relevance": 2})),
    ("qrels.csv", "query-id,corpus-id,score\n1,001,2\n"),
    ("qrels.tsv", "query-id\tcorpus-id\tscore\n1\t001\t2\n"),
    ("qrels.txt", "1 0 001 2\n"),
    ("qrels.txt.gz", "1 0 001 2\n"),
])  # fmt: skip
def test_judgements_may_stand_beside_the_queries(write, tmp_path, name, content):
    write("corpus.csv", CSV)
    write("queries.tsv", "id\tquestion\n1\tWhy?\n2\tWho?\n")
    write(name, content)
    docs, all_qa = load_dataset(tmp_path)
    assert docs == [REFUND, FEE]
    assert all_qa == [qa("1", "Why?", {"001": 2})]


def test_a_folder_of_texts_is_no_dataset():
    with pytest.raises(FileNotFoundError, match=r"corpus\.jsonl not found.*load_documents"):
        load_dataset(HANDBOOK)


def test_a_folder_of_tables_is_read_by_its_columns(write, tmp_path):
    write("corpus.jsonl.gz", lines({"doc_id": "c1", "contents": "a", "metadata": {"x": 1}}))
    write("qa.csv", "qid,query,retrieval_gt\na,Why?,\"[['c1']]\"\n")
    assert load_dataset(tmp_path) == ([doc("c1", "", "a")], [qa("a", "Why?", ["c1"])])


# ---------------------------------------------------------------- the extras


def pdf_of(*pages):
    """Return a PDF with one line of text a page, as it is written down by hand."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        drawn = f"BT /F 12 Tf 20 200 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >> stream\n{drawn}\nendstream")

    # The table at the end says where each object starts.
    data, starts = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        starts.append(len(data))
        data += f"{number} 0 obj {text} endobj\n"
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    size = len(objects) + 1
    return (
        f"{data}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer << /Root 1 0 R /Size {size} >>\nstartxref\n{len(data)}\n%%EOF\n"
    )


@pytest.fixture
def pdf(write):
    """Return a function that writes a PDF of two pages, with a password or none."""
    pypdf = pytest.importorskip("pypdf")

    def to_file(password=None):
        path = write("fees.pdf", pdf_of("Refund in 7", "No fee at all"))
        if password is not None:
            writer = pypdf.PdfWriter(clone_from=path)
            writer.encrypt(password, "owner", algorithm="RC4-128")
            writer.write(path)
        return path

    return to_file


def test_a_pdf_is_one_document_whose_pages_a_form_feed_parts(pdf):
    assert load_documents(pdf()) == [doc("fees.pdf", "fees", "Refund in 7\fNo fee at all")]


def test_a_pdf_may_be_a_document_a_page(pdf):
    assert load_documents(pdf(), pages=True) == [
        doc("fees.pdf#page=1", "fees", "Refund in 7", source_id="fees.pdf", page=1),
        doc("fees.pdf#page=2", "fees", "No fee at all", source_id="fees.pdf", page=2),
    ]


def test_a_pdf_with_a_password_is_named(pdf):
    refused(load_documents, pdf("secret"), {}, ("password",))


def test_a_pdf_that_opens_without_its_password_is_read(pdf):
    assert load_documents(pdf(""))[0]["content"] == "Refund in 7\fNo fee at all"


def test_a_pdf_cut_short_is_named(pdf):
    path = pdf()
    path.write_bytes(path.read_bytes()[:60])
    refused(load_documents, path, {}, ("fees.pdf", "not a whole PDF"))


def test_parquet_is_read_with_its_lists(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "qa.parquet"
    table = pd.DataFrame({"qid": [7], "query": ["Why?"], "retrieval_gt": [[["001"], ["d2"]]]})
    table.to_parquet(path)
    assert load_questions(path) == [qa("7", "Why?", ["001", "d2"])]
    path.write_bytes(path.read_bytes()[:-20])
    refused(load_questions, path, {}, ("not a whole Parquet",))


@pytest.fixture
def workbook(tmp_path):
    """Return a function that writes a workbook of these sheets."""
    openpyxl = pytest.importorskip("openpyxl")

    def book(*sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for number, rows in enumerate(sheets):
            sheet = made.create_sheet(f"S{number}")
            for row in rows:
                sheet.append(row)
            for cell in sheet["A"]:
                cell.number_format = "000"
        made.save(tmp_path / "qa.xlsx")
        return tmp_path / "qa.xlsx"

    return book


def test_excel_is_read_as_its_cells_are_shown(workbook):
    path = workbook([], [["번호", "질문", "근거문서", None], [1, "얼마?", 14717500, None]], [["x"]])
    all_qa = load_questions(path)
    assert all_qa == [qa("001", "얼마?", ["14717500"])]
    assert "sheet 'S1', not 2 others" in all_qa.note


def test_a_workbook_with_a_column_twice_is_refused(workbook):
    refused(
        load_documents, workbook([["id", "id", "text"], [1, 2, "a"]]), {}, ("'id' appears twice",)
    )


def test_a_workbook_that_is_a_bomb_or_broken_is_named(workbook, tmp_path):
    path = workbook([["id", "text"]])
    path.write_bytes(path.read_bytes()[:500])
    refused(load_documents, path, {}, ("not a whole .xlsx",))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b"x" * 150_000_000)
    refused(load_documents, path, {}, ("zip bomb",))


@pytest.mark.parametrize(("name", "extra", "content"), [
    ("x.pdf", "pdf", b"%PDF-1.4"), ("x.parquet", "parquet", b"PAR1"), ("x.xlsx", "excel", b"PK\x03\x04")
])  # fmt: skip
def test_an_extra_that_is_missing_is_named_with_how_to_install_it(
    write, monkeypatch, name, extra, content
):
    for module in ("pypdf", "pyarrow", "pyarrow.parquet", "openpyxl"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ImportError, match=rf"extra {extra}: pip install"):
        load_documents(write(name, content))


# ---------------------------------------------------------------- from file to five metrics


def test_the_handbook_goes_from_files_to_five_metrics(embeddings, capsys):
    docs = load_documents(HANDBOOK)
    all_qa = load_questions(HANDBOOK / "questions.csv", docs)
    assert len(validate_dataset(docs, all_qa)) == 0
    results = search_all(build_vectorstore(docs, embeddings), all_qa, k=5)
    table = evaluate(all_qa, results, ks=(1, 5))
    assert table.index.tolist() == ["HitRate", "MRR", "nDCG", "Precision", "Recall"]
    assert table.loc["HitRate", 5] == 1.0


def test_the_english_handbook_is_read_once_its_encoding_is_named():
    folder = HANDBOOK.parent / "en"
    docs = load_documents(folder)
    with pytest.raises(ValueError, match="encoding='cp1252'"):
        load_questions(folder / "questions.csv", docs)
    all_qa = load_questions(folder / "questions.csv", docs, encoding="cp1252")
    assert all_qa[4]["ground_truth"] == "£10.92"
    assert len(validate_dataset(docs, all_qa)) == 0


def test_the_passages_of_the_handbook_stand_in_the_documents_that_it_names():
    docs = load_documents(HANDBOOK)
    by_file = load_questions(HANDBOOK / "questions.csv", docs)
    by_text = load_questions(HANDBOOK / "questions.csv", docs, relevant="근거")
    for one, other in zip(by_file, by_text, strict=True):
        assert other["relevant_doc_ids"] == one["relevant_doc_ids"][:1]
    assert len(validate_dataset(docs, by_text)) == 0


def test_the_passages_of_the_handbook_are_matched_in_its_chunks():
    docs = load_documents(HANDBOOK)
    all_qa = load_questions(HANDBOOK / "questions.csv", docs, relevant="근거")
    chunks = split_documents(docs, 120)
    results = search_all(build_vectorstore(chunks, load_embeddings("chars")), all_qa, k=5)
    found = match_passages(results, chunks, all_qa)
    assert evaluate(found.all_qa, found.results, ks=5).loc["Recall", 5] > 0.5


def test_an_empty_file_of_a_folder_is_left_out_and_named(tmp_path):
    (tmp_path / "fees.md").write_text("# Fees\nPay by May.")
    (tmp_path / "todo.md").write_text("")
    docs = load_documents(tmp_path)
    assert [doc["doc_id"] for doc in docs] == ["fees.md"]
    assert "left out: todo.md (empty)" in docs.note


def test_a_function_relevant_that_fails_names_the_row():
    rows = pd.DataFrame({"question": ["Why?"]})
    with pytest.raises(
        ValueError, match=r"row 1: the function relevant= failed \(KeyError: 'gold'"
    ):
        load_questions(rows, relevant=lambda row: row["gold"])
