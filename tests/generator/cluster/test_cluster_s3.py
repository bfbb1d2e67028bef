"""Generation on a cluster whose machines share nothing but an S3 server (moto's)."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster
from test_cluster import same_tables, start, wait_for

_SERVER = str(Path(sys.executable).with_name("moto_server"))
_MAKE = "import s3fs; s3fs.S3FileSystem().mkdir('bucket')"
_GET = "import sys, s3fs; s3fs.S3FileSystem().get('bucket/tables/', sys.argv[1], recursive=True)"
_FIND = "import s3fs; print(*s3fs.S3FileSystem().find('bucket'), sep='\\n')"


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An S3 server, told to all processes by their environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "s3.log").open("wb") as log:
        server = subprocess.Popen([_SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    until = time.monotonic() + 60
    while True:
        with socket.socket() as trial:
            if not trial.connect_ex(("127.0.0.1", port)):
                break
        assert server.poll() is None, (tmp_path / "s3.log").read_text("utf-8")
        assert time.monotonic() < until
        time.sleep(0.1)
    run(_MAKE)
    yield
    server.kill()
    server.wait()


def run(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def cluster(s3: None, tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Cluster(folder, os.environ)
    for _ in range(3):
        found.start_worker()
    yield found
    found.stop()


def test_machines_share_only_an_s3_server(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    """With a worker killed."""
    process = start(cluster.address, "s3://bucket/tables", 3, "--task-positions", "2000")
    wait_for(lambda: run(_FIND).count(".json") >= 5, process)
    cluster.kill_worker()
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err + cluster.logs()
    assert "tables in s3://bucket/tables: wdl" in out
    run(_GET, str(tmp_path / "found"))
    assert same_tables(tmp_path / "found", tables3)
    assert ".lock" not in run(_FIND)


@pytest.mark.whole
def test_five_pieces(cluster: Cluster, tables5: Path, tmp_path: Path) -> None:
    process = start(cluster.address, "s3://bucket/tables", 5, "--task-positions", "3M")
    out, err = process.communicate(timeout=1200)
    assert process.returncode == 0, err + cluster.logs()
    assert "solved 85 materials" in out
    run(_GET, str(tmp_path / "found"))
    assert same_tables(tmp_path / "found", tables5)


def test_a_bucket_that_is_not_there(s3: None, cluster: Cluster) -> None:
    process = start(cluster.address, "s3://nobodys/tables", 3)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.startswith("shashki: s3://nobodys/tables cannot be ")
