"""`shashki serve`: its messages, what it answers over a socket, and how it ends."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from time import sleep
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from server.serving import READING, AddressError, reserved, url_of

FEN = "W:WKa1,Ke1,c3:BKb8"
Start = Callable[..., tuple[subprocess.Popen[str], int]]


@pytest.fixture
def start(tables4: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server with options; its process, and its port."""
    monkeypatch.setenv("SHASHKI_COMPILED", "no")  # loading kernels takes a second or two
    with ExitStack() as stack:

        def start(*options: str) -> tuple[subprocess.Popen[str], int]:
            code = "import sys; from tablebase.cli import main; sys.exit(main())"
            argv = [sys.executable, "-c", code, "serve", "--port", "0", "--data", str(tables4), *options]
            pipe = subprocess.PIPE
            process = stack.enter_context(subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True))
            stack.callback(process.terminate)  # killed, it would leave behind the processes that answer
            assert process.stdout is not None
            assert process.stdout.readline() == f"{tables4} holds all positions of up to 4 pieces.\n"
            match = re.fullmatch(r"Serving at http://127\.0\.0\.1:(\d+)/ .*\n", process.stdout.readline())
            assert match is not None
            return process, int(match[1])

        yield start


def ended(process: subprocess.Popen[str], how: signal.Signals) -> str:
    """Ends it, and what it has written to stderr."""
    process.send_signal(how)
    _, log = process.communicate(timeout=40)
    assert process.returncode == 0
    assert "Traceback" not in log
    return log


def test_serve_answers_until_it_is_stopped(start: Start) -> None:
    process, port = start("--access-log")
    address = url_of("127.0.0.1", port)
    with urlopen(f"{address}v1/position?fen={quote(FEN)}") as response:
        assert json.load(response)["dtw"] == 31
    with urlopen(address) as response:
        assert response.headers.get_content_type() == "text/html"
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"{address}v1/nothing")
    log = ended(process, signal.SIGINT)
    assert '"GET /v1/nothing HTTP/1.1" 404' in log
    assert "\x1b" not in log


def test_requests_in_flight_are_answered_before_it_ends(start: Start) -> None:
    process, port = start()
    connection = HTTPConnection("127.0.0.1", port, timeout=40)
    body = json.dumps({"positions": [FEN] * 1000})
    with ThreadPoolExecutor(1) as thread:
        connection.request("POST", "/v1/positions", body, {"Content-Type": "application/json"})
        answer = thread.submit(connection.getresponse)
        sleep(0.3)
        assert not answer.done()
        assert ended(process, signal.SIGTERM) == ""
        response = answer.result()
    assert response.status == 200
    assert len(json.loads(response.read())["results"]) == 1000


def test_processes_answer_and_count_together(start: Start) -> None:
    process, port = start("--workers", "2")
    for _ in range(12):
        with urlopen(f"http://127.0.0.1:{port}/v1/position?fen={quote(FEN)}") as response:
            assert json.load(response)["dtw"] == 31
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        text = response.read().decode()
    assert 'shashki_requests_total{method="GET",route="/v1/position",status="200"} 12.0' in text
    assert "shashki_positions_total 12.0" in text
    assert ended(process, signal.SIGTERM) == ""


def test_what_is_no_request_is_refused_without_a_page(start: Start) -> None:
    _, port = start()
    for request, status in (
        (b"GET /v1/position?fen=" + b"W" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
        (b'GET "<b>" nonsense\r\n\r\n', 400),
        (b"\x16\x03\x01\x02\x00", 400),
    ):
        assert answer_to(request, port) == (status, b"")


def test_a_body_in_chunks_has_the_same_limit(start: Start) -> None:
    _, port = start()
    head = (
        b"POST /v1/game HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    status, body = answer_to(head + chunk + chunk + b"1\r\nx\r\n0\r\n\r\n", port)
    assert (status, json.loads(body)["status"]) == (413, 413)
    assert answer_to(head + b"8\r\n1. c3-d4\r\n0\r\n\r\n", port)[0] == 200


def test_bodies_that_do_not_come_keep_nobody_waiting(start: Start) -> None:
    _, port = start()
    head = b"POST /v1/game HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n"
    with ExitStack() as open_ones:
        slow = [
            open_ones.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(READING)
        ]
        for connection in slow:
            connection.sendall(head + b"1. ")
        sleep(1)
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=20) as response:
            assert response.status == 200
        status, body = answer_to(head + b"1. c3-d4 ", port)
        assert (status, json.loads(body)["status"]) == (503, 503)
        slow[0].sendall(b"c3-d4 ")
        answer = HTTPResponse(slow[0])
        answer.begin()
        assert answer.status == 200
        assert answer_to(head + b"1. c3-d4 ", port)[0] == 200


def answer_to(request: bytes, port: int) -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read()


def test_an_address_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(AddressError, match=rf"127\.0\.0\.1:{port}: another program .* --port"),
            reserved("127.0.0.1", port),
        ):
            pass
    with reserved("127.0.0.1", 0) as (host, port):
        assert url_of(host, port) == f"http://127.0.0.1:{port}/"


def test_an_address_of_another_machine_is_refused() -> None:
    # 192.0.2.0/24 is kept for documentation: no machine has an address of it.
    with (
        pytest.raises(AddressError, match=r"192\.0\.2\.1:8000: this is no address of this machine"),
        reserved("192.0.2.1", 8000),
    ):
        pass


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_of_ipv6() -> None:
    try:
        with reserved("::1", 0) as (host, port):
            assert re.fullmatch(r"http://\[::1\]:\d+/", url_of(host, port))
    except AddressError:
        pytest.skip("this machine has no IPv6 address")
