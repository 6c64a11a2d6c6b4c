"""Runs and judgements: what is read, what is written, and what is refused with file and line."""

import gzip
import random

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from conftest import hits, query, scored

from rageval_kit import (
    Results,
    build_vectorstore,
    load_qrels,
    load_run,
    mrr,
    ndcg,
    per_query,
    save_qrels,
    save_run,
    search_all,
)

RUN = "q1 Q0 d1 1 0.9 bm25\nq1 Q0 d2 2 0.8 bm25\nq2 Q0 d1 1 7 bm25\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 -1\nq2 0 d1 3\n"
BEIR = "q1\td1\t1\nq1\td2\t0\nq2\td3\t-1\nq2\td1\t3\n"
HEADER = "query-id\tcorpus-id\tscore\n"
LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
STRANGE_IDS = [
    "09081824",
    "830e2936",
    "1e5",
    "NA",
    "null",
    "nan",
    "None",
    "true",
    '"d2',
    "d'3",
    "#1",
    "<a>",
    "질문1",
    "é",
]

loaders = pytest.mark.parametrize("load", [load_run, load_qrels], ids=lambda load: load.__name__)


def rows(table):
    return list(table.itertuples(index=False, name=None))


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def to_file(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


@pytest.fixture
def run_text(tmp_path):
    """Return what save_run writes."""

    def saved(results, **options):
        save_run(results, tmp_path / "saved.run", **options)
        return (tmp_path / "saved.run").read_text(encoding="utf-8")

    return saved


@pytest.fixture
def reread(tmp_path):
    """Save results as a run and load it again."""

    def round_trip(results, name="saved.run"):
        save_run(results, tmp_path / name)
        return load_run(tmp_path / name)

    return round_trip


@pytest.fixture
def rejudged(tmp_path):
    """Save judgements and load them again."""

    def round_trip(all_qa, name="qrels.txt"):
        save_qrels(all_qa, tmp_path / name)
        return load_qrels(tmp_path / name)

    return round_trip


def in_trec_order(run):
    """The ranking of every query as trec_eval sees it: float32 score, then doc_id, descending."""
    ranked = sorted(rows(run), key=lambda row: (np.float32(row[2]), row[1]), reverse=True)
    return {
        query_id: [d for q, d, _ in ranked if q == query_id]
        for query_id in run["query_id"].unique()
    }


# ---------------------------------------------------------------- load_run

RUN_ROWS = [("q1", "d1", 0.9), ("q1", "d2", 0.8), ("q2", "d1", 7.0)]
FORMS_OF_A_RUN = {
    "spaces": RUN,
    "tabs": RUN.replace(" ", "\t"),
    "several spaces": RUN.replace(" ", "   "),
    "tabs and spaces": RUN.replace(" Q0 ", "\tQ0 \t"),
    "CRLF": RUN.replace("\n", "\r\n"),
    "BOM": "\ufeff" + RUN,
    "BOM and CRLF": "\ufeff" + RUN.replace("\n", "\r\n"),
    "blank lines": "\n" + RUN.replace("\n", "\n\n") + "\n  \n",
    "blanks at the start of lines": "  " + RUN.replace("\n", "\n  "),
    "blanks at the end of lines": RUN.replace("\n", " \n"),
    "no line break at the end": RUN.rstrip("\n"),
}


@pytest.mark.parametrize("text", FORMS_OF_A_RUN.values(), ids=FORMS_OF_A_RUN.keys())
def test_every_form_of_a_run_is_read_alike(write, text):
    assert rows(load_run(write(text))) == RUN_ROWS


def test_a_run_has_the_columns_of_results(write):
    assert load_run(write(RUN)).columns.tolist() == ["query_id", "doc_id", "score"]


def test_a_run_has_a_plain_index(write):
    assert load_run(write("\n\n" + RUN)).index.tolist() == [0, 1, 2]


def test_the_name_of_a_run_is_in_attrs(write):
    assert load_run(write(RUN)).attrs["name"] == "bm25"


def test_a_packed_run_is_read(write):
    assert rows(load_run(write(gzip.compress(RUN.encode()), "run.gz"))) == RUN_ROWS


def test_a_path_may_be_a_text(write):
    assert rows(load_run(str(write(RUN)))) == RUN_ROWS


@pytest.mark.parametrize("number", ["5", "-1.25", "1e3", "1E-05", "+2.5", ".5"])
def test_scores_are_read_as_python_reads_them(write, number):
    assert load_run(write(f"q1 Q0 d1 1 {number} s\n"))["score"].tolist() == [float(number)]


@pytest.mark.parametrize("strange", STRANGE_IDS)
def test_ids_of_a_run_are_kept_as_text(write, strange):
    assert rows(load_run(write(f"{strange} Q0 {strange} 1 0.5 s\n"))) == [(strange, strange, 0.5)]


def test_a_quote_does_not_swallow_the_lines_that_follow(write):
    run = load_run(write('q1 Q0 "d2 1 0.5 s\nq1 Q0 d3 2 0.4 s\nq1 Q0 d"4 3 0.3 s\n'))
    assert run["doc_id"].tolist() == ['"d2', "d3", 'd"4']


def test_the_order_of_the_lines_does_not_matter(write):
    all_qa = [query({"d1": 3, "d2": 1}, "q1"), query(["d1"], "q2")]
    backwards = "\n".join(reversed(RUN.splitlines()))
    forwards = per_query(all_qa, load_run(write(RUN)))
    pd.testing.assert_frame_equal(per_query(all_qa, load_run(write(backwards))), forwards)


def test_the_score_decides_and_not_the_rank(write):
    run = load_run(write("q1 Q0 d1 1 0.1 s\nq1 Q0 d2 2 0.9 s\n"))
    assert mrr([query(["d2"])], run, ks=2).iloc[0, 0] == 1.0


def test_equal_scores_of_a_run_are_ordered_by_doc_id_descending(write):
    run = load_run(write("q1 Q0 d1 1 0.5 s\nq1 Q0 d10 2 0.5 s\nq1 Q0 d2 3 0.5 s\n"))
    assert ndcg([query({"d2": 3, "d10": 2, "d1": 1})], run, ks=3).iloc[0, 0] == 1.0


# ---------------------------------------------------------------- load_qrels

QRELS_ROWS = [("q1", "d1", 1.0), ("q1", "d2", 0.0), ("q2", "d3", -1.0), ("q2", "d1", 3.0)]
FORMS_OF_QRELS = {
    "TREC": QRELS,
    "TREC with tabs": QRELS.replace(" ", "\t"),
    "TREC with several spaces": QRELS.replace(" ", "   "),
    "TREC with tabs and spaces": QRELS.replace(" 0 d", "\t0 d"),
    "TREC with tabs at first and spaces below": QRELS.replace(" ", "\t", 3),
    "TREC with spaces at first and tabs below": QRELS[::-1].replace(" ", "\t", 3)[::-1],
    "TREC with CRLF": QRELS.replace("\n", "\r\n"),
    "TREC with BOM": "\ufeff" + QRELS,
    "TREC with blank lines": "\n" + QRELS.replace("\n", "\n\n"),
    "TREC with blanks at the end of lines": QRELS.replace("\n", " \n"),
    "TREC with header": "query_id iteration doc_id relevance\n" + QRELS,
    "TREC with Q0": QRELS.replace(" 0 d", " Q0 d"),
    "TREC with as many tabs as BEIR": QRELS.replace(" ", "\t").replace("\t0\t", "\t0 "),
    "BEIR": BEIR,
    "BEIR with header": HEADER + BEIR,
    "BEIR with spaces": BEIR.replace("\t", " "),
    "BEIR with header and spaces": (HEADER + BEIR).replace("\t", " "),
    "BEIR with header and CRLF": (HEADER + BEIR).replace("\n", "\r\n"),
    "BEIR with header and BOM": "\ufeff" + HEADER + BEIR,
    "BEIR with BOM": "\ufeff" + BEIR,
    "BEIR with header and blank lines": ("\n" + HEADER + BEIR).replace("\n", "\n\n"),
    "BEIR with a header of underscores": "query_id\tdoc_id\trelevance\n" + BEIR,
    "BEIR with a header of capitals": "Query-ID\tCorpus-ID\tScore\n" + BEIR,
    "BEIR with a header of short names": "qid\tdocid\trel\n" + BEIR,
    "no line break at the end": (HEADER + BEIR).rstrip("\n"),
}


@pytest.mark.parametrize("text", FORMS_OF_QRELS.values(), ids=FORMS_OF_QRELS.keys())
def test_every_form_of_qrels_is_read_alike(write, text):
    assert rows(load_qrels(write(text))) == QRELS_ROWS


def test_qrels_have_the_columns_of_qrels(write):
    assert load_qrels(write(QRELS)).columns.tolist() == ["query_id", "doc_id", "relevance"]


def test_qrels_have_a_plain_index(write):
    assert load_qrels(write(HEADER + "\n" + BEIR)).index.tolist() == [0, 1, 2, 3]


def test_packed_qrels_are_read(write):
    assert (
        rows(load_qrels(write(gzip.compress((HEADER + BEIR).encode()), "test.tsv.gz")))
        == QRELS_ROWS
    )


@pytest.mark.parametrize(
    "form", ["{0} 0 {0} 1\n", "{0}\t{0}\t1\n", HEADER + "{0}\t{0}\t1\n"], ids=["TREC", "BEIR", "h"]
)
@pytest.mark.parametrize("strange", STRANGE_IDS)
def test_ids_of_qrels_are_kept_as_text(write, strange, form):
    assert rows(load_qrels(write(form.format(strange)))) == [(strange, strange, 1.0)]


def test_ids_that_look_like_a_header_are_no_header(write):
    assert rows(load_qrels(write("topic 0 document 1\n"))) == [("topic", "document", 1.0)]


@pytest.mark.parametrize("header", [HEADER, ""], ids=["header", "no header"])
def test_ids_of_beir_may_hold_spaces(write, header):
    assert rows(load_qrels(write(header + "q 1\t문서 1\t1\n"))) == [("q 1", "문서 1", 1.0)]


def test_a_grade_may_be_a_fraction(write):
    assert load_qrels(write("q1 0 d1 2.5\n"))["relevance"].tolist() == [2.5]


def test_the_same_judgement_twice_counts_once(write):
    assert rows(load_qrels(write("q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 1\n"))) == [
        ("q1", "d1", 1.0),
        ("q2", "d1", 1.0),
    ]


def test_qrels_and_run_are_taken_by_the_metrics(write):
    table = per_query(load_qrels(write(QRELS, "qrels")), load_run(write(RUN, "run")), ks=2)
    assert table["Recall@2"].to_dict() == {"q1": 1.0, "q2": 1.0}


# ---------------------------------------------------------------- refused, with file and line

RUN_ORDER = "query_id Q0 doc_id rank score name"
BROKEN_RUNS = {
    "a broken line": (RUN + "garbage\n", "line 4: 6 fields were wanted.*found 1"),
    "a field too few": (RUN + "q3 Q0 d1 1 0.5\n", "line 4: 6 fields were wanted.*found 5"),
    "a field too many": (RUN + "q3 Q0 d1 1 0.5 s x\n", "line 4: 6 fields were wanted.*found 7"),
    "a field too many in the first line": (
        "q3 Q0 d1 1 0.5 s x\n" + RUN,
        "line 1: 6 fields were wanted",
    ),
    "a field too few in the first line": (
        "q3 Q0 d1 1 0.5\n" + RUN,
        "line 1: 6 fields were wanted.*found 5",
    ),
    "a field too many in every line": (RUN.replace("\n", " x\n"), "line 1: 6 fields were wanted"),
    "a line broken behind blank lines": ("\n\n" + RUN + "\nq3\n", "line 7: 6 fields were wanted"),
    "a line broken behind CRLF": (
        RUN.replace("\n", "\r\n") + "\r\nq3\r\n",
        "line 5: 6 fields were wanted",
    ),
    "commas": (RUN.replace(" ", ","), "line 1: 6 fields were wanted.*found 1"),
    "an empty field": ("q1\tQ0\td1\t1\t\ts\n", "line 1: 6 fields were wanted"),
    "a NaN score": (RUN + "q3 Q0 d1 1 NaN s\n", "line 4: the score 'NaN' is not a number"),
    "a nan score": (RUN + "q3 Q0 d1 1 nan s\n", "line 4: the score 'nan' is not a number"),
    "a missing score": (RUN + "q3 Q0 d1 1 NA s\n", "line 4: the score 'NA' is not a number"),
    "a word for a score": (RUN + "q3 Q0 d1 1 high s\n", "line 4: the score 'high' is not a number"),
    "a decimal comma": (RUN + "q3 Q0 d1 1 0,5 s\n", "line 4: the score '0,5' is not a number"),
    "True for a score": ("q3 Q0 d1 1 True s\n", "line 1: the score 'True' is not a number"),
    "rank and score swapped": (
        "q1 Q0 d1 0.9 1 s\nq1 Q0 d2 0.8 2 s\n",
        f"line 1: the rank '0.9'.*{RUN_ORDER}",
    ),
    "rank and score swapped below": (
        RUN + "q1 Q0 d3 0.7 3 s\n",
        f"line 4: the rank '0.7'.*{RUN_ORDER}",
    ),
    "rank before doc_id": (
        "q1 Q0 1 d1 0.9 s\nq1 Q0 2 d2 0.8 s\n",
        f"line 1: the rank 'd1'.*{RUN_ORDER}",
    ),
    "name before score": (
        "q1 Q0 d1 1 s 0.9\nq1 Q0 d2 2 s 0.8\n",
        f"line 1: the score 's'.*{RUN_ORDER}",
    ),
    "doc_id before Q0": (
        "q1 d1 Q0 1 0.9 s\nq1 d2 Q0 2 0.8 s\n",
        f"doc_id of every line is Q0.*{RUN_ORDER}",
    ),
    "name first": (
        "s q1 Q0 d1 1 0.9\ns q1 Q0 d2 2 0.8\n",
        f"doc_id of every line is Q0.*{RUN_ORDER}",
    ),
    "only a header": (RUN_ORDER + "\n", "line 1: the rank 'rank' is not a whole number"),
    "TREC judgements": (
        QRELS,
        r"line 1: 6 fields were wanted.*found 4.*TREC judgements: load_qrels",
    ),
    "one TREC judgement": (
        "q1 0 d1 1\n",
        r"line 1: 6 fields were wanted.*found 4.*TREC judgements: load_qrels",
    ),
    "BEIR judgements": (
        HEADER + BEIR,
        r"line 1: 6 fields were wanted.*found 3.*BEIR judgements: load_qrels",
    ),
    "a Git LFS pointer": (LFS_POINTER, "is a Git LFS pointer.*git lfs pull"),
    "an empty file": ("", "is empty"),
    "a file of blank lines": ("\n \n\t\n", "is empty"),
    "only a BOM": ("\ufeff", "is empty"),
    "CP949": ("질문1 Q0 문서1 1 0.9 s\n".encode("cp949"), r"is not UTF-8 \(byte 0\).*CP949"),
    "UTF-16": (RUN.encode("utf-16"), "is not UTF-8"),
}


@pytest.mark.parametrize(("content", "why"), BROKEN_RUNS.values(), ids=BROKEN_RUNS.keys())
def test_a_broken_run_is_refused(write, content, why):
    path = write(content, "broken.run")
    with pytest.raises(ValueError, match=rf"broken\.run\b.*{why}") as refusal:
        load_run(path)
    assert str(refusal.value).startswith(str(path))


TREC_ORDER, BEIR_ORDER = "query_id 0 doc_id relevance", "query_id doc_id relevance"
BROKEN_QRELS = {
    "a broken line": (QRELS + "garbage\n", "line 5: 4 fields were wanted.*found 1"),
    "a field too few": (QRELS + "q3 d1 1\n", "line 5: 4 fields were wanted.*found 3"),
    "a field too many": (QRELS + "q3 0 d1 1 1\n", "line 5: 4 fields were wanted.*found 5"),
    "two fields": ("q1 d1\n", "line 1: 4 fields were wanted.*found 2"),
    "BEIR, a field too few": (HEADER + BEIR + "q3\td1\n", "line 6: 3 fields were wanted.*found 2"),
    "BEIR, a field too many": (
        HEADER + BEIR + "q3\td1\t1\t1\n",
        "line 6: 3 fields were wanted.*found 4",
    ),
    "BEIR, an empty field": (HEADER + "q1\t\t1\n", "line 2: 3 fields were wanted.*found 2"),
    "BEIR, broken behind blank lines": (
        HEADER + "\n\n" + BEIR + "q3\td1\n",
        "line 8: 3 fields were wanted",
    ),
    "BEIR, broken behind CRLF": (
        HEADER + "\r\n" + BEIR + "q3\td1\r\n",
        "line 7: 3 fields were wanted",
    ),
    "commas": ("query-id,corpus-id,score\nq1,d1,1\n", "line 1: 4 fields were wanted.*found 1"),
    "a NaN grade": (
        QRELS + "q3 0 d1 nan\n",
        f"line 5: the relevance 'nan' is not a number.*{TREC_ORDER}",
    ),
    "a word for a grade": (
        QRELS + "q3 0 d1 yes\n",
        f"line 5: the relevance 'yes' is not a number.*{TREC_ORDER}",
    ),
    "BEIR, a NaN grade": (
        HEADER + BEIR + "q3\td1\tnan\n",
        f"line 6: the relevance 'nan'.*{BEIR_ORDER}",
    ),
    "BEIR, a word for a grade": (
        HEADER + BEIR + "q3\td1\tyes\n",
        f"line 6: the relevance 'yes'.*{BEIR_ORDER}",
    ),
    "an infinite grade": ("q1 0 d1 inf\n", "line 1: the relevance 'inf' is not a number"),
    "doc_id before 0": ("q1 d1 0 1\nq1 d2 0 1\n", f"doc_id of every line is 0.*{TREC_ORDER}"),
    "doc_id first": ("d1 q1 0 1\nd2 q1 0 1\n", f"doc_id of every line is 0.*{TREC_ORDER}"),
    "grade before doc_id": (
        "q1 0 1 d1\nq1 0 0 d2\n",
        f"line 1: the relevance 'd1' is not a number.*{TREC_ORDER}",
    ),
    "BEIR, grade before doc_id": (
        "q1\t1\td1\n",
        f"line 1: the relevance 'd1' is not a number.*{BEIR_ORDER}",
    ),
    "BEIR, columns not as in the header": (
        HEADER + "q1\t1\td1\n",
        f"line 2: the relevance 'd1'.*{BEIR_ORDER}",
    ),
    "only a header": (HEADER, "holds no judgement, only a header"),
    "a header and blank lines": (HEADER + "\n\n", "holds no judgement, only a header"),
    "contradictory": (QRELS + "q1 0 d1 0\n", "line 5: q1 -> d1 has another grade above"),
    "BEIR, contradictory": (
        HEADER + BEIR + "q1\td1\t2\n",
        "line 6: q1 -> d1 has another grade above",
    ),
    "a run": (RUN, r"line 1: 4 fields were wanted.*looks like a run: load_run"),
    "a run with tabs": (
        RUN.replace(" ", "\t"),
        r"line 1: 4 fields were wanted.*looks like a run: load_run",
    ),
    "a Git LFS pointer": (LFS_POINTER, "is a Git LFS pointer.*git lfs pull"),
    "an empty file": ("", "is empty"),
    "CP949": ("질문1 0 문서1 1\n".encode("cp949"), r"is not UTF-8 \(byte 0\).*CP949"),
}


@pytest.mark.parametrize(("content", "why"), BROKEN_QRELS.values(), ids=BROKEN_QRELS.keys())
def test_broken_qrels_are_refused(write, content, why):
    path = write(content, "broken.tsv")
    with pytest.raises(ValueError, match=rf"broken\.tsv\b.*{why}") as refusal:
        load_qrels(path)
    assert str(refusal.value).startswith(str(path))


def test_qrels_are_not_advised_to_be_read_as_qrels(write):
    with pytest.raises(ValueError) as refusal:
        load_qrels(write("q1\td1\t1\t\nq2\td1\t1\t\n"))
    assert "load_qrels" not in str(refusal.value)


@loaders
def test_a_file_that_is_not_found_is_named(tmp_path, load):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt not found"):
        load(tmp_path / "nowhere.txt")


@loaders
def test_of_a_relative_path_the_working_folder_is_named(tmp_path, load, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"nowhere.txt not found.*{tmp_path.name}"):
        load("nowhere.txt")


@loaders
def test_a_folder_in_place_of_a_file_is_refused(tmp_path, load):
    with pytest.raises(IsADirectoryError, match="Give the path of a file"):
        load(tmp_path)


@loaders
@pytest.mark.parametrize("path", [None, 3, ["a.txt"], b"a.txt"])
def test_what_is_no_path_is_refused(load, path):
    with pytest.raises(TypeError, match="path must be a path"):
        load(path)


@loaders
@pytest.mark.parametrize("path", ["", "a\0b", "a\ud83d"])
def test_a_path_that_no_file_can_have_is_refused(load, path):
    with pytest.raises(ValueError, match="is empty, too long, or holds a NUL"):
        load(path)


@loaders
def test_a_file_that_is_not_gzip_is_refused(write, load):
    with pytest.raises(ValueError, match=r"file\.gz is not a whole gzip file"):
        load(write(RUN, "file.gz"))


@loaders
def test_a_gzip_file_that_ends_too_early_is_refused(write, load):
    with pytest.raises(ValueError, match=r"file\.gz is not a whole gzip file"):
        load(write(gzip.compress(RUN.encode())[:-12], "file.gz"))


@loaders
@pytest.mark.parametrize("position", [10, 20], ids=["in the block's header", "in the data"])
def test_a_gzip_file_with_broken_bytes_is_refused(write, load, position):
    packed = bytearray(gzip.compress((RUN * 50).encode()))
    packed[position] ^= 0x06
    with pytest.raises(ValueError, match=r"file\.gz is not a whole gzip file"):
        load(write(bytes(packed), "file.gz"))


@loaders
def test_an_empty_gzip_file_is_refused(write, load):
    with pytest.raises(ValueError, match=r"file\.gz is empty"):
        load(write(gzip.compress(b""), "file.gz"))


@loaders
def test_a_git_lfs_pointer_is_recognised_under_a_packed_name(write, load):
    with pytest.raises(ValueError, match=r"file\.gz is a Git LFS pointer"):
        load(write(LFS_POINTER, "file.gz"))


# ---------------------------------------------------------------- save_run


def test_a_run_is_written_a_line_a_hit(run_text):
    text = run_text({"q1": scored(("d1", 0.9), ("d2", 0.5)), "q2": scored(("d3", 2))}, name="bm25")
    assert text == "q1 Q0 d1 1 0.9 bm25\nq1 Q0 d2 2 0.5 bm25\nq2 Q0 d3 1 2.0 bm25\n"


def test_the_default_name_of_a_run_is_that_of_the_kit(run_text):
    assert run_text({"q1": scored(("d1", 0.9))}) == "q1 Q0 d1 1 0.9 rageval_kit\n"


def test_hits_without_scores_count_down(run_text):
    assert (
        run_text({"q1": hits("a", "b", "c")}, name="s")
        == "q1 Q0 a 1 3.0 s\nq1 Q0 b 2 2.0 s\nq1 Q0 c 3 1.0 s\n"
    )


def test_distances_get_a_minus_sign(run_text):
    assert (
        run_text({"q1": scored(("a", 0.1), ("b", 0.5))}, name="s")
        == "q1 Q0 a 1 -0.1 s\nq1 Q0 b 2 -0.5 s\n"
    )


def test_distances_of_one_hit_get_a_minus_sign_where_they_are_known(run_text):
    results = Results(
        {"q1": [{"doc_id": "a", "title": "", "content": "", "score": 0.1}]},
        k=1,
        lower_is_better=True,
    )
    assert run_text(results, name="s") == "q1 Q0 a 1 -0.1 s\n"


def test_equal_scores_are_stepped_down_by_a_float32(run_text):
    below = float(np.nextafter(np.float32(0.5), np.float32(0)))
    assert (
        run_text({"q1": scored(("a", 0.5), ("b", 0.5))}, name="s")
        == f"q1 Q0 a 1 0.5 s\nq1 Q0 b 2 {below!r} s\n"
    )


def test_an_empty_ranking_writes_no_line(run_text):
    assert run_text({"q1": [], "q2": hits("a")}, name="s") == "q2 Q0 a 1 1.0 s\n"


def test_the_same_results_give_the_same_packed_file(tmp_path):
    for name in ("one.gz", "two.gz"):
        save_run({"q1": hits("a", "b")}, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


@pytest.mark.parametrize(
    ("results", "name"),
    [
        ({"q 1": hits("a")}, "s"),
        ({"q1": hits("a", "b\tc")}, "s"),
        ({"q1": hits("a\n")}, "s"),
        ({"q1": hits("")}, "s"),
        ({"q1": hits("a")}, "my run"),
        ({"q1": hits("a")}, ""),
    ],
    ids=["query_id", "tab", "line break", "empty id", "name", "empty name"],
)
def test_white_space_in_a_run_is_refused(tmp_path, results, name):
    with pytest.raises(
        ValueError, match=r"white space.*or is empty.*\.csv or \.tsv, which hold any"
    ):
        save_run(results, tmp_path / "run", name=name)


MIXED = {
    "between queries": {
        "q1": scored(("a", 0.1), ("b", 0.2)),
        "q2": scored(("a", 0.5)),
        "q3": scored(("a", 0.9), ("b", 0.5)),
    },
    "within a query": {"q1": scored(("a", 0.1), ("b", 0.9), ("c", 0.5))},
}


@pytest.mark.parametrize("results", MIXED.values(), ids=MIXED.keys())
def test_scores_that_rise_and_fall_are_not_written(tmp_path, results):
    with pytest.raises(ValueError, match="scores rise in one place and fall in another"):
        save_run(results, tmp_path / "run")


def test_scores_against_the_order_are_stepped_down_where_the_direction_is_known(reread):
    results = Results({"q1": scored(("a", 0.1), ("b", 0.9), ("c", 0.5))}, lower_is_better=False)
    assert in_trec_order(reread(results)) == {"q1": ["a", "b", "c"]}


def test_a_nan_score_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="NaN"):
        save_run({"q1": scored(("a", 1.0), ("b", float("nan")))}, tmp_path / "run")


def test_swapped_arguments_are_told(tmp_path):
    with pytest.raises(TypeError, match="results must be"):
        save_run(str(tmp_path / "run"), {"q1": hits("a")})
    with pytest.raises(TypeError, match="all_qa must be"):
        save_qrels(str(tmp_path / "qrels"), [query(["a"])])


# Ids that a file of TREC's form would give back as others.
UNSEEN_IDS = ["a ", " a", "a\xa0", "\ufeffa", "a\x1f", "a\x85b", "a\tb", "a\nb", "a\r", "\r\na"]
# Those that no file can hold.
LOST_IDS = ["a\ud83d", "a\0", ""]


def refused_and_the_old_file_stays(path, doc_id, said):
    path.write_text("the old file")
    for save, thing in ((save_qrels, [query([doc_id])]), (save_run, {"q1": hits(doc_id)})):
        with pytest.raises(ValueError, match=said):
            save(thing, path)
    assert path.read_text() == "the old file"
    assert [other.name for other in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("doc_id", [*UNSEEN_IDS, *LOST_IDS], ids=ascii)
def test_an_id_that_would_come_back_as_another_is_refused_and_the_old_file_stays(tmp_path, doc_id):
    said = r"white space or a character that is not seen.*\.csv"
    refused_and_the_old_file_stays(tmp_path / "qrels.txt", doc_id, said)


@pytest.mark.parametrize("name", ["table.csv", "table.tsv"])
@pytest.mark.parametrize("doc_id", LOST_IDS, ids=ascii)
def test_an_id_that_no_file_can_hold_is_refused_and_the_old_file_stays(tmp_path, doc_id, name):
    refused_and_the_old_file_stays(
        tmp_path / name, doc_id, "is empty, or holds NUL or half a character"
    )


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    save_run({"q1": hits("a")}, tmp_path / "run")
    old = (tmp_path / "run").read_bytes()

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="cannot be written: No space left on device"):
        save_run({"q1": hits("b")}, tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_path_that_no_file_can_have_is_not_written():
    with pytest.raises(ValueError, match="too long, or holds"):
        save_run({"q1": hits("a")}, "run\ud83d")


def test_a_folder_is_not_written_over(tmp_path):
    with pytest.raises(IsADirectoryError, match="Give the path of a file"):
        save_run({"q1": hits("a")}, tmp_path)


def test_a_file_in_a_folder_that_is_not_found_is_not_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot be written: No such file"):
        save_run({"q1": hits("a")}, tmp_path / "nowhere" / "run")


# ---------------------------------------------------------------- round trips of runs


@pytest.mark.parametrize("name", ["saved.run", "saved.run.gz"])
def test_scores_come_back_to_the_last_bit(reread, name):
    run = reread({"q1": scored(("a", 1 / 3), ("b", 0.1 + 0.2), ("c", -1e-30))}, name)
    assert rows(run) == [("q1", "a", 1 / 3), ("q1", "b", 0.1 + 0.2), ("q1", "c", -1e-30)]


def test_the_name_comes_back(tmp_path):
    save_run({"q1": hits("a")}, tmp_path / "run", name="모델-1")
    assert load_run(tmp_path / "run").attrs["name"] == "모델-1"


@pytest.mark.parametrize("name", ["saved.run", "saved.run.gz"])
@pytest.mark.parametrize("strange", STRANGE_IDS)
def test_ids_come_back(reread, strange, name):
    run = reread({strange: hits(strange, "other")}, name)
    assert rows(run) == [(strange, strange, 2.0), (strange, "other", 1.0)]


def test_integer_ids_come_back_as_texts(reread):
    assert rows(reread({1: hits(20, 3)})) == [("1", "20", 2.0), ("1", "3", 1.0)]


def test_the_only_document_may_be_called_0(reread):
    assert rows(reread({"q1": hits("0"), "q2": hits("0")})) == [("q1", "0", 1.0), ("q2", "0", 1.0)]


def test_a_run_that_was_read_can_be_written(reread, write):
    assert sorted(rows(reread(load_run(write(RUN))))) == RUN_ROWS


def random_rankings(rng):
    """Rankings of one kind of scores: falling, tied, closer than float32 tells, distances, none."""
    kind = rng.choice(["falling", "ties", "all equal", "close", "zeros", "distances", "none"])
    draw = {
        "falling": lambda: rng.uniform(-5, 100),
        "ties": lambda: rng.choice([0.25, 0.5, 1.0, -3.0]),
        "all equal": lambda: 0.7,
        "close": lambda: 1 + rng.randint(0, 50) * 1e-10,
        "zeros": lambda: rng.choice([0.0, -0.0, 1e-45, -1e-45]),
        "distances": lambda: rng.choice([0.1, 0.2, rng.random()]),
        "none": lambda: None,
    }[kind]
    results = {}
    for query_id in ("q1", "q2", "질문3"):
        docs = rng.sample(
            [*(f"d{i}" for i in range(12)), "문서1", "문서10", "é", "Z"], rng.randint(1, 12)
        )
        values = [draw() for _ in docs]
        if kind != "none":
            values.sort(reverse=kind != "distances")
        results[query_id] = [
            {"doc_id": doc_id} if value is None else {"doc_id": doc_id, "score": value}
            for doc_id, value in zip(docs, values, strict=True)
        ]
    return results


def test_the_order_of_random_rankings_comes_back(reread):
    rng = random.Random(5)
    for _ in range(60):
        results = random_rankings(rng)
        expected = {
            query_id: [hit["doc_id"] for hit in ranking] for query_id, ranking in results.items()
        }
        assert in_trec_order(reread(results)) == expected


def test_random_rankings_have_the_same_values_when_read_back(reread):
    rng = random.Random(6)
    for _ in range(20):
        results = random_rankings(rng)
        all_qa = [
            query({f"d{i}": rng.randint(0, 3) for i in range(12)} | {"Z": 1}, q) for q in results
        ]
        pd.testing.assert_frame_equal(
            per_query(all_qa, reread(results)), per_query(all_qa, results)
        )


def test_random_rankings_have_the_same_order_for_trec_eval(tmp_path):
    rng = random.Random(7)
    for _ in range(20):
        results = random_rankings(rng)
        save_run(results, tmp_path / "run")
        with open(tmp_path / "run", encoding="utf-8") as file:
            run = pytrec_eval.parse_run(file)
        for query_id, ranking in results.items():
            for rank, hit in enumerate(ranking, start=1):
                evaluator = pytrec_eval.RelevanceEvaluator(
                    {query_id: {hit["doc_id"]: 1}}, {"recip_rank"}
                )
                assert evaluator.evaluate(run)[query_id]["recip_rank"] == pytest.approx(
                    1 / rank, abs=1e-15
                )


@pytest.fixture(scope="module")
def searched(embeddings):
    """Results of a search, whose scores are distances, with a tie at every rank."""
    texts = ["어텐션 메커니즘", "문서 청킹", "벡터 검색", "토큰화"]
    docs = [
        {"doc_id": f"문서{i}", "title": "", "content": texts[i // 2]} for i in range(8)
    ]  # each text twice
    all_qa = [
        {
            "query_id": f"질문{i}",
            "question": text,
            "relevant_doc_ids": {f"문서{2 * i + 1}": 2, f"문서{i}": 1},
        }
        for i, text in enumerate(texts)
    ]
    return all_qa, search_all(build_vectorstore(docs, embeddings), all_qa, k=6)


@pytest.mark.parametrize("name", ["saved.run", "saved.run.gz"])
def test_distances_of_a_search_keep_their_order(reread, searched, name):
    _, results = searched
    expected = {
        query_id: [hit["doc_id"] for hit in ranking] for query_id, ranking in results.items()
    }
    assert in_trec_order(reread(results, name)) == expected


def test_a_search_has_the_same_values_when_read_back(reread, searched):
    all_qa, results = searched
    ks = range(1, 7)
    pd.testing.assert_frame_equal(
        per_query(all_qa, reread(results), ks), per_query(all_qa, results, ks), rtol=0
    )


def test_the_table_of_a_search_is_written_as_the_search_is(run_text, searched):
    _, results = searched
    assert run_text(results.to_frame()) == run_text(results)


def test_the_table_of_a_search_without_rank_is_not_written_backwards(tmp_path, searched):
    _, results = searched
    with pytest.raises(ValueError, match="scores are distances"):  # as evaluate says
        save_run(results.to_frame().drop(columns="rank"), tmp_path / "run")


def unscored():
    return Results(
        {"q1": [{"doc_id": doc_id, "title": "", "content": ""} for doc_id in "cab"]}, k=3
    )


def test_results_of_a_retriever_keep_their_order(reread):
    assert in_trec_order(reread(unscored())) == {"q1": ["c", "a", "b"]}


def test_the_table_of_a_retriever_keeps_its_order(reread):
    assert in_trec_order(reread(unscored().to_frame())) == {"q1": ["c", "a", "b"]}


def test_infinite_scores_come_back_in_order(reread):
    results = {"q1": scored(("a", float("inf")), ("b", 0.5), ("c", float("-inf")))}
    assert in_trec_order(reread(results)) == {"q1": ["a", "b", "c"]}


def test_a_table_by_rank_keeps_its_order(reread):
    table = pd.DataFrame(
        {"query_id": ["q1", "q2", "q1"], "doc_id": ["b", "x", "a"], "rank": [2, 1, 1]}
    )
    assert in_trec_order(reread(table)) == {"q1": ["a", "b"], "q2": ["x"]}


def test_a_table_by_score_keeps_its_order(reread):
    table = pd.DataFrame(
        {"query_id": ["q1", "q2", "q1"], "doc_id": ["b", "x", "a"], "score": [0.1, 1.0, 0.9]}
    )
    assert in_trec_order(reread(table)) == {"q1": ["a", "b"], "q2": ["x"]}


TIES = {
    "texts": pd.DataFrame({"query_id": "q1", "doc_id": ["d1", "d10", "d2"], "score": 0.5}),
    "categories": pd.DataFrame(
        {
            "query_id": "q1",
            "doc_id": pd.Categorical(["a", "b", "c"], categories=["c", "a", "b"]),
            "score": 0.5,
        }
    ),
    "integers": pd.DataFrame({"query_id": 1, "doc_id": [10, 9, 100], "score": 0.5}),
}


@pytest.mark.parametrize("table", TIES.values(), ids=TIES.keys())
def test_ties_of_a_table_come_back_in_the_order_that_the_metrics_use(reread, table):
    docs, query_id = table["doc_id"].tolist(), table["query_id"].iloc[0]
    before = [mrr([query([doc_id], query_id)], table, ks=3).iloc[0, 0] for doc_id in docs]
    run = reread(table)
    after = [mrr([query([str(doc_id)], str(query_id))], run, ks=3).iloc[0, 0] for doc_id in docs]
    assert after == before


# ---------------------------------------------------------------- round trips of judgements

ALL_QA = [query({"d1": 3, "d2": 0, "d3": -1}, "q1"), query(["d2"], "q2")]
JUDGED = [("q1", "d1", 3.0), ("q1", "d2", 0.0), ("q1", "d3", -1.0), ("q2", "d2", 1.0)]
qrels_names = pytest.mark.parametrize(
    "name", ["qrels.txt", "qrels.txt.gz", "test.tsv", "test.tsv.gz"]
)


@qrels_names
def test_judgements_come_back(rejudged, name):
    assert rows(rejudged(ALL_QA, name)) == JUDGED


@qrels_names
@pytest.mark.parametrize("strange", STRANGE_IDS)
def test_ids_of_judgements_come_back(rejudged, strange, name):
    assert rows(rejudged([query([strange], strange)], name)) == [(strange, strange, 1.0)]


@qrels_names
def test_judgements_that_were_read_can_be_written(rejudged, write, name):
    assert rows(rejudged(load_qrels(write(QRELS)), name)) == QRELS_ROWS


@qrels_names
def test_the_only_relevant_document_may_be_called_0(rejudged, name):
    assert rows(rejudged([query(["0"], "q1"), query(["0"], "q2")], name)) == [
        ("q1", "0", 1.0),
        ("q2", "0", 1.0),
    ]


@qrels_names
def test_judgements_have_the_same_values_when_read_back(rejudged, name):
    results = {"q1": hits("d2", "d1"), "q2": hits("d1", "d2")}
    pd.testing.assert_frame_equal(
        per_query(rejudged(ALL_QA, name), results), per_query(ALL_QA, results)
    )


def test_judgements_are_written_in_trecs_form(tmp_path):
    save_qrels(ALL_QA, tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 d1 3\nq1 0 d2 0\nq1 0 d3 -1\nq2 0 d2 1\n"


def test_judgements_are_written_in_beirs_form_to_a_tsv(tmp_path):
    save_qrels(ALL_QA, tmp_path / "test.tsv")
    assert (
        tmp_path / "test.tsv"
    ).read_text() == HEADER + "q1\td1\t3\nq1\td2\t0\nq1\td3\t-1\nq2\td2\t1\n"


def test_ids_with_spaces_come_back_from_a_tsv(rejudged):
    assert rows(rejudged([query(["문서 1"], "q 1")], "test.tsv")) == [("q 1", "문서 1", 1.0)]


# ---------------------------------------------------------------- tables with a header

TABLES = pytest.mark.parametrize("name", ["table.csv", "table.tsv", "table.csv.gz"])
ANY_IDS = ["학칙 안내.pdf", "a,b", 'say "no"', '"whole"', '"', "'", *UNSEEN_IDS, *STRANGE_IDS]


@TABLES
@pytest.mark.parametrize("strange", ANY_IDS, ids=ascii)
def test_a_table_of_a_run_holds_any_id(reread, strange, name):
    run = reread({strange: scored((strange, 1 / 3), ("other", -1e-30)), "q": hits("a")}, name)
    assert rows(run) == [(strange, strange, 1 / 3), (strange, "other", -1e-30), ("q", "a", 1.0)]


@TABLES
@pytest.mark.parametrize("strange", ANY_IDS, ids=ascii)
def test_a_table_of_judgements_holds_any_id(rejudged, strange, name):
    all_qa = [query({strange: 2, "other": 0}, strange), query([strange], "q")]
    assert rows(rejudged(all_qa, name)) == [
        (strange, strange, 2.0),
        (strange, "other", 0.0),
        ("q", strange, 1.0),
    ]


def test_a_table_of_a_run_can_be_read_by_pandas(tmp_path):
    save_run({"q 1": scored(("학칙 안내.pdf", 0.5))}, tmp_path / "run.csv", name="my run")
    assert pd.read_csv(tmp_path / "run.csv").to_dict("records") == [
        {"query_id": "q 1", "doc_id": "학칙 안내.pdf", "rank": 1, "score": 0.5, "name": "my run"}
    ]
    assert load_run(tmp_path / "run.csv").attrs == {"name": "my run"}


def test_columns_of_a_table_may_stand_in_any_order(write):
    assert rows(load_run(write("score,doc_id,query_id\n0.5,d1,q1\n", "x.csv"))) == [
        ("q1", "d1", 0.5)
    ]
    for header in ("score\tquery-id\tcorpus-id\n", "label\tquery_id\tdoc_id\n"):
        assert rows(load_qrels(write(f"{header}2\tq1\td1\n", "x.tsv"))) == [("q1", "d1", 2.0)]


@pytest.mark.parametrize(
    ("load", "content", "why"),
    [
        (load_run, "qid,docno\nq1,d1\n", "line 1: a header with query_id, doc_id, score.*found qid"),
        (load_run, "q1 Q0 d1 1 0.5 s\n", "line 1: a header with query_id"),
        (load_run, "query_id,doc_id,score\n", "no hit, only a header"),
        (load_run, "query_id,doc_id,score\nq1,d1\n", "line 2: 3 fields were wanted, found 2"),
        (load_run, "query_id,doc_id,score\nq1,,1\n", "line 2: 3 fields were wanted, found an empty"),
        (load_run, 'query_id,doc_id,score\nq1,"d1,1\n', "line 2: not CSV.*Fix the quotes"),
        (load_run, "query_id,doc_id,score\nq1,d1,x\n", "line 2: the score 'x' is not a number"),
        (load_qrels, "query_id,doc_id\nq1,d1\n", "a header with query_id, doc_id, relevance"),
        (load_qrels, "query_id,doc_id,rel,Rel\nq1,d1,1,1\n", "which column holds the relevance"),
    ],
)  # fmt: skip
def test_a_broken_table_is_refused(write, load, content, why):
    with pytest.raises(ValueError, match=why):
        load(write(content, "table.csv"))


# ---------------------------------------------------------------- the wrong file, the wrong loader


@loaders
@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"PAR1\x15\x04\xff", "a Parquet file.*pandas"),
        (b"ARROW1\0\0\xff", "an Arrow file. Save it as Parquet or CSV"),
        (b"PK\x03\x04\x14\0\xff", "a zip, as Excel's .xlsx is.*pandas"),
        (b"SQLite format 3\0\x10\xff", "an SQLite database"),
        (b"%PDF-1.7\n\xff", "a PDF"),
        (b"\x93NUMPY\xff\xff", "is not UTF-8.*if it is a text at all"),
        ("질문".encode("utf-16"), "is not UTF-8.*it is UTF-16.*encoding='utf-16'"),
        ("질문".encode("cp949"), "is not UTF-8.*it is CP949.*encoding='cp949'"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_called_by_its_name(write, load, start, kind):
    with pytest.raises(ValueError, match=kind):
        load(write(start))


@loaders
@pytest.mark.parametrize(
    "text", ['{"query_id": "q", "question": "x", "relevant_doc_ids": ["a"]}\n', '{"q1": {"d1": 1}}']
)
def test_json_is_not_taken_for_a_run(write, load, text):
    with pytest.raises(ValueError, match=r"holds JSON.*load_dataset\(folder\).*json\.loads"):
        load(write(text, "q.jsonl"))


@loaders
def test_csv_under_another_name_is_told(write, load):
    with pytest.raises(ValueError, match=r"It looks like CSV, whose name must end in \.csv"):
        load(write("query_id,doc_id,score\nq1,d1,1\n"))


@loaders
def test_a_packed_file_that_is_not_called_so_is_told(write, load):
    with pytest.raises(ValueError, match=r"packed with gzip. Name it .gz"):
        load(write(gzip.compress(RUN.encode()), "run"))


def test_trec_judgements_with_tabs_and_blanks_mixed_keep_their_ids(write):
    mixed = "1\t 0 31715818\t1\n2\t0\t5\t1\n"
    assert rows(load_qrels(write(mixed, "q.tsv"))) == [("1", "31715818", 1.0), ("2", "5", 1.0)]


# ---------------------------------------------------------------- judgements, once more


def test_a_query_without_a_judgement_is_named(tmp_path):
    with pytest.warns(UserWarning, match="not written.*q9"):
        save_qrels([*ALL_QA, query([], "q9")], tmp_path / "qrels.txt")


def test_a_large_grade_comes_back(rejudged):
    assert rows(rejudged([query({"d1": 1e20})])) == [("q1", "d1", 1e20)]


def test_a_fraction_for_a_grade_is_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"whole numbers, found 0\.5"):
        save_qrels([query({"d1": 0.5})], tmp_path / "qrels.txt")


# ---------------------------------------------------------------- against pytrec, and many lines


@pytest.fixture(scope="module")
def random_files(tmp_path_factory):
    """A run (tabs and spaces) and judgements (tabs) with ties and odd ids."""
    rng = random.Random(11)
    folder = tmp_path_factory.mktemp("random")
    docs = [*(f"d{i}" for i in range(40)), *STRANGE_IDS]
    run, qrels = [], []
    for query_id in [*(f"q{i}" for i in range(40)), *STRANGE_IDS]:
        for rank, doc_id in enumerate(rng.sample(docs, 25), start=1):
            blank = rng.choice([" ", "\t", "  "])
            run.append(
                blank.join([query_id, "Q0", doc_id, str(rank), repr(rng.randint(-40, 40) / 8), "s"])
            )
        for doc_id in rng.sample(docs, 10):
            qrels.append("\t".join([query_id, "0", doc_id, str(rng.randint(-1, 3))]))
    rng.shuffle(run)
    (folder / "run").write_text("\n".join(run) + "\n", encoding="utf-8")
    (folder / "qrels").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return folder / "run", folder / "qrels"


def read_by_pytrec(run_path, qrels_path):
    with open(run_path, encoding="utf-8") as run, open(qrels_path, encoding="utf-8") as qrels:
        return pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)


def nested(table):
    """query_id -> doc_id -> value."""
    return {
        query_id: dict(rows(of_query.iloc[:, 1:]))
        for query_id, of_query in table.groupby("query_id")
    }


def test_a_run_is_what_pytrec_reads(random_files):
    run, _ = read_by_pytrec(*random_files)
    assert nested(load_run(random_files[0])) == run


def test_qrels_are_what_pytrec_reads(random_files):
    _, qrels = read_by_pytrec(*random_files)
    assert nested(load_qrels(random_files[1])) == qrels


@pytest.mark.parametrize(
    ("metric", "measure"), [("nDCG", "ndcg_cut"), ("Recall", "recall"), ("Precision", "P")]
)
def test_values_of_files_are_those_of_pytrec(random_files, metric, measure):
    run, qrels = read_by_pytrec(*random_files)
    expected = pytrec_eval.RelevanceEvaluator(qrels, {f"{measure}.5,20"}).evaluate(run)
    table = per_query(
        load_qrels(random_files[1]), load_run(random_files[0]), ks=(5, 20), no_relevant="zero"
    )
    for k in (5, 20):
        theirs = [expected[query_id][f"{measure}_{k}"] for query_id in table.index]
        np.testing.assert_allclose(table[f"{metric}@{k}"], theirs, rtol=0, atol=1e-12)


def test_50_000_lines_of_a_run_load(write):
    path = write(
        "".join(
            f"q{i // 100} Q0 d{i % 9973} {i % 100 + 1} {100 - i % 100} s\n" for i in range(50_000)
        )
    )
    assert len(load_run(path)) == 50_000


def test_50_000_lines_of_qrels_load(write):
    path = write(HEADER + "".join(f"q{i // 100}\td{i % 9973}\t{i % 3}\n" for i in range(50_000)))
    assert len(load_qrels(path)) == 50_000
