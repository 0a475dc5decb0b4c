"""Refused questions are kept as the owner has chosen, and never more than that."""

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.serve import settings
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE, Profile
from answerable.serve.embedders.embedder import Vectors
from answerable.serve.engine import Engine
from answerable.serve.errors import BundleError
from answerable.serve.http import logs
from answerable.serve.http.logs import (
    LoggedRefusal,
    LogRefusal,
    RefusedQuestion,
    make_line_appender,
    make_refusal_logger,
    redact_refusal,
)
from answerable.serve.http.messages import Request, Response
from answerable.serve.limits.rate_limit import hash_with_secret
from answerable.serve.providers import make_engine
from answerable.serve.settings import LOG_REFUSALS_CHOICES, FunctionSettings, read_settings
from answerable.serve.stores.bundle import Bundle
from serve.test_function_folder import has_address
from support.deadlines import PATIENCE, until
from support.doubles import bundle_of, handle, index_of, note, record
from support.scripted import LetterEmbedder, ScriptedAnswerer
from support.server_processes import Running, mkdocs, run
from support.sites import NOTES, PAGES, build, command, local, put, write_site

SECRET = b"a secret of sixteen letters"
NOON = 1_714_564_800.0
DAY = 86_400
# No word of it is on a page; its second word is what is looked for where no text may be.
CANARY = "Does Zanzibarquokka sell pickled wombats?"
ANSWERED = "How thick is the chain of a mooring?"
ADDRESS = "127.0.0.1"


def refused_question(**changes: Any) -> RefusedQuestion:
    fields = {
        "question": CANARY, "address": "192.0.2.7", "reason": "no-evidence", "bundle": "b",
        "near": "rope", **changes,
    }  # fmt: skip
    return RefusedQuestion(**fields)


def log_refused(now: float = NOON, *, text: bool = False, **changes: Any) -> LoggedRefusal:
    return redact_refusal(refused_question(**changes), SECRET, now, with_text=text)


