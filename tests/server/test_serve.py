"""`shashki serve`: its messages, what it answers over a socket, and how it ends."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from pathlib import Path
from time import sleep
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from paths import ROOT

from server.serving import MAX_RECEIVING, STOP_SECONDS, AddressError, reserve_address, url_of

FEN = "W:WKa1,Ke1,c3:BKb8"
FROM_A_TERMINAL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
Start = Callable[..., tuple[subprocess.Popen[str], int]]


@pytest.fixture
def start(tables4: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server with options; its process, and its port."""
    monkeypatch.setenv("SHASHKI_COMPILED", "no")  # loading kernels takes a second or two
    with ExitStack() as stack:

        def start(*options: str, before: Sequence[str] = ()) -> tuple[subprocess.Popen[str], int]:
            code = "import sys; from tablebase.cli.main import main; sys.exit(main())"
            argv = [sys.executable, "-c", code, "serve", "--port", "0", "--data", str(tables4), *options]
            pipe = subprocess.PIPE
            process = stack.enter_context(
                subprocess.Popen(
                    [*before, *argv], stdout=pipe, stderr=pipe, text=True, start_new_session=True
                )
            )
            stack.callback(process.terminate)  # killed, it would leave behind the processes that answer
            return process, announced_port(process, tables4)

        yield start


def announced_port(process: subprocess.Popen[str], tables: Path) -> int:
    """The port on which a server says that it serves these tables."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{tables} holds all positions of up to 4 pieces.\n"
    match = re.fullmatch(r"Serving at http://127\.0\.0\.1:(\d+)/ .*\n", process.stdout.readline())
    assert match is not None
    return int(match[1])


def ended(process: subprocess.Popen[str], how: signal.Signals) -> str:
    """End it by a signal to its main process alone; return what it has written to stderr."""
    process.send_signal(how)
    return ended_log(process)


def ended_as_by_a_terminal(process: subprocess.Popen[str], how: signal.Signals) -> str:
    """End it by a signal to all its processes at once; return what it has written to stderr."""
    os.killpg(process.pid, how)
    return ended_log(process)


def ended_log(process: subprocess.Popen[str]) -> str:
    _, log = process.communicate(timeout=STOP_SECONDS / 2)  # after STOP_SECONDS, its workers are killed
    assert process.returncode == 0
    assert "Traceback" not in log
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # no worker is left
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


def test_metrics_are_summed_over_processes(start: Start) -> None:
    process, port = start("--workers", "2")
    for _ in range(12):
        with urlopen(f"http://127.0.0.1:{port}/v1/position?fen={quote(FEN)}") as response:
            assert json.load(response)["dtw"] == 31
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        text = response.read().decode()
    assert 'shashki_requests_total{method="GET",route="/v1/position",status="200"} 12.0' in text
    assert "shashki_positions_total 12.0" in text
    assert ended(process, signal.SIGTERM) == ""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", FROM_A_TERMINAL)
def test_ctrl_c_to_all_processes_stops_server(start: Start, how: signal.Signals, workers: int) -> None:
    process, _ = start("--workers", str(workers))
    assert ended_as_by_a_terminal(process, how) == ""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", FROM_A_TERMINAL)
def test_open_connection_does_not_delay_stop(start: Start, how: signal.Signals, workers: int) -> None:
    process, port = start("--workers", str(workers))
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        assert ended_as_by_a_terminal(process, how) == ""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", FROM_A_TERMINAL)
def test_stop_under_load_completes_responses(start: Start, how: signal.Signals, workers: int) -> None:
    process, port = start("--workers", str(workers))

    def ask_until_it_ends() -> int:
        answers = 0
        while True:
            connection = HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                connection.request("GET", f"/v1/position?fen={quote(FEN)}")
                response = connection.getresponse()
            except (ConnectionError, RemoteDisconnected):
                return answers  # not accepted any more
            with closing(connection):
                assert json.loads(response.read())["dtw"] == 31
            answers += 1

    with ThreadPoolExecutor(8) as clients:
        answers = [clients.submit(ask_until_it_ends) for _ in range(8)]
        sleep(0.5)
        assert ended_as_by_a_terminal(process, how) == ""
        assert sum(each.result() for each in answers) > 0


@pytest.mark.skipif(shutil.which("nohup") is None, reason="no nohup")
def test_nohup_ignores_sighup(start: Start) -> None:
    process, port = start("--workers", "2", before=["nohup"])
    os.killpg(process.pid, signal.SIGHUP)
    sleep(0.5)
    with urlopen(f"http://127.0.0.1:{port}/health") as response:
        assert response.status == 200
    assert ended(process, signal.SIGTERM) in ("", "nohup: ignoring input\n")


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize("how", FROM_A_TERMINAL)
def test_make_serve_ends_with_its_server(
    how: signal.Signals, tables4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHASHKI_COMPILED", "no")
    command = tmp_path / "bin" / "shashki"
    command.parent.mkdir()
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom tablebase.cli.main import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    (tmp_path / ".installed").touch()
    argv = ["make", "--silent", "serve", f"VENV={tmp_path}", f"DATA={tables4}", "PORT=0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        argv,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as make:
        announced_port(make, tables4)
        os.killpg(make.pid, how)
        make.communicate(timeout=STOP_SECONDS / 2)  # returns when every process has closed its output


def test_invalid_http_is_refused_without_html(start: Start) -> None:
    _, port = start()
    for request, status in (
        (b"GET /v1/position?fen=" + b"W" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
        (b'GET "<b>" nonsense\r\n\r\n', 400),
        (b"\x16\x03\x01\x02\x00", 400),
    ):
        assert answer_to(request, port) == (status, b"")


def test_chunked_body_has_the_same_limit(start: Start) -> None:
    _, port = start()
    head = (
        b"POST /v1/game HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    status, body = answer_to(head + chunk + chunk + b"1\r\nx\r\n0\r\n\r\n", port)
    assert (status, json.loads(body)["status"]) == (413, 413)
    assert answer_to(head + b"8\r\n1. c3-d4\r\n0\r\n\r\n", port)[0] == 200


def test_incomplete_bodies_do_not_block_other_requests(start: Start) -> None:
    _, port = start()
    head = b"POST /v1/game HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n"
    with ExitStack() as open_ones:
        slow = [
            open_ones.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(MAX_RECEIVING)
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
            reserve_address("127.0.0.1", port),
        ):
            pass
    with reserve_address("127.0.0.1", 0) as (host, port):
        assert url_of(host, port) == f"http://127.0.0.1:{port}/"


def test_an_address_of_another_machine_is_refused() -> None:
    # 192.0.2.0/24 is kept for documentation: no machine has an address of it.
    with (
        pytest.raises(AddressError, match=r"192\.0\.2\.1:8000: this is not an address of this machine"),
        reserve_address("192.0.2.1", 8000),
    ):
        pass


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_of_ipv6() -> None:
    try:
        with reserve_address("::1", 0) as (host, port):
            assert re.fullmatch(r"http://\[::1\]:\d+/", url_of(host, port))
    except AddressError:
        pytest.skip("this machine has no IPv6 address")
