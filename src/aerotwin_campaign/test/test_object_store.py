# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns in an object store, on an S3 server on the loopback: what is stored, what is lost."""

import io
import pickle
import subprocess
import threading
import uuid
from collections import Counter
from contextlib import contextmanager

import pytest
import yaml

from aerotwin_campaign import CampaignRun, Store, run_on_dask
from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from support.campaigns import STUBS, campaign_of, carried_out, opened, result_files

boto3 = pytest.importorskip("boto3")
moto_server = pytest.importorskip("moto.server")
pytest.importorskip("s3fs")

pytestmark = pytest.mark.machine_network  # dask looks for a way out; the server is there, too

SECRET = "aTestsOwnSecretAccessKey0123456789abcdef"
SETTINGS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
BUCKET = "campaigns"
DOWN_S, PATIENCE_S = 2.0, 120.0
NUMERIC = {"base": {"a": 0.0}, "axes": {"a": [1, 2, 3]}, "seeds": [1, 2]}
N_SLEEPS = 24


class Server:
    """An S3 server; what it has remains when it is stopped and started again."""

    def __init__(self) -> None:
        self._server = self._started(0)
        self.port = self._server.get_host_and_port()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.stop()
        self._server._server.server_close()

    def start(self) -> None:
        self._server = self._started(self.port)

    @contextmanager
    def away(self):
        self.stop()
        try:
            yield
        finally:
            self.start()

    def client(self):
        return boto3.client("s3", endpoint_url=self.url)

    def objects(self, prefix: str) -> dict[str, bytes]:
        """Return all objects of a campaign by their names below it."""
        client = self.client()
        listed = client.get_paginator("list_objects_v2").paginate(
            Bucket=BUCKET, Prefix=f"{prefix}/"
        )
        return {
            each["Key"].removeprefix(f"{prefix}/"):
                client.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()
            for page in listed for each in page.get("Contents", ())
        }  # fmt: skip

    @staticmethod
    def _started(port: int):
        server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
        server.start()
        return server


@pytest.fixture(scope="module")
def server():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        found = Server()
        patch.setenv("AWS_ENDPOINT_URL", found.url)
        found.client().create_bucket(Bucket=BUCKET)
        yield found
        found.stop()


@pytest.fixture
def prefix():
    return uuid.uuid4().hex


def results(objects: dict[str, bytes]) -> dict[str, bytes]:
    return {n.split("/")[-2]: text for n, text in objects.items() if n.endswith("/result.json")}


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_results_are_those_of_a_folder(server, prefix, tmp_path, engine):
    from pyarrow import parquet

    campaign = campaign_of("numeric", **NUMERIC)
    in_folder = carried_out(campaign, tmp_path, n_workers=2)
    url = f"s3://{BUCKET}/{prefix}"
    more = {"engine": run_on_dask} if engine == "dask" else {}
    found = carried_out(campaign, url, n_workers=2, **more)
    assert found.progress.n_left == 0 and found.progress.not_made == {}
    objects = server.objects(prefix)
    assert results(objects) == result_files(tmp_path)
    for run_id in results(objects):
        names = {n.rpartition("/")[2] for n in objects if f"/{run_id}/" in n}
        assert names == {"spec.json", "result.json", "cost.json", "log.txt", "trace.txt"}
    table = parquet.read_table(io.BytesIO(objects["results.parquet"]))
    costs = ["cost.wall_s", "cost.cpu_s"]
    assert table.drop_columns(costs) == in_folder.table.table().drop_columns(costs)
    assert opened(campaign, url).progress.n_left == 0


def test_a_run_whose_result_is_not_there_is_made_again(server, prefix):
    campaign, url = campaign_of("numeric", **NUMERIC), f"s3://{BUCKET}/{prefix}"
    first = carried_out(campaign, url, n_workers=2)
    before = server.objects(prefix)
    lost = first.store.path_of(first.specs[2].id)
    server.client().delete_object(Bucket=BUCKET, Key=f"{prefix}/{lost}/result.json")
    first.read_store()  # the store lists anew: others write there
    assert (first.progress.n_done, first.progress.n_left) == (5, 1)
    assert carried_out(campaign, url, n_workers=1).progress.n_left == 0
    assert results(server.objects(prefix)) == results(before)