def lines(path: Path) -> list[dict[str, Any]]:
    """Parse a log, whose lines all have to be whole."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_logged_refusal_has_hour_and_hashes_only() -> None:
    row = json.loads(log_refused(NOON + 3599).to_line())
    assert row == {
        "event": "refusal", "time": "2024-05-01T12:00Z", "reason": "no-evidence", "bundle": "b",
        "asker": hash_with_secret("192.0.2.7", SECRET, "2024-05-01"), "question": row["question"],
        "near": "rope",
    }  # fmt: skip
    assert len(row["question"]) == len(row["asker"]) == 16


def test_logged_text_is_one_additional_field() -> None:
    row, hashed = json.loads(log_refused(text=True).to_line()), json.loads(log_refused().to_line())
    assert row == {**hashed, "text": CANARY}


def test_asker_hash_depends_on_day_and_secret() -> None:
    today, tomorrow = log_refused(), log_refused(NOON + DAY)
    assert today.asker_hash == log_refused(NOON + 60).asker_hash != tomorrow.asker_hash
    assert today.asker_hash != log_refused(address="192.0.2.8").asker_hash
    assert hash_with_secret("192.0.2.7", b"other", "2024-05-01") != today.asker_hash
    assert log_refused(address="").asker_hash == ""


def test_question_hash_ignores_case_and_day() -> None:
    again = log_refused(NOON + DAY, question="does zanzibarquokka sell pickled WOMBATS")
    assert again.question_hash == log_refused().question_hash
    assert (
        log_refused(question="Does Zanzibarquokka sell fresh wombats?").question_hash
        != again.question_hash
    )
    assert log_refused(question="?!").question_hash != log_refused(question="?!?").question_hash


def test_question_and_asker_hashes_have_separate_keys() -> None:
    entry = log_refused(question="192.0.2.7")
    assert entry.question_hash != entry.asker_hash


@pytest.fixture
def engine(tmp_path: Path) -> Engine[Bundle]:
    """A site of one page and one note, over floors that hardly anything passes."""
    index = index_of(
        tmp_path, [record("rope", "<p>A rope holds.</p>")], [note("one", "zebra quiz")]
    )
    bundle = bundle_of(tmp_path, index, Profile(floor=0.99, note_floor=0.99))
    return Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{}, {}]))


def post(
    engine: Engine[Bundle], question: str, keep: LogRefusal | None, asker: str = ""
) -> Response:
    body = json.dumps({"question": question}).encode()
    headers = {"content-type": "application/json"}
    return handle(engine, Request("POST", "answer", "", headers, body, asker), keep)


def test_service_passes_refused_question_to_log(engine: Engine[Bundle]) -> None:
    refused: list[RefusedQuestion] = []
    body = post(engine, "  zebra\nropes ", refused.append, "192.0.2.7").json
    assert body["reason"] == "no-evidence"
    (only,) = refused
    assert (only.question, only.address, only.reason) == ("zebra ropes", "192.0.2.7", "no-evidence")
    assert only.bundle == engine.store.manifest.id
    assert only.near == "rope"


def test_nearest_section_of_hint_match_is_never_a_note(engine: Engine[Bundle]) -> None:
    refused: list[RefusedQuestion] = []
    note_floor = replace(engine.store.manifest.profile, note_floor=0.0)
    manifest = replace(engine.store.manifest, profile=note_floor)
    routed = replace(engine, store=replace(engine.store, manifest=manifest))
    assert post(routed, "zebra quiz", refused.append).json["reason"] == "declined"
    assert refused[0].near == "rope"


def test_declined_question_is_near_its_passage(tmp_path: Path) -> None:
    refused: list[RefusedQuestion] = []
    index = index_of(tmp_path, [record("rope", "<p>A rope holds.</p>")])
    bundle = bundle_of(tmp_path, index, replace(LOCAL_PROFILE, floor=0.1))
    post(Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{}])), "rope?", refused.append)
    assert (refused[0].reason, refused[0].near) == ("declined", "rope")


@pytest.mark.parametrize(
    ("question", "reason"),
    [("Which rope holds a boat?", None), ("Which rope holds a zebrafish?", "nearest")],
)
def test_an_answer_that_is_only_the_nearest_is_logged(
    tmp_path: Path, question: str, reason: str | None
) -> None:
    refused: list[RefusedQuestion] = []
    page = record("rope", "<p>A rope holds a boat.</p>", "Rope")
    index = index_of(tmp_path, [page], embedder=local())
    engine = make_engine(
        bundle_of(tmp_path, index, replace(LOCAL_PROFILE, floor=0.1), local().identity), local()
    )
    assert post(engine, question, refused.append).json["claims"]
    assert [each.reason for each in refused] == ([reason] if reason else [])


def test_question_without_known_words_has_no_nearest_section(engine: Engine[Bundle]) -> None:
    refused: list[RefusedQuestion] = []
    assert post(engine, "who is it?", refused.append).json["reason"] == "no-evidence"
    assert refused[0].near is None


def test_answers_are_equal_with_and_without_refusal_log(engine: Engine[Bundle]) -> None:
    def body(keep: LogRefusal | None) -> dict[str, Any]:
        answered: dict[str, Any] = post(engine, "ropes", keep).json
        del answered["request_id"]
        return answered

    refused: list[RefusedQuestion] = []
    assert body(None) == body(refused.append)
    assert len(refused) == 1


def test_failing_refusal_log_costs_no_answer(engine: Engine[Bundle]) -> None:
    def fail(refused_question: RefusedQuestion) -> None:
        raise RuntimeError(refused_question.question)

    response = post(engine, CANARY, fail)
    assert response.status == 200
    assert response.json["mode"] == "not-found"


def test_error_is_not_logged_as_refusal(engine: Engine[Bundle]) -> None:
    class Broken(LetterEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise RuntimeError(f"{len(texts)} texts")

    refused: list[RefusedQuestion] = []
    assert post(replace(engine, embedder=Broken()), "ropes", refused.append).status == 500
    assert refused == []


def test_concurrent_appends_keep_lines_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    reports: list[str] = []
    append = make_line_appender(path, reports.append)
    line = json.dumps({"text": "é" * 1500}).encode() + b"\n"
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(50):
            append(line)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == line * 400
    assert reports == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_full_log_drops_lines_and_reports_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    reports: list[str] = []
    append = make_line_appender(path, reports.append, limit=100)
    for _ in range(50):
        append(b"0123456789\n")
    assert path.read_bytes() == b"0123456789\n" * 9
    assert len(reports) == 1
    assert "has 100 bytes" in reports[0]
    path.unlink()
    append(b"again\n")
    assert path.read_bytes() == b"again\n"


def test_unwritable_log_reports_once(tmp_path: Path) -> None:
    reports: list[str] = []
    append = make_line_appender(tmp_path, reports.append)
    append(b"a line\n")
    append(b"a line\n")
    assert len(reports) == 1
    assert "cannot be written (Is a directory)" in reports[0]


def test_refusals_are_not_logged_by_default() -> None:
    written: list[bytes] = []
    for setting in LOG_REFUSALS_CHOICES:
        read_setting = iter((setting,)).__next__
        log_refusal = make_refusal_logger(read_setting, written.append, SECRET, lambda: NOON)
        log_refusal(refused_question())
    assert written == [log_refused().to_line(), log_refused(text=True).to_line()]
    assert FunctionSettings().log_refusals == "none"


def test_unknown_log_refusals_setting_is_rejected(tmp_path: Path) -> None:
    put(tmp_path / settings.SETTINGS_FILE, '{"log_refusals": "hashd"}')
    with pytest.raises(BundleError, match="log_refusals is none of none, hashed, text"):
        read_settings(tmp_path)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A published function for each setting, the default one for ``none``."""
    folder = tmp_path_factory.mktemp("functions")
    for how in LOG_REFUSALS_CHOICES:
        options = {} if how == "none" else {"log_refusals": how}
        done = build(write_site(folder / how, notes=NOTES, options=options))
        assert done.returncode == 0, done.stderr
    return {how: folder / how / "function" for how in LOG_REFUSALS_CHOICES}


