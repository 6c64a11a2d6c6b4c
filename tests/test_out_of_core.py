"""More hits than memory: Dask scores a partition of the judgements at a time, and finds what one call finds."""

import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, caught
from pandas.testing import assert_frame_equal

from rageval_kit import per_query

dask = pytest.importorskip("dask", reason="needs the extra dask")
pytest.importorskip("pyarrow", reason="needs the extra dask")
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
from out_of_core import KS, score, score_all, write  # noqa: E402

N_QUERIES, N_HITS, IN_A_FILE = 1_200, 20, 250


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A run and judgements in five files each: q00000000 and q00001000 find nothing, q00000500 has no relevant."""
    folder = tmp_path_factory.mktemp("written")
    write(folder, N_QUERIES, N_HITS, IN_A_FILE)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """The same, to be changed."""
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


def rewrite(folder, name, tables):
    """Put these tables in place of the files of the run or the judgements."""
    for file in Path(folder, name).iterdir():
        file.unlink()
    for number, table in enumerate(tables):
        table.to_parquet(Path(folder, name, f"part-{number}.parquet"), index=False)


@pytest.fixture
def by_dask(folder):
    """A function: what Dask makes of the folder, without the warnings of its partitions."""

    def compute(scheduler="sync"):
        with warnings.catch_warnings(), dask.config.set(scheduler=scheduler, num_workers=2):
            warnings.simplefilter("ignore")
            return score_all(folder).compute()

    return compute


@pytest.fixture
def at_once(folder):
    """The table of one call with everything in memory."""
    run, qrels = (pd.read_parquet(folder / name) for name in ("run", "qrels"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return per_query(qrels, run, ks=KS)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_dask_finds_what_one_call_finds(by_dask, at_once, scheduler):
    assert len(at_once) == N_QUERIES
    assert_frame_equal(by_dask(scheduler), at_once, rtol=0, atol=1e-12)


def test_a_query_that_found_nothing_is_not_lost(by_dask):
    table = by_dask()
    assert table.loc[["q00000000", "q00001000"]].to_numpy().max() == 0
    assert table.loc["q00000500"].isna().all()
    assert table.notna().sum().unique() == [N_QUERIES - 1]


def test_the_run_may_lie_in_any_order_and_in_any_files(folder, by_dask, at_once):
    run = pd.read_parquet(folder / "run").sample(frac=1, random_state=1)
    rewrite(folder, "run", [run.iloc[start::3] for start in range(3)])
    assert_frame_equal(by_dask(), at_once, rtol=0, atol=1e-12)


def test_a_query_that_is_judged_in_two_partitions_is_refused_by_name(folder):
    qrels = pd.read_parquet(folder / "qrels")
    cut = np.flatnonzero(qrels["query_id"] == "q00000250")[3]
    rewrite(folder, "qrels", [qrels.iloc[:cut], qrels.iloc[cut:]])
    with pytest.raises(ValueError, match=r"1 quer.*q00000250.*two rows"):
        score_all(folder)


def test_hits_of_a_query_that_nobody_judged_are_named(folder):
    qrels = pd.read_parquet(folder / "qrels").query("'q00000001' <= query_id < 'q00000100'")
    judged = qrels[qrels["query_id"] != "q00000007"]
    (said,) = caught(lambda: score(judged, folder / "run"))
    assert "not in all_qa" in said
    assert "q00000007" in said