@pytest.fixture
def sleeping(server, prefix, tmp_path):
    """What starts a campaign of short sleeps, each of which notes that it was begun."""
    file, calls = tmp_path / "campaign.yaml", tmp_path / "calls"
    content = {
        "name": "x", "run": f"{STUBS}:sleeping",
        "axes": {"a": {"from": 1, "to": N_SLEEPS, "step": 1}},
        "base": {"a": 0, "sleep_s": 0.2, "calls": str(calls)},
    }  # fmt: skip
    file.write_text(yaml.safe_dump(content))
    command = ["-m", "aerotwin_core.cli", "campaign", "run", str(file), "--workers", "2"]

    def start():
        return subprocess.Popen(
            python_command(*command, "--store", f"s3://{BUCKET}/{prefix}"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    return start, calls


def wait_for_calls(calls, n):
    pause, n_polls = threading.Event(), 0
    while not calls.exists() or len(calls.read_text().splitlines()) < n:
        assert n_polls < PATIENCE_S / 0.05, "no runs"
        pause.wait(0.05)
        n_polls += 1


@pytest.mark.slow
def test_a_server_that_is_away_for_a_while_costs_no_run_and_none_counts_twice(
    server, prefix, sleeping
):
    start, calls = sleeping
    process = start()
    wait_for_calls(calls, 6)
    with server.away():
        threading.Event().wait(DOWN_S)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    assert f"{N_SLEEPS} runs: {N_SLEEPS} done, 0 of them failed, 0 left" in output
    assert len(results(server.objects(prefix))) == N_SLEEPS
    n_calls = Counter(calls.read_text().splitlines())
    assert set(n_calls) == {str(k) for k in range(1, N_SLEEPS + 1)}
    assert sum(n_calls.values()) <= N_SLEEPS + 6  # two at work, each at most at three attempts more


@pytest.mark.slow
def test_a_server_that_stays_away_ends_the_campaign_which_goes_on_later(
    server, prefix, sleeping, monkeypatch
):
    from pyarrow import parquet

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")  # of the SDK itself: it gives up sooner
    start, calls = sleeping
    process = start()
    wait_for_calls(calls, 6)
    with server.away():
        output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (1, 2), output
    assert "Traceback" not in output and SECRET not in output
    assert f'Could not connect to the endpoint URL: "{server.url}' in output
    n_stored = len(results(server.objects(prefix)))
    assert 1 <= n_stored < N_SLEEPS
    again = start()
    output, _ = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 0, output
    assert f"{n_stored} of {N_SLEEPS} runs are done already" in output
    table = parquet.read_table(io.BytesIO(server.objects(prefix)["results.parquet"]))
    assert sorted(table["metrics.a"].to_pylist()) == list(range(1, N_SLEEPS + 1))
    assert set(table["outcome"].to_pylist()) == {"slept"}


def test_credentials_are_in_nothing_that_is_stored_sent_or_said(server, prefix, capfd):
    campaign = campaign_of("mixed", base={"kind": ""}, axes={"kind": ["fine", "raises"]})
    found = carried_out(campaign, f"s3://{BUCKET}/{prefix}", n_workers=1)
    assert found.progress.n_failures == 1
    assert "_system" in vars(found.store)  # it is in use, and holds credentials
    for text in (*server.objects(prefix).values(), pickle.dumps(found.store), repr(found.store)):
        assert SECRET not in str(text)
    assert SECRET not in "".join(capfd.readouterr())


def test_a_password_in_a_url_is_refused_and_not_shown():
    with pytest.raises(UserError, match=r"s3://…: expected a URL without a password") as caught:
        Store(f"s3://testing:{SECRET}@{BUCKET}/x")
    assert SECRET not in str(caught.value)
    assert Store("sftp://user@host/path").url == "sftp://user@host/path"


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"notes\.txt: expected a folder for runs, found a file"):
        Store(str(tmp_path / "notes.txt"))


def test_a_bucket_that_is_not_there_is_named_and_not_made(server):
    campaign = campaign_of("no_op", base={"a": 1})
    with pytest.raises(OSError, match=r"The specified bucket does not exist: 's3://missing/x'"):
        carried_out(campaign, "s3://missing/x", n_workers=1)
    assert [b["Name"] for b in server.client().list_buckets()["Buckets"]] == [BUCKET]


def test_an_endpoint_is_that_of_the_configuration_of_fsspec(server, prefix, monkeypatch):
    campaign, url = campaign_of("no_op", base={"a": 1}), f"s3://{BUCKET}/{prefix}"
    carried_out(campaign, url, n_workers=1)
    program = (
        "import sys; from aerotwin_campaign import Store\n"
        "print(len(list(Store(sys.argv[1]).ids())))"
    )
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.setenv("FSSPEC_S3_ENDPOINT_URL", server.url)
    done = subprocess.run(
        python_command("-c", program, url), capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n", done.stderr


def test_a_run_is_not_blamed_for_a_store_that_is_slow(server, prefix, monkeypatch):
    """Its time is that of its function: the store may take longer."""
    from aerotwin_campaign import worker

    campaign = campaign_of("no_op", base={"a": 1}, timeout_s=0.05)
    answer = worker.Worker._answer
    limits = []

    def recorded(self, child, limit_s):
        limits.append(limit_s)
        return answer(self, child, limit_s)

    monkeypatch.setattr(worker.Worker, "_answer", recorded)
    found: CampaignRun = carried_out(campaign, f"s3://{BUCKET}/{prefix}", n_workers=1)
    assert found.progress.n_failures == 0 and found.progress.n_left == 0
    assert limits[-3:] == [worker._STORE_S, 0.05, worker._STORE_S]