@contextmanager
def serving(function: Path, **environment: str) -> Iterator[Running]:
    assignments = [f"{name}={value}" for name, value in environment.items()]
    main = ["env", "-i", "PORT=0", *assignments, sys.executable, "-I", str(function / "main.py")]
    with run(main, function.parent, has_address) as running:
        yield running


def ask_all(running: Running, path: str = "/answer") -> None:
    for question in (CANARY, CANARY.upper(), ANSWERED):
        running.ask(path, question)


def check_rows(rows: list[dict[str, Any]], how: str) -> None:
    """Check two refusals of one question by one asker, with what the setting logs."""
    assert [row.get("text") for row in rows] == (
        [CANARY, CANARY.upper()] if how == "text" else [None, None]
    )
    assert rows[0]["question"] == rows[1]["question"]
    assert rows[0]["asker"] == rows[1]["asker"] != ""
    assert {row["reason"] for row in rows} == {"no-evidence"}
    names = {name.removesuffix(".md") for name in PAGES}
    assert {row["near"] and row["near"].partition("#")[0] for row in rows} <= {*names, None}


@pytest.mark.parametrize("how", LOG_REFUSALS_CHOICES)
def test_function_prints_logged_refusals(functions: dict[str, Path], how: str) -> None:
    with serving(functions[how]) as running:
        ask_all(running)
        count = 0 if how == "none" else 2
        until(lambda: running.output.count('"event": "refusal"') == count)
        printed = running.output
    rows = [json.loads(line) for line in printed.splitlines() if '"event": "refusal"' in line]
    if how == "none":
        assert rows == []
    else:
        check_rows(rows, how)
    assert ADDRESS not in printed.replace(f"http://{ADDRESS}:", "")
    assert ("anzibarquokka" in printed.lower()) == (how == "text")


