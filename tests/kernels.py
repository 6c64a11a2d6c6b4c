"""Kernels that start at once: forked from a process that has imported what the notebooks import.

Importing and reading the model's weights is most of what a short notebook costs, and is the same
for all. The kernel itself is ipykernel's own.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

import rageval_kit as kit
from rageval_kit import local_embeddings
from rageval_kit.documents import text_of

IS_POSSIBLE = hasattr(os, "fork")


# ------------------------------------------------------------------------- the nursery, by itself


class Remembering:
    """The default model, which embeds a text of the campus once for all kernels."""

    def __init__(self, model):
        self.model, self.vectors = model, {}

    def remember(self, texts):
        self.vectors |= zip(texts, self.model.encode(texts), strict=True)

    def encode(self, texts):
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        vectors = self.vectors | dict(zip(new, self.model.encode(new) if new else [], strict=True))
        return np.array([vectors[text] for text in texts])


def nursery():
    """Import everything, then fork a kernel for every order that comes in."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel sets it
    for name in (
        "ipykernel.ipkernel",
        "matplotlib.pyplot",
        "scipy.stats",
        "langchain_classic.embeddings",
    ):
        import_module(name)
    for name in kit.__all__:
        getattr(kit, name)
    model = Remembering(local_embeddings._sentence_encoder())
    model.encode(["warm"])
    local_embeddings._sentence_encoder = lambda: model

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever has ended is forgotten
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if not model.vectors and Path(order["folder"]).name in ("ko", "en"):  # a first lecture
            for language in ("ko", "en"):
                docs, all_qa = kit.load_dataset(kit.data_folder("campus", language))
                model.remember([text_of(doc) for doc in docs] + [qa["question"] for qa in all_qa])
        pid = os.fork()
        if not pid:
            become_kernel(**order)
        os.setpgid(pid, pid)  # before anyone may end its group, which was ours
        print(pid, flush=True)


def become_kernel(arguments, folder, environment):
    """Run ipykernel in this process, as ``python -m ipykernel_launcher`` would."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    pd.set_option(
        "display.max_columns", 20
    )  # imported outside a kernel, pandas is as in a terminal
    from ipykernel.kernelapp import launch_new_instance

    try:
        sys.argv[1:] = arguments
        launch_new_instance()
    finally:
        os._exit(0)


# --------------------------------------------------------------------- the process that asks for it


@cache
def the_nursery():
    command = [sys.executable, __file__]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    atexit.register(process.stdin.close)
    assert process.stdout.readline() == "ready\n"
    return process


class ForkedKernel:
    """What jupyter_client asks of the process of a kernel: a part of `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command, env, cwd, **_):
        order = {"arguments": command[3:], "folder": str(cwd), "environment": dict(env)}
        process = the_nursery()
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        self.pid = int(process.stdout.readline())

    def poll(self):
        """None while it lives, else 0."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self):
        return self.poll()

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    nursery()
