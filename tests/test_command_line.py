"""The command line: its options, its exit status, its check."""

import subprocess
import sys

import pandas as pd
import pytest
from conftest import ROOT

from rageval_kit.__main__ import main


def test_options_choose_data_embeddings_and_cutoffs(capsys):
    assert (
        main(["--data", str(ROOT / "data/lecture/en"), "--embeddings", "chars", "--ks", "1", "2"])
        == 0
    )
    printed = capsys.readouterr().out
    assert "HitRate@2" in printed
    assert "HitRate@3" not in printed


def test_out_writes_tables_and_figure(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "out")]) == 0
    summary = pd.read_csv(tmp_path / "out" / "summary.csv", index_col="metric")
    assert round(summary.loc["nDCG", "5"], 4) == 0.9898
    queries = pd.read_csv(tmp_path / "out" / "per_query.csv", index_col="query_id")
    assert round(queries.loc["q10", "nDCG@5"], 4) == 0.8772
    assert len(pd.read_csv(tmp_path / "out" / "results.csv")) == 60
    assert (tmp_path / "out" / "metrics.png").read_bytes().startswith(b"\x89PNG")


def test_cache_option_serves_the_second_run(tmp_path, capsys):
    for _ in range(2):
        assert main(["--cache", str(tmp_path / "results.sqlite")]) == 0
    assert "0 searched, 12 from the cache" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--data", "no_such_folder"], "corpus.jsonl is not there"),
        (["--embeddings", "use-multilingaul"], "Did you mean 'use-multilingual'?"),
        (["--ks", "0"], "positive integer"),
        (["--embeddings", "openai:text-embedding-3-small"], "OPENAI_API_KEY is not set"),
    ],
)
def test_mistake_is_a_sentence_and_status_1(arguments, says, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert says in captured.err
    assert "Traceback" not in captured.err


def test_broken_dataset_is_not_scored(tmp_path, capsys):
    (tmp_path / "corpus.jsonl").write_text('{"doc_id": "a", "title": "A", "content": "text"}\n')
    (tmp_path / "queries.jsonl").write_text(
        '{"query_id": "q", "question": "why?", "relevant_doc_ids": ["b"]}\n'
    )
    assert main(["--data", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "q -> b" in captured.out
    assert "Mean over" not in captured.out


def test_check_passes_here_and_hides_the_key(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
    assert main(["check"]) == 0
    printed = capsys.readouterr().out
    assert "[FAIL]" not in printed
    assert "OPENAI_API_KEY is set" in printed
    assert "sk-not" not in printed


def test_check_names_what_is_missing_with_its_cure(capsys, monkeypatch):
    monkeypatch.setattr("rageval_kit.setup_check.LECTURE", ROOT / "elsewhere")
    assert main(["check"]) == 1
    printed = capsys.readouterr().out
    assert "[FAIL] bundled data" in printed
    assert "Cure: run from a clone" in printed
    assert "1 of" in printed


def test_import_is_cheap():
    code = "import sys, rageval_kit; print([m for m in sys.modules if m.split('.')[0] in "
    code += "('langchain_core', 'langchain_community', 'faiss', 'matplotlib', 'scipy', 'sklearn')])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