@pytest.mark.parametrize("how", LOG_REFUSALS_CHOICES)
def test_function_appends_refusals_to_file(
    functions: dict[str, Path], how: str, tmp_path: Path
) -> None:
    log = tmp_path / "kept.jsonl"
    secret = SECRET.decode()
    for _ in range(2):
        with serving(functions[how], ANSWERABLE_REFUSALS=str(log), ANSWERABLE_SECRET=secret) as it:
            ask_all(it)
            assert '"event": "refusal"' not in it.output
    if how == "none":
        assert not log.exists()
        return
    rows = lines(log)
    check_rows(rows[:2], how)
    # The secret outlives the process, so that a question that comes again is known.
    assert len({row["question"] for row in rows}) == 1
    text = log.read_text(encoding="utf-8")
    assert ADDRESS not in text
    assert secret not in text
    assert ("anzibarquokka" in text.lower()) == (how == "text")


def test_unwritable_log_costs_no_answer(functions: dict[str, Path], tmp_path: Path) -> None:
    with serving(functions["text"], ANSWERABLE_REFUSALS=str(tmp_path)) as running:
        ask_all(running)
        assert running.ask("/answer", CANARY)["mode"] == "not-found"
        until(lambda: "Refused questions are no longer kept" in running.output)
        assert running.output.count("no longer kept") == 1
        assert "anzibarquokka" not in running.output.lower()


def test_short_secret_is_rejected_at_start(functions: dict[str, Path]) -> None:
    done = command_of(functions["hashed"], ANSWERABLE_SECRET="hunter2")
    assert done.returncode == 1
    assert "ANSWERABLE_SECRET: it needs 16 characters" in done.stderr
    assert "hunter2" not in done.stderr


def test_function_with_unknown_setting_does_not_start(
    functions: dict[str, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "function"
    shutil.copytree(functions["none"], copy)
    put(copy / settings.SETTINGS_FILE, '{"log_refusals": "all"}')
    done = command_of(copy)
    assert done.returncode == 1
    assert "settings.json cannot be read (log_refusals is none of" in done.stderr


def command_of(function: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(function / "main.py")],
        env={"PORT": "0", **environment}, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip


def test_dev_server_logs_refusals_by_current_setting(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes=NOTES, options={"log_refusals": "hashed"})
    log = site / ".cache" / "plugin" / "answerable" / logs.REFUSAL_LOG_FILE
    config = (site / "mkdocs.yml").read_text(encoding="utf-8")
    with mkdocs(site) as running:

        def change(how: str) -> None:
            built = running.output.count("Reloading browsers")
            put(site / "mkdocs.yml", config.replace("hashed", how))
            until(lambda: running.output.count("Reloading browsers") > built)

        ask_all(running, "/_answerable/answer")
        check_rows(lines(log), "hashed")
        text = log.read_text(encoding="utf-8")
        assert "anzibarquokka" not in text.lower()
        assert ADDRESS not in text
        change("none")
        ask_all(running, "/_answerable/answer")
        assert log.read_text(encoding="utf-8") == text
        change("text")
        ask_all(running, "/_answerable/answer")
        check_rows(lines(log)[2:], "text")
        assert "anzibarquokka" not in running.output.lower()
    assert not (site / "function").exists()


def test_unknown_log_refusals_option_stops_build(tmp_path: Path) -> None:
    done = build(write_site(tmp_path, options={"log_refusals": "everything"}))
    assert done.returncode != 0
    assert "log_refusals" in done.stderr


def test_logged_refusals_are_grouped_by_gaps(functions: dict[str, Path], tmp_path: Path) -> None:
    log = tmp_path / "kept.jsonl"
    with serving(functions["text"], ANSWERABLE_REFUSALS=str(log)) as running:
        ask_all(running)
    done = command(functions["text"].parent, "gaps", "--json", os.fspath(log))
    assert done.returncode == 0, done.stderr
    (gap,) = json.loads(done.stdout)["gaps"]
    assert (gap["question"].lower(), gap["asked"], gap["askers"]) == (CANARY.lower(), 2, 1)
