"""How many full answers a second the service gives over HTTP, by several servers, beside a route that does
nothing; needs `wrk`, and the servers to be compared.

Random positions of five pieces are asked for, each with all its moves, by `wrk` from the same machine, over
connections that are kept. Memory is that of all processes of a server, shared pages counted once, files that
are mapped left out; the time of processors for one request is theirs too, and hardly depends on what else the
machine does.

    python benchmarks/serving.py --data data --servers shashki,granian,gunicorn,waitress --seconds 20
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from flask import Flask

from tablebase.board.material import materials
from tablebase.board.position import Position
from tablebase.tables.index import sets_at

SCRIPT = """
local paths = {
%s
}
request = function() return wrk.format("GET", paths[math.random(#paths)]) end
done = function(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests": %%d, "seconds": %%f, "bytes": %%d, "failed": %%d, "p50": %%f, "p99": %%f, "max": %%f}',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
"""


def nothing() -> Flask:
    """An application with a route that does nothing."""
    app = Flask("nothing")
    app.add_url_rule("/nothing", "nothing", lambda: "{}")
    return app


def random_paths(count: int, pieces: int, seed: int) -> list[str]:
    random = Random(seed)
    slices = list(materials(pieces))
    chosen = random.choices(slices, [material.positions for material in slices], k=count)
    positions = [Position(*sets_at(each, random.randrange(each.positions))) for each in chosen]
    return [f"/v1/position?fen={quote(position.to_fen())}" for position in positions]


def command(server: str, app: str, port: int, args: argparse.Namespace) -> list[str]:
    """How a server is started with an application, `server.app:create_app` or `serving:nothing`."""
    workers, threads = str(args.workers), str(args.threads)
    match server:
        case "shashki":
            if app != "server.app:create_app":
                return command("granian", app, port, args)
            return ["shashki", "serve", "--data", args.data, "--port", str(port), "--workers", workers]
        case "granian":
            options = ["--workers", workers, "--blocking-threads", threads, "--port", str(port), "--no-log"]
            return ["granian", "--interface", "wsgi", "--factory", *options, app]
        case "gunicorn":
            options = ["--workers", workers, "--threads", threads, "--bind", f"127.0.0.1:{port}"]
            return ["gunicorn", *options, "--worker-class", "gthread", "--log-level", "error", f"{app}()"]
        case "waitress":
            return ["waitress-serve", "--threads", threads, f"--listen=127.0.0.1:{port}", "--call", app]
    raise SystemExit(f"there is no server {server}")


@contextmanager
def running(server: str, app: str, port: int, path: str, args: argparse.Namespace) -> Iterator[int]:
    """A server, answering; its process."""
    program, *options = command(server, app, port, args)
    environment = {**os.environ, "SHASHKI_DATA": args.data, "PYTHONPATH": str(Path(__file__).parent)}
    program = str(Path(sys.executable).parent / program)
    with (
        tempfile.TemporaryFile() as log,  # waitress has much to say
        subprocess.Popen(
            [program, *options], env=environment, stdout=log, stderr=log, start_new_session=True
        ) as process,
    ):
        try:
            for _ in range(600):
                try:
                    urlopen(f"http://127.0.0.1:{port}{path}").close()
                    break
                except URLError:
                    time.sleep(0.1)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def used(session: int) -> tuple[float, float]:
    """What all processes of a session use: memory in MB, and seconds of processors."""
    memory = ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session:
                memory += int((folder / "smaps_rollup").read_text().partition("\nPss_Anon:")[2].split()[0])
                ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:13]))
        except (OSError, IndexError):
            continue
    return memory / 1024, ticks / os.sysconf("SC_CLK_TCK")


def asked(paths: list[str], port: int, seconds: int, args: argparse.Namespace) -> dict[str, Any]:
    """What `wrk` measures: requests, seconds, bytes, failed; latencies in milliseconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT % ",\n".join(json.dumps(path) for path in paths))
        script.flush()
        options = [f"-t{args.clients}", f"-c{args.connections}", f"-d{seconds}s", "-s", script.name]
        done = subprocess.run(
            ["wrk", *options, f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True
        )
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    return dict(json.loads(line))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--servers", default="shashki")
    parser.add_argument("--workers", type=int, default=2, help="processes; waitress has one")
    parser.add_argument("--threads", type=int, default=4, help="of each process")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--clients", type=int, default=1, help="threads of wrk")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--warm", type=int, default=3, help="seconds before anything is measured")
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--positions", type=int, default=3000, help="how many different ones")
    parser.add_argument("--port", type=int, default=8140)
    args = parser.parse_args()
    paths = random_paths(args.positions, args.pieces, seed=1)
    print(
        "| server | what | requests/s | CPU ms | p50 ms | p99 ms | max ms | failed | MB before | MB after |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    port = args.port
    for server in args.servers.split(","):
        for what, app, these in (
            ("nothing", "serving:nothing", ["/nothing"]),
            ("position", "server.app:create_app", paths),
        ):
            port += 1
            with running(server, app, port, these[0], args) as process:
                asked(these, port, args.warm, args)
                before, began = used(process)
                told = asked(these, port, args.seconds, args)
                after, ended = used(process)
            cells = [f"{told['requests'] / told['seconds']:.0f}"]
            cells.append(f"{1000 * (ended - began) / told['requests']:.2f}")
            cells += [f"{told[name]:.1f}" for name in ("p50", "p99", "max")]
            cells += [str(told["failed"]), f"{before:.0f}", f"{after:.0f}"]
            print("|", " | ".join([server, what, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
