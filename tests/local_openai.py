"""A server on this machine that speaks OpenAI's protocol, for embeddings and chat, and keeps what it was sent."""

import base64
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

KEY = "sk-a-key-that-nobody-may-see"


@contextmanager
def local_openai(monkeypatch):
    """Run the server, and let OpenAI's client find it and no proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with Server() as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server
        server.shutdown()
        thread.join()


class Server(ThreadingHTTPServer):
    """Keeps every request as (path, headers, body).

    ``refuse`` turns every request down for its key. ``replies`` are given to chat requests in turn: a text, an HTTP
    status to fail with, or a choice of the protocol as a dict; then it is "an answer" for ever. ``failures`` befall
    requests to embed in turn: an HTTP status, or one of `Handler.broken`. A text of more than ``longest`` characters,
    or a request of more than ``most`` in all, is refused; so is base64 unless ``base64``. ``turned`` is another model.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.replies = []
        self.failures = []
        self.longest = self.most = 10**9
        self.base64, self.turned = True, False
        self.refuse = False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def inputs(self):
        """What was to be embedded, request by request."""
        return [body["input"] for _, _, body in self.requests]

    @property
    def prompts(self):
        """The last message of each chat request."""
        return [body["messages"][-1]["content"] for _, _, body in self.requests]

    def handle_error(self, request, client_address):
        """Say nothing: a client that waits no longer has hung up."""


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers, body))
        if self.server.refuse:
            return self.fail(401, "Incorrect API key provided.", "invalid_api_key")
        if self.path == "/v1/embeddings":
            return self.embed(body)
        if self.path == "/v1/chat/completions":
            return self.chat(body)
        return self.fail(404, f"There is no {self.path} here.", "not_found")

    def embed(self, body):
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        failure = self.server.failures.pop(0) if self.server.failures else None
        if isinstance(failure, int):
            return self.fail(failure, f"Failure {failure}.", "failure")
        if max(map(len, texts)) > self.server.longest:
            return self.fail(400, "maximum context length is 8192 tokens.", "too_long")
        if sum(map(len, texts)) > self.server.most:
            return self.fail(400, "Requested 399936 tokens, max 300000 tokens per request.", "max")
        if body.get("encoding_format") == "base64" and not self.server.base64:
            return self.fail(400, "encoding_format base64 is not supported.", "no_base64")
        data = [
            {"object": "embedding", "index": index, "embedding": self.embedding(text, body)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        content = {"object": "list", "data": data, "model": body["model"], "usage": usage}
        return self.broken(failure, content) if failure else self.answer(200, content)

    def broken(self, failure, content):
        data = content["data"]
        if failure == "hang":
            time.sleep(1.5)
        if failure == "too few":
            del data[-1]
        if failure in ("NaN", "width", "zeros"):
            vector = {"NaN": [float("nan")] * 8, "width": [1.0] * 3, "zeros": [0.0] * 8}[failure]
            data[-1]["embedding"] = base64.b64encode(np.array(vector, np.float32)).decode()
        if failure == "cut JSON":
            return self.send(200, json.dumps(content).encode()[:40])
        return self.answer(200, content)

    def embedding(self, text, body):
        vector = np.bincount([ord(letter) % 8 for letter in str(text)], minlength=8).astype(
            np.float32
        )
        vector = vector[::-1] if self.server.turned else vector
        if body.get("encoding_format") == "base64":
            return base64.b64encode(vector.tobytes()).decode()
        return vector.tolist()

    def chat(self, body):
        reply = self.server.replies.pop(0) if self.server.replies else "an answer"
        if isinstance(reply, int):
            return self.fail(reply, "The server had an error.", "server_error")
        choice = reply if isinstance(reply, dict) else {"message": {"content": reply}}
        content = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": "stop"}
                | choice
                | {"message": {"role": "assistant"} | choice["message"]}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        return self.answer(200, content)

    def fail(self, status, message, code):
        self.answer(status, {"error": {"message": message, "type": code, "code": code}})

    def answer(self, status, content):
        self.send(status, json.dumps(content).encode())

    def send(self, status, data):
        self.send_response(status)
        self.send_header("Retry-After-Ms", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Keep pytest's output clean."""
