"""What writes files is killed at random moments: the short form of tests/benchmarks/kills.py."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_what_is_killed_leaves_a_whole_store_and_loses_no_more_than_a_batch():
    in_memory = {"TMPDIR": "/dev/shm"} if os.path.isdir("/dev/shm") else {}
    command = ROOT / "tests" / "benchmarks" / "kills.py"
    done = subprocess.run(
        [sys.executable, command, "--kills", "3", "--stages", "saving,asking,experimenting"],
        capture_output=True, text=True, timeout=300, check=False, env=os.environ | in_memory,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "saving" in done.stdout
