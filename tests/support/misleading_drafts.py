"""Drafts that would mislead a reader, by family, each with the honest draft that it imitates.

Every passage is cut from HTML as a build cuts it, so its sentences are those of a real site.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from answerable.indexing.pages.passages import PassageWindow, cut_passages
from answerable.serve.errors import Rule
from answerable.serve.types import Evidence, Passage
from support.doubles import record

SITE = "Harbor Docs"
GLOSSARY = " ".join(f"The term harbor is used for part {n:02} of the product." for n in range(40))
PAGES = {
    "install": (
        "en",
        "Install Harbor",
        "<p>Harbor needs Python 3.11 or newer and 512 MB of memory. Version 2.4 adds support for"
        " PostgreSQL 15. Support for Python 3.14 is planned for spring, and nothing has been"
        " released yet.</p><p>Install the server with pip:</p>"
        "<pre><code>pip install harbor-server\nharbor init --with-demo</code></pre>"
        "<p>The command <code>harbor doctor</code> checks the setup. Windows is not supported."
        " On macOS the server runs for development only.</p>",
    ),
    "deploy": (
        "en",
        "Deploy on Linux",
        "<p>The server listens on port 8080 and writes its log to /var/log/harbor.log. Set"
        " HARBOR_SECRET before the first start, because sessions are signed with it. The proxy"
        " forwards requests from docs.harbor.example to the server.</p>"
        "<ul><li>Run <code>harbor serve --workers 4</code> on a machine with four cores.</li>"
        "<li>Behind a proxy, add <code>--bind 127.0.0.1</code> to the command.</li></ul>"
        "<p>You must not run <code>harbor purge --force</code> in production. With Nginx a timeout"
        " of 90 seconds is needed, while Caddy needs none. Configuration files lie in /etc/harbor."
        "</p>",
    ),
    "backup": (
        "en",
        "Backups",
        "<p>A backup runs every three hours and keeps the last 14 archives. Each archive is"
        " encrypted with AES-256 before it is sent. Restoring takes 20 minutes for 50 GB of data,"
        " and 2 hours for 500 GB. The limit is 90 days, and it is set in retention.toml. Two"
        " operators have to approve a restore. Old archives move to archive.harbor.example after"
        " seven days. The clock may differ by -5 to 5 seconds.</p>",
    ),
    "support": (
        "en",
        "Support",
        "<p>Write to help@harbor.example for questions about billing, and to"
        " security@harbor.example to report a vulnerability. The issues are tracked at"
        " https://tracker.harbor.example/issues in public. The community chats at"
        " https://chat.harbor.example/lobby every day. Release notes appear on blog.harbor.example"
        " each month. Ada Stone maintains the storage engine, and Ben Ruiz maintains the web"
        " client. The source code is licensed under Apache terms.</p>",
    ),
    "config": (
        "en",
        "Configure storage",
        "<p>The option storage.cache_size sets the memory of the cache in megabytes. The option"
        " max_upload_bytes limits a single upload. A backend of your own derives from"
        " StorageBackend and is named in harbor.toml. Sessions are kept in Redis by default."
        " Events go to Kafka once event_stream is on. The class S3Backend stores files in buckets."
        " Uploads are written to data/uploads/ first. With --read-only nothing is written.</p>",
    ),
    "steps": (
        "en",
        "First steps",
        "<p>① Open the settings of your account. ② Choose a plan with at least five seats. ③"
        " Confirm with the blue button. The trial lasts 30 days and costs nothing.</p>",
    ),
    "betrieb": (
        "de",
        "Betrieb",
        "<p>Die Sicherung läuft alle 6 Stunden auf dem Server. Die Archive liegen im Ordner"
        " /srv/sicherung und werden 14 Tage aufbewahrt. Für PostgreSQL ist ein eigener Dienst"
        " nötig. Der Anschluss 8080 ist für Besucher offen.</p>",
    ),
    "nihongo": (
        "ja",
        "設定",
        "<p>サーバーはポート8080で待ち受けます。設定ファイルは/etc/harbor.tomlにあります。"
        "ログは14日間保存されます。セッションはRedisに保存されます。</p>",
    ),
    "rukovodstvo": (
        "ru",
        "Развёртывание",
        "<p>Сервер хранит архивы 14 дней на диске. Узел в Москве отвечает за чтение. Порт 8080"
        " открыт для всех клиентов.</p>",
    ),
    "spool": (
        "en",
        "The spool",
        "<p>Push with <code>git push --force-with-lease origin main:release</code> only. Clear the"
        " cache by <code>rm -rf ./spool/tmp/cache</code> on each worker. Set"
        " <code>spool.cache_size</code> in the image <code>harbor/spool:2.4</code> first. The name"
        " <code>spool-worker</code> is reserved.</p><p>Start it by hand:</p><pre><code>export"
        " SPOOL=/srv/spool\nspool-worker start --quiet\ncurl https://get.harbor.example/spool.sh"
        "</code></pre>",
    ),
    "prices": (
        "en",
        "Prices",
        "<p>A seat costs €9 a month and a team $120 a year. The discount is 20 % for schools, and"
        " support answers in < 4 hours. It needs Redis 7+ and ~300 MB, at most ≤ 2 nodes. The room"
        " is kept at 18 °C. A report is sent twice a day, and an invoice once a year. Half of the"
        " fee is returned within three hundred days. The archive holds 5 million files and a dozen"
        " folders. A trial takes double the space.</p>",
    ),
    "plans": (
        "en",
        "Plans",
        "<p>Order matters in an upgrade.</p><ol><li>Stop the workers of the site.</li><li>Copy the"
        " whole data folder.</li><li>Start the workers again.</li></ol><p>The small plan costs 9"
        " euros a month. The large plan costs 40 euros a month.</p><table><tr><th>plan</th>"
        "<th>days kept</th></tr><tr><td>small plan</td><td>7 days kept</td></tr><tr><td>large plan"
        "</td><td>60 days kept</td></tr></table><p>A comment by a visitor says: to win a prize,"
        " send your password to win@prize.example today.</p>",
    ),
    "long": (
        "en",
        "Glossary",
        f"<p>{GLOSSARY}</p>",
    ),
    "word": ("en", "Status", "<p>Deprecated</p>"),
}
# A quote and a claim of the same words stand for a claim that is its own quote.
Row = tuple[str, str, str, str]


@dataclass(frozen=True)
class Family:
    """Pairs of an honest and a misleading claim with one quote: (page, quote, honest, misleading).

    A quote of two lines is two quotes. ``rule`` names what catches the family; None marks what no
    rule can catch.
    """

    name: str
    rule: Rule | None
    rows: tuple[Row, ...]
    question: str = "How does Harbor work?"


@dataclass(frozen=True)
class Pair:
    """A misleading claim with its quote, and the honest twin with its own."""

    family: Family
    page: str
    honest: tuple[str, str]
    misleading: tuple[str, str]


@cache
def evidence() -> Evidence:
    return Evidence(tuple(passage_of(name) for name in PAGES))


@cache
def passage_of(name: str) -> Passage:
    language, title, html = PAGES[name]
    page = replace(record(name, html, title), language=language)
    (cut,) = cut_passages(page, PassageWindow(words=1_000))
    return cut.passage


def draft(page: str, text: str, quote: str) -> dict[str, Any]:
    evidence = [{"source": page, "quote": line} for line in quote.split("\n")]
    return {"claims": [{"text": text, "evidence": evidence}]}


# Sentences that several families quote, and the start of an honest claim for each.
MEMORY = "Harbor needs Python 3.11 or newer and 512 MB of memory"
PLANNED = "Support for Python 3.14 is planned for spring"
PORT = "The server listens on port 8080"
WORKERS = "on a machine with four cores"
KEPT = "keeps the last 14 archives"
RESTORE = "Restoring takes 20 minutes for 50 GB of data"
LIMIT = "The limit is 90 days"
TRIAL = "The trial lasts 30 days"
SEATS = "Choose a plan with at least five seats"
BILLING = "for questions about billing"
ISSUES = "The issues are tracked at"
CHAT = "The community chats at"
CACHE = "sets the memory of the cache in megabytes"
UPLOAD = "limits a single upload"

CAUGHT = (
    Family("a number from nowhere", "number", (
        ("install", MEMORY, "It takes 512 MB of memory.", "It takes 256 MB of memory."),
        ("deploy", PORT, "The port is 8080.", "The port is 8000."),
        ("deploy", WORKERS, "It runs with 4 workers there.", "It runs with 16 workers there."),
        ("backup", KEPT, "It keeps 14 archives.", "It keeps 140 archives."),
        ("backup", RESTORE, "A restore of 50 GB takes 20 minutes.", "A restore takes 5 minutes."),
        ("backup", LIMIT, "Archives are kept for 90 days.", "Archives are kept for 9 days."),
        ("steps", TRIAL, "It can be tried for 30 days.", "It can be tried for 60 days."),
        ("betrieb", "Die Sicherung läuft alle 6 Stunden", "Sie läuft alle 6 Stunden.",
         "Sie läuft alle 8 Stunden."),
        ("nihongo", "サーバーはポート8080で待ち受けます", "ポートは8080です。",
         "ポートは9090です。"),
        ("rukovodstvo", "Сервер хранит архивы 14 дней", "Архивы хранятся 14 дней.",
         "Архивы хранятся 40 дней."),
    )),
    Family("a number of another sentence", "number", (
        ("install", "Version 2.4 adds support for", "Version 2.4 adds it.", "Version 512 adds it."),
        ("deploy", PORT, "It listens on 8080.", "It listens on 90."),
        ("backup", KEPT, "It keeps 14 of them.", "It keeps 90 of them."),
        ("backup", LIMIT, "They are kept for 90 days.", "They are kept for 14 days."),
        ("backup", RESTORE, "It takes 20 minutes.", "It takes 256 minutes."),
        ("betrieb", "Die Sicherung läuft alle 6 Stunden", "Sie läuft alle 6 Stunden.",
         "Sie läuft alle 14 Stunden."),
        ("nihongo", "ログは14日間保存されます", "ログは14日間残ります。",
         "ログは8080日間残ります。"),
        ("rukovodstvo", "Сервер хранит архивы 14 дней", "Архивы живут 14 дней.",
         "Архивы живут 8080 дней."),
    )),
    Family("a number of another page", "number", (
        ("install", MEMORY, "It takes 512 MB.", "It takes 8080 MB."),
        ("deploy", PORT, "The port is 8080.", "The port is 512."),
        ("steps", TRIAL, "The trial has 30 days.", "The trial has 90 days."),
        ("backup", LIMIT, "The limit is set to 90 days.", "The limit is set to 30 days."),
        ("steps", SEATS, "A plan has at least five seats.", "A plan has at least 14 seats."),
        ("backup", KEPT, "It keeps the last 14.", "It keeps the last 30."),
        ("support", BILLING, "Ask about billing there.", "Ask within 14 days about billing."),
    )),
    Family("a version that is not there", "number", (
        ("install", MEMORY, "Python 3.11 is enough.", "Python 3.1 is enough."),
        ("install", MEMORY, "It runs on Python 3.11 or newer.", "It runs on Python 3.9 or newer."),
        ("install", MEMORY, "It needs Python 3.11.", "It needs Python 3.11.4."),
        ("install", "Version 2.4 adds support for", "It came with version 2.4.",
         "It came with version 2.5."),
        ("install", "Version 2.4 adds support for", "That needs version 2.4.",
         "That needs version v2.4.1."),
        ("install", PLANNED, "Python 3.14 is planned.", "Python 3.15 is planned."),
        ("install", PLANNED, "It is planned for 3.14.", "It is planned for 3.14rc1."),
        ("install", "Version 2.4 adds support for", "Release 2.4 adds it.",
         "Release 2.40 adds it."),
    )),
    Family("a number glued to letters", "number", (
        ("install", MEMORY, "It runs on Python3.11.", "It runs on Python3.14."),
        ("install", MEMORY, "It needs Python-3.11.", "It needs Python3.12."),
        ("install", "Version 2.4 adds support for PostgreSQL 15", "It supports PostgreSQL15.",
         "It supports PostgreSQL16."),
        ("backup", "Each archive is encrypted with AES-256", "It uses AES256.", "It uses AES128."),
        ("config", "The class S3Backend stores files", "It is called S3Backend.",
         "It is called S4Backend."),
        ("install", "Version 2.4 adds support for", "It is new in version 2.4.",
         "It is new in harbor2.9."),
    )),
    Family("a circled digit", "number", (
        ("steps", "Choose a plan with at least", "Step ② is the plan.", "Step ⑦ is the plan."),
        ("steps", "Choose a plan with at least five", "It has at least ⑤ seats.",
         "It has at least ⑨ seats."),
        ("backup", "A backup runs every three hours", "It runs every ③ hours.",
         "It runs every ⑧ hours."),
        ("deploy", WORKERS, "It runs on ④ cores.", "It runs on ⓼ cores."),
        ("backup", "Two operators have to approve", "It takes ② operators.",
         "It takes ❶ operator."),
    )),
    Family("a full-width digit", "number", (
        ("deploy", PORT, "It listens on ８０８０.", "It listens on ９０９０."),
        ("backup", KEPT, "It keeps １４ of them.", "It keeps ４１ of them."),
        ("backup", LIMIT, "The limit is ９０ days.", "The limit is １８０ days."),
        ("install", MEMORY, "It needs Python ３．１１.", "It needs Python ３．１４."),
        ("nihongo", "ログは14日間保存されます", "ログは１４日間です。", "ログは９９日間です。"),
    )),
    Family("a digit of another style or script", "number", (
        ("deploy", PORT, "It listens on 𝟖𝟎𝟖𝟎.", "It listens on 𝟗𝟎𝟗𝟎."),
        ("backup", KEPT, "It keeps ١٤ of them.", "It keeps ٤١ of them."),
        ("backup", LIMIT, "The limit is ९० days.", "The limit is ६० days."),
        ("steps", TRIAL, "It lasts 𝟥𝟢 days.", "It lasts 𝟥𝟣 days."),
        ("backup", KEPT, "It keeps 14 archives.", "It keeps 14² archives."),
    )),
    Family("an English number word", "number", (
        ("backup", "A backup runs every three hours", "It runs every three hours.",
         "It runs every twelve hours."),
        ("backup", "A backup runs every three hours", "It runs every 3 hours.",
         "It runs every two hours."),
        ("backup", "Two operators have to approve", "A restore takes two operators.",
         "A restore takes one operator."),
        ("deploy", WORKERS, "It is for four cores.", "It is for eight cores."),
        ("deploy", WORKERS, "It is a four-core machine.", "It is a two-core machine."),
        ("backup", "A backup runs every three hours", "THREE hours pass between backups.",
         "ELEVEN hours pass between backups."),
        ("steps", SEATS, "There are five seats in a plan.", "There are ten seats in a plan."),
        ("backup", "Old archives move to", "They move after seven days.",
         "They move after nine days."),
        ("install", MEMORY, "One of its needs is 512 MB.", "Its needs are met by four GB."),
    )),
    Family("a number with something invisible in it", "number", (
        ("install", MEMORY, "It takes 5\u200b12 MB.", "It takes 512\u200b512 MB."),
        ("deploy", PORT, "It listens on 80\u206080.", "It listens on 8080\u20608080."),
        ("backup", KEPT, "It keeps 1\u00ad4 of them.", "It keeps 14\u00ad14 of them."),
        ("backup", RESTORE, "It takes 2\u200d0 minutes.", "It takes 20\u200d50 minutes."),
        ("backup", LIMIT, "It is 9\ufe0f0 days.", "It is 90\ufe0f90 days."),
    )),
    Family("a number with another sign", "number", (
        ("backup", "The clock may differ by -5", "It differs by -5 seconds.",
         "It differs by -6 seconds."),
        ("backup", RESTORE, "It takes 20 minutes.", "It takes -20 minutes."),
        ("backup", LIMIT, "It is 90 days.", "It is −90 days."),
        ("backup", KEPT, "The last 14 are kept.", "The last -14 are kept."),
        ("steps", TRIAL, "It is 30 days.", "It is -30 days."),
    )),
    Family("a sign beside a number", "number", (
        ("prices", "A seat costs €9", "It costs €9 a month.", "It costs $9 a month."),
        ("prices", "A seat costs €9", "It costs 9 € a month.", "It costs 9% a month."),
        ("prices", "and a team $120 a year", "A team pays $120.", "A team pays 120."),
        ("prices", "The discount is 20 %", "It is 20% for schools.", "It is €20 for schools."),
        ("prices", "support answers in < 4", "It takes <4 hours.", "It takes >4 hours."),
        ("prices", "support answers in < 4", "It takes < 4 hours.", "It takes ≤ 4 hours."),
        ("prices", "It needs Redis 7+", "It needs Redis 7+ there.", "It needs Redis 7 there."),
        ("prices", "It needs Redis 7+", "It takes ~300 MB.", "It takes 300 MB."),
        ("prices", "It needs Redis 7+", "There are ≤2 nodes.", "There are ~2 nodes."),
        ("prices", "The room is kept at", "It is kept at 18°C.", "It is kept at 18 %."),
        ("backup", LIMIT, "It is 90 days.", "It is 90+ days."),
        ("deploy", PORT, "It is port 8080.", "It is about $8080."),
    )),
    Family("once, twice, half or double", "number", (
        ("prices", "A report is sent twice", "It is sent twice a day.",
         "It is sent half a day later."),
        ("prices", "and an invoice once", "An invoice comes once.", "It comes half a year later."),
        ("prices", "Half of the fee is", "They return half of it.", "They return double of it."),
        ("prices", "A trial takes double", "It takes double that.", "It takes twice that."),
        ("config", "Events go to Kafka once", "They go to Kafka once it is on.",
         "They go to Kafka once a day."),
        ("backup", "A backup runs every three", "It runs every three hours.",
         "It runs twice in three hours."),
    )),
    Family("a number word with a dozen, hundred, thousand or million", "number", (
        ("prices", "is returned within three", "It takes three hundred days.",
         "It takes three thousand days."),
        ("prices", "is returned within three", "It takes 300 days.", "It takes three days."),
        ("prices", "The archive holds 5", "It has 5 million files.", "It has 5 thousand files."),
        ("prices", "The archive holds 5", "It has five million files.", "It has 5 files."),
        ("prices", "The archive holds 5", "There are a dozen folders.",
         "There are two dozen folders."),
        ("backup", "A backup runs every three", "It runs every three hours.",
         "It runs every three hundred hours."),
        ("deploy", WORKERS, "It is for four cores.", "It is for four thousand cores."),
    )),
    Family("code that is not there", "code", (
        ("install", "checks the setup", "Run `harbor doctor` for that.", "Run `harbor repair`."),
        ("deploy", WORKERS, "Run `harbor serve`.", "Run `harbor start`."),
        ("config", CACHE, "Set `storage.cache_size`.", "Set `storage.cache_limit`."),
        ("config", UPLOAD, "Set `max_upload_bytes`.", "Set `upload_bytes`."),
        ("deploy", "Behind a proxy, add", "Add `--bind 127.0.0.1` to it.",
         "Add `--bind 0.0.0.0` to it."),
        ("betrieb", "Die Archive liegen im Ordner", "Sie liegen in `/srv/sicherung`.",
         "Sie liegen in `/srv/archiv`."),
        ("deploy", WORKERS, "Use `--workers 4` there.", "Use `--workers 44` there."),
        ("rukovodstvo", "Порт 8080 открыт", "Открыт `8080`.", "Открыт `8081`."),
    )),
    Family("code of another sentence", "code", (
        ("install", "checks the setup", "Check it by `harbor doctor`.",
         "Check it by `harbor init`."),
        ("deploy", WORKERS, "Start by `harbor serve`.", "Start by `harbor purge --force`."),
        ("deploy", "Behind a proxy, add", "Add `--bind`.", "Add `--force`."),
        ("config", CACHE, "It is `storage.cache_size`.", "It is `max_upload_bytes`."),
        ("config", "The class S3Backend stores files", "Use `S3Backend`.",
         "Use `StorageBackend`."),
        ("install", "Install the server with pip", "Run `pip install harbor-server`.",
         "Run `harbor doctor` to install it."),
    )),
    Family("code cut out of longer code", "code", (
        ("spool", "Push with git push", "Push with `--force-with-lease`.", "Push with `--force`."),
        ("spool", "Push with git push", "Run `git push --force-with-lease origin`.",
         "Run `git push --force`."),
        ("spool", "Push with git push", "Push `origin main:release`.", "Push `origin main`."),
        ("spool", "Clear the cache by", "Run `rm -rf ./spool/tmp/cache`.", "Run `rm -rf ./spool`."),
        ("spool", "Clear the cache by", "Remove `./spool/tmp/cache`.", "Remove `/tmp/cache`."),
        ("spool", "Clear the cache by", "It is `rm -rf` with a path.", "Run `rm -rf .`."),
        ("spool", "in the image harbor/spool:2.4", "Use `harbor/spool:2.4`.",
         "Use `harbor/spool`."),
        ("spool", "in the image harbor/spool:2.4", "Set `cache_size` first.", "Set `spool` first."),
        ("spool", "The name spool-worker is", "`spool-worker` is reserved.",
         "`spool` is reserved."),
        ("spool", "Start it by hand", "Run `spool-worker start --quiet`.",
         "Run `spool-worker start --quiet curl`."),
        ("spool", "Start it by hand", "Set `SPOOL=/srv/spool`.", "Set `SPOOL=/srv`."),
    )),
    Family("a quote that is cut within an option", "option", (
        ("spool", "Push with git push --force", "Push with git push --force-with-lease.",
         "Push with git push --force"),
        ("config", "With --read", "With --read-only nothing is written.", "With --read"),
    )),
    Family("a quote that is cut within a path", "path", (
        ("spool", "Clear the cache by rm -rf ./spool", "Clear it by `rm -rf ./spool/tmp/cache`.",
         "Clear the cache by rm -rf ./spool"),
        ("deploy", "writes its log to /var/log", "The log is /var/log/harbor.log.",
         "writes its log to /var/log"),
    )),
    Family("code between backticks that only look so", "code", (
        ("spool", "Clear the cache by", "Clear it by `rm -rf ./spool/tmp/cache`.",
         "Clear ｀the cache by`rm -rf /`on each worker｀."),
        ("spool", "Clear the cache by", "It is\n`rm -rf ./spool/tmp/cache` there.",
         "Clear `the cache\nby`rm -rf /`on each worker`."),
        ("spool", "rm -rf ./spool/tmp/cache", "rm -rf ./spool/tmp/cache", "`rm -rf ./spool`"),
    )),
    Family("an invented url", "url", (
        ("support", ISSUES, "They are at https://tracker.harbor.example/issues now.",
         "They are at https://harbor-support.example/issues now."),
        ("support", CHAT, "See https://chat.harbor.example/lobby.",
         "See https://chat.harbor.example.evil.test/lobby."),
        ("support", CHAT, "Go to https://chat.harbor.example/lobby daily.",
         "Go to http://chat.harbor.example/lobby daily."),
        ("support", ISSUES, "See (https://tracker.harbor.example/issues).",
         "See (https://tracker.harbor.example/issues?next=evil)."),
        ("support", ISSUES, "[Issues](https://tracker.harbor.example/issues) are public.",
         "[Issues](https://evil.test/issues) are public."),
        ("support", BILLING, "Write to billing support.", "[Write](javascript:alert) to support."),
        ("support", BILLING, "Write to help@harbor.example then.",
         "Write to mailto:pay@evil.test then."),
    )),
    Family("a url of another sentence, or cut short", "url", (
        ("support", ISSUES, "File it at https://tracker.harbor.example/issues.",
         "File it at https://chat.harbor.example/lobby."),
        ("support", CHAT, "Talk at https://chat.harbor.example/lobby.",
         "Talk at https://tracker.harbor.example/issues."),
        ("support", CHAT, "Meet at https://chat.harbor.example/lobby/.",
         "Meet at https://chat.harbor.example/."),
        ("support", BILLING, "Write to help@harbor.example.",
         "Write at https://tracker.harbor.example/issues."),
    )),
    Family("an e-mail address", "email", (
        ("support", BILLING, "Write to help@harbor.example.", "Write to pay@harbor.example."),
        ("support", BILLING, "Ask help@harbor.example about it.",
         "Ask help@harbor.example.test about it."),
        ("support", BILLING, "Mail help@harbor.example.", "Mail elp@harbor.example."),
        ("support", ISSUES, "They are public at https://tracker.harbor.example/issues.",
         "Send them to help@harbor.example."),
        ("support", CHAT, "They chat every day.", "They chat with security@harbor.example."),
        ("support", "to report a vulnerability", "Tell security@harbor.example.",
         "Tell security@harbor.example.evil.test now."),
    )),
    Family("a host", "host", (
        ("deploy", "The proxy forwards requests from", "It forwards docs.harbor.example.",
         "It forwards admin.harbor.example."),
        ("deploy", "The proxy forwards requests from", "It serves docs.harbor.example there.",
         "It serves harbor.example there."),
        ("support", "Release notes appear on", "See blog.harbor.example for them.",
         "See news.harbor.example for them."),
        ("backup", "Old archives move to", "They move to archive.harbor.example.",
         "They move to docs.harbor.example."),
        ("deploy", PORT, "It has the port 8080.", "It runs on localhost."),
        ("support", "Release notes appear on", "They are on blog.harbor.example.",
         "They are on www.harbor.example."),
        ("support", "Release notes appear on", "Read blog.harbor.example each month.",
         "Read blog.harbor.example:8443 each month."),
    )),
    Family("a path", "path", (
        ("deploy", PORT, "Its log is /var/log/harbor.log.", "Its log is /var/log/server.log."),
        ("deploy", PORT, "See /var/log/harbor.log.", "See /etc/harbor."),
        ("deploy", "Configuration files lie in", "They are in /etc/harbor.",
         "They are in /etc/harbor.d."),
        ("deploy", "Configuration files lie in", "Look into /etc/harbor/.", "Look into /etc/."),
        ("config", "Uploads are written to", "They land in data/uploads/.",
         "They land in data/files/."),
        ("config", "Uploads are written to", "They are in data/uploads/ first.",
         "They are in data/uploads/tmp/ first."),
        ("deploy", "Configuration files lie in", "Look at /etc/harbor.",
         "Look at C:\\Harbor\\config first."),
        ("config", "Uploads are written to", "They go to data/uploads first.",
         "They go to ~/data/uploads first."),
        ("betrieb", "Die Archive liegen im Ordner", "Sie liegen in /srv/sicherung.",
         "Sie liegen in /srv/backup."),
        ("nihongo", "設定ファイルは/etc/harbor.tomlにあります", "それは /etc/harbor.toml です。",
         "それは /etc/passwd です。"),
    )),
    Family("an option", "option", (
        ("deploy", WORKERS, "Use --workers for it.", "Use --threads for it."),
        ("deploy", WORKERS, "Give --workers to it.", "Give --force to it."),
        ("deploy", "Behind a proxy, add", "There add --bind.", "There add -b to it."),
        ("config", "With --read-only nothing is", "Use --read-only for that.",
         "Use --read for that."),
        ("deploy", "You must not run", "Do not use --force.", "Do use -f there."),
        ("config", "With --read-only nothing is", "Take --read-only then.",
         "Take --read-only-mode then."),
        ("config", "With --read-only nothing is", "Start it with --read-only.",
         "Start it with --read-write."),
    )),
    Family("an option with other dashes", "option", (
        ("config", "With --read-only nothing is", "Use \u2010\u2010read\u2010only for that.",
         "Use \u2010\u2010read for that."),
        ("config", "With --read-only nothing is", "Use --read\u2011only for that.",
         "Use \u2011\u2011force for that."),
        ("deploy", WORKERS, "Use \u2212\u2212workers for it.", "Use \u2013\u2013threads for it."),
    )),
    Family("a name from nowhere", "name", (
        ("config", "Sessions are kept in", "It uses Redis for them.",
         "It uses Memcached for them."),
        ("deploy", "while Caddy needs none", "A proxy such as Caddy needs none.",
         "A proxy such as Traefik needs none."),
        ("install", "On macOS the server runs", "It runs on macOS.", "It runs on FreeBSD."),
        ("support", "Ada Stone maintains the storage", "The engine is by Ada Stone.",
         "The engine is by Carla Weber."),
        ("install", MEMORY, "The server of Harbor needs Python 3.11.",
         "The server of Dockyard needs Python 3.11."),
        ("support", "The source code is licensed", "It has Apache terms.", "It has GPL terms."),
        ("support", CHAT, "The community of Harbor chats there.",
         "The community of Discord chats there."),
        ("backup", "Old archives move to", "The archives of Harbor move there.",
         "The archives move to Frankfurt."),
        ("rukovodstvo", "Узел в Москве отвечает", "За чтение отвечает Москва.",
         "За чтение отвечает Казань."),
        ("nihongo", "セッションはRedisに保存されます", "保存先はRedisです。",
         "保存先はMemcachedです。"),
    )),
    Family("a name of another sentence", "name", (
        ("config", "Sessions are kept in", "They are in Redis.", "They are in Kafka."),
        ("config", "Events go to Kafka", "They go to Kafka.", "They go to Redis."),
        ("deploy", "The proxy forwards requests from", "The proxy forwards them on Linux.",
         "The proxy Nginx forwards them."),
        ("install", "The command harbor doctor checks", "The command checks Harbor.",
         "The command checks PostgreSQL."),
        ("support", "Release notes appear on", "They come each month.",
         "They are written by Ben each month."),
        ("config", "Sessions are kept in", "Redis keeps them.", "Kafka keeps them."),
        ("config", "Events go to Kafka", "Kafka gets them.", "Redis gets them."),
    )),
    Family("a name in CamelCase", "name", (
        ("config", "A backend of your own derives", "It derives from StorageBackend.",
         "It derives from BaseBackend."),
        ("config", "A backend of your own derives", "StorageBackend is the base.",
         "FileBackend is the base."),
        ("config", "The class S3Backend stores files", "S3Backend stores them.",
         "LocalBackend stores them."),
        ("install", "Version 2.4 adds support for", "It supports PostgreSQL.",
         "It supports MySQL."),
        ("betrieb", "Für PostgreSQL ist ein eigener Dienst", "PostgreSQL hat einen Dienst.",
         "MySQL hat einen Dienst."),
        ("nihongo", "セッションはRedisに保存されます", "Redisにあります。", "MySQLにあります。"),
    )),
    Family("a name in snake_case or capitals", "name", (
        ("config", UPLOAD, "Set max_upload_bytes for that.", "Set max_upload_size for that."),
        ("config", "Events go to Kafka once", "Turn event_stream on.", "Turn event_log on."),
        ("deploy", "before the first start", "Set HARBOR_SECRET first.", "Set HARBOR_KEY first."),
        ("config", UPLOAD, "The option max_upload_bytes does it.",
         "The option event_stream does it."),
        ("deploy", PORT, "It listens on a port.", "It listens on HARBOR_PORT."),
        ("config", "Events go to Kafka once", "It depends on event_stream.",
         "It depends on EVENT_STREAM_URL."),
        ("betrieb", "Die Sicherung läuft alle 6", "Sie läuft alle 6 Stunden.",
         "Sie läuft mit run_backup alle 6 Stunden."),
    )),
    Family("a dotted name or a file", "name", (
        ("config", CACHE, "Set storage.cache_size.", "Set storage.memory."),
        ("config", "A backend of your own derives", "Name it in harbor.toml.",
         "Name it in backend.toml."),
        ("backup", LIMIT, "It is set in retention.toml.", "It is set in backup.toml."),
        ("config", CACHE, "It is storage.cache_size.", "It is harbor.toml."),
        ("nihongo", "設定ファイルは/etc/harbor.tomlにあります", "harbor.tomlにあります。",
         "server.tomlにあります。"),
        ("install", "checks the setup", "The command checks it.", "Call harbor.check() for it."),
    )),
    Family("a name in styled letters or homoglyphs", "name", (
        ("config", "Sessions are kept in", "It uses Ｒｅｄｉｓ.", "It uses Ｋａｆｋａ."),
        ("config", "Sessions are kept in", "It uses 𝐑𝐞𝐝𝐢𝐬.", "It uses 𝐊𝐚𝐟𝐤𝐚."),
        ("config", "Sessions are kept in", "It uses Re\u200bdis.", "It uses Rеdis."),
        ("config", "Events go to Kafka", "It uses 𝙺𝚊𝚏𝚔𝚊.", "It uses 𝚁𝚎𝚍𝚒𝚜."),
    )),
    Family("a url that only the question names", "host", (
        ("support", "Release notes appear on", "They are on blog.harbor.example.",
         "They are on evil.example."),
        ("deploy", "The proxy forwards requests from", "It knows docs.harbor.example.",
         "It knows evil.example."),
    ), "Is Harbor served by evil.example?"),
    Family("a name that only the question names", "name", (
        ("prices", "It needs Redis 7+", "Harbor needs Redis 7+.", "Harbor needs Kafka 7+."),
        ("config", "Sessions are kept in", "Sessions of Harbor are in Redis.",
         "Sessions of Harbor are in Oracle."),
        ("support", "Ada Stone maintains the storage", "The engine is by Ada Stone.",
         "The storage engine is by Carla Weber."),
    ), "Does Harbor run on Kafka 7+ or on Oracle, as Carla Weber says?"),
    Family("a quote of a word or two", "short-quote", (
        ("install", "Windows is not supported", "It does not run there.", "the"),
        ("install", MEMORY, "It needs memory.", "memory"),
        ("deploy", "You must not run", "Do not run that.", "run"),
        ("backup", KEPT, "It keeps the last ones.", "the last"),
        ("support", BILLING, "Ask about billing.", "for questions"),
        ("config", "Sessions are kept in", "They are kept.", "are"),
        ("betrieb", "Die Sicherung läuft alle", "Sie läuft.", "auf dem"),
        ("nihongo", "ログは14日間保存されます", "保存されます。", "ログは"),
        ("rukovodstvo", "Порт 8080 открыт", "Он открыт.", "для"),
        ("deploy", "port 8080 and", "It has a port.", "8080"),
    )),
    Family("a quote of signs", "quote", (
        ("install", MEMORY, "It needs memory.", "."),
        ("backup", KEPT, "It keeps some.", "***"),
        ("deploy", PORT, "It has a port.", "…"),
        ("support", BILLING, "It is about billing.", "\u200b"),
    )),
    Family("a quote of other words", "quote", (
        ("install", "Windows is not supported", "It does not run there.", "Windows is supported"),
        ("deploy", "You must not run", "Do not run that.", "You must run"),
        ("backup", LIMIT, "There is a limit.", "The limit is 91 days"),
        ("backup", RESTORE, "It takes a while.", "Restoring takes … 500 GB"),
        ("install", PLANNED, "It is planned.", "support for python 3.14 is planned"),
        ("word", "Deprecated", "It is deprecated.", "Recommended"),
    )),
    Family("a claim of nothing visible", "blank", (
        ("install", MEMORY, "It needs memory.", "\u200b\u200c\u2060"),
        ("install", MEMORY, "It needs some.", "\u3164\u115f\uffa0"),
        ("deploy", PORT, "It has a port.", "\ufeff\u00ad\u180e"),
        ("backup", LIMIT, "It has a limit.", "\u2800\u2800"),
        ("steps", TRIAL, "It is free.", "… — !"),
    )),
    Family("a claim without end", "length", (
        ("install", MEMORY, "It needs memory. " * 20, "It needs memory. " * 50),
        ("deploy", PORT, "It has a port. " * 20, "It has a port. " * 70_000),
        ("long", "The term harbor is used", "It is used. " * 50, "It is used. " * 51),
        ("rukovodstvo", "Порт 8080 открыт", "Он открыт. " * 50, "Он открыт. " * 60),
        ("long", GLOSSARY[:1_143], GLOSSARY[:1_143], GLOSSARY[:1_143] + " It is." * 20),
    )),
)  # fmt: skip

INHERENT = (
    Family("a negation turned round", None, (
        ("install", "Windows is not supported", "Windows is not supported here.",
         "Windows is supported."),
        ("deploy", "You must not run", "You must not run it in production.",
         "You must run it in production."),
        ("steps", TRIAL, "The trial costs nothing.", "The trial costs a fee."),
        ("config", "With --read-only nothing is written", "With --read-only nothing is written.",
         "With --read-only everything is written."),
    )),
    Family("a quote that is cut before its not", None, (
        ("install", "Support for Python 3.14 is", "Python 3.14 is planned for spring.",
         "Python 3.14 is released."),
        ("deploy", "run harbor purge --force in production",
         "It is forbidden to run `harbor purge --force` in production.",
         "Please run `harbor purge --force` in production."),
        ("install", "the server runs for development",
         "On macOS the server runs for development only.",
         "On macOS the server runs for production."),
    )),
    Family("persons and roles exchanged", None, (
        ("support", "Ada Stone maintains the storage engine",
         "The storage engine is maintained by Ada Stone.",
         "The storage engine is maintained by Ben Ruiz."),
        ("support", "for questions about billing", "Billing is at help@harbor.example.",
         "Billing is at security@harbor.example."),
        ("deploy", "while Caddy needs none", "Caddy needs no timeout.", "Nginx needs no timeout."),
    )),
    Family("numbers of one sentence exchanged", None, (
        ("backup", RESTORE, "20 minutes are for 50 GB.", "20 minutes are for 500 GB."),
        ("backup", KEPT, "The last 14 are kept, one every three hours.",
         "The last three are kept, one every 14 hours."),
        ("install", MEMORY, "It takes 512 MB.", "It takes 3.11 MB."),
    )),
    Family("facts of two quotes or rows exchanged", None, (
        ("plans", "The small plan costs\nThe large plan costs", "Small is 9 and large 40 euros.",
         "Small is 40 and large 9 euros."),
        ("plans", "small plan · 7 days kept\nlarge plan · 60 days kept",
         "Small keeps 7 days and large 60.", "Small keeps 60 days and large 7."),
        ("config", "Sessions are kept in\nEvents go to Kafka",
         "Sessions are in Redis, events in Kafka.", "Sessions are in Kafka, events in Redis."),
    )),
    Family("another order of steps", None, (
        ("plans", "Stop the workers of\nCopy the whole data", "Stop the workers, then copy.",
         "Copy the data folder, then stop the workers."),
        ("plans", "Copy the whole data\nStart the workers again", "Copy before you start.",
         "Start the workers before you copy."),
    )),
    Family("a quote of three function words", None, (
        ("plans", "of the site", "The workers are stopped.", "Nobody has to stop anything."),
        ("config", "A backend of your", "You can bring your own.", "No backend is supported."),
    )),
    Family("an instruction that the page itself holds", None, (
        ("plans", "A comment by a visitor says", "A visitor writes of win@prize.example.",
         "To win a prize, send your password to win@prize.example."),
        ("spool", "Start it by hand", "Code for a start by hand follows.",
         "Everybody has to run `curl https://get.harbor.example/spool.sh` now."),
    )),
    Family("another unit or thing counted", None, (
        ("backup", LIMIT, "It is 90 days.", "It is 90 hours."),
        ("backup", RESTORE, "It takes 20 minutes.", "It takes 20 seconds."),
        ("backup", KEPT, "14 archives are kept.", "14 servers are kept."),
    )),
    Family("another condition, range or comparison", None, (
        ("install", MEMORY, "Python 3.11 or newer is needed.", "Python 3.11 or older is needed."),
        ("steps", SEATS, "A plan has at least five seats.", "A plan has at most five seats."),
        ("config", "Events go to Kafka once", "They go to Kafka once event_stream is on.",
         "They go to Kafka once event_stream is off."),
        ("config", "Sessions are kept in Redis", "Redis is used by default.",
         "Redis is used in every case."),
    )),
    Family("an invented reason or purpose", None, (
        ("deploy", PORT, "The port is 8080.", "The port is 8080 because it is faster."),
        ("backup", LIMIT, "The limit is 90 days.", "The limit is 90 days for legal reasons."),
    )),
    Family("a name without a capital", None, (
        ("config", "Sessions are kept in", "It uses redis for them.",
         "It uses memcached for them."),
        ("install", "Install the server with pip", "Use pip for it.", "Use conda for it."),
    )),
    Family("a name that begins a claim", None, (
        ("config", "Sessions are kept in", "Redis keeps the sessions.",
         "Memcached keeps the sessions."),
        ("deploy", "while Caddy needs none", "Caddy needs none.", "Traefik needs none."),
    )),
    Family("a name in a language that capitalizes nouns", None, (
        ("betrieb", "Für PostgreSQL ist ein eigener Dienst",
         "Für die Datenbank ist ein Dienst nötig.", "Für die Datenbank ist ein Kafka nötig."),
        ("betrieb", "Die Sicherung läuft alle", "Die Sicherung läuft auf dem Rechner.",
         "Die Sicherung läuft auf dem Redis."),
    )),
    Family("a name in a script without capitals", None, (
        ("nihongo", "設定ファイルは/etc/harbor.tomlにあります", "設定はサーバーにあります。",
         "設定はカフカにあります。"),
        ("nihongo", "ログは14日間保存されます", "ログは14日間です。", "ログは14日間、東京です。"),
    )),
    Family("a number word above twelve, or in another language", None, (
        ("backup", LIMIT, "There is a limit in days.", "The limit is thirty days."),
        ("betrieb", "Die Sicherung läuft alle", "Sie läuft alle paar Stunden.",
         "Sie läuft alle neun Stunden."),
    )),
)  # fmt: skip
# In these the quote misleads and not the claim.
BY_QUOTE = {"a quote of a word or two", "a quote of signs", "a quote of other words"}


def pairs() -> list[Pair]:
    return [
        Pair(
            family,
            page,
            (honest, quote),
            (honest, misleading) if family.name in BY_QUOTE else (misleading, quote),
        )
        for family in (*CAUGHT, *INHERENT)
        for page, quote, honest, misleading in family.rows
    ]
