"""HTML to fuzz readers with: any, broken, or well formed with words that must and must not show."""

from functools import cache
from pathlib import Path

import markdown  # type: ignore[import-untyped]
from hypothesis import strategies as st

SHOWN = "shownword"
HIDDEN = "hiddenword"
TITLE = "The Title"

# Any code point, lone surrogates too.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)

_ODD = (
    *("a", "I ran. It broke.", "e.g. 3.10", "&amp;", "&lt;b&gt;", "&#0;", "&#xd800;", "&nbsp;"),
    *(
        "&notanentity;",
        "\x00",
        "\x0b",
        "\x1f",
        "\x7f",
        "\x85",
        "\xa0",
        "\u200b",
        "\u2028",
        "\ud800",
    ),
    *(
        "\u202eevil\u202c",
        "\u2066x\u2069",
        "縄は麻です。錨の鎖。",
        "เรือลำนี้ยาวมาก",
        "مرحبا",
        "👩‍👩‍👧",
    ),
    *("e\u0301", "\t\n  ", "<!-- c -->", "<![CDATA[ x ]]>", "<?php x ?>", "word " * 30, "x" * 99),
    *("n\u0e48" + "\u0e48" * 70, "<wbr>", "<img alt=x src=y>", "<input value=z>", "...", "。！？"),
)
_IDS = (
    *("a", "a", "a~2", "a~3", "b c", "100%", "a%20b", "a%20b c", "嵐", "é", "", "x<y", "a\\b"),
    *("\u202ex", "a#b", "?q", "\xa0"),
)

_odd = st.sampled_from(_ODD)
_word = st.just(f" {SHOWN} ")
_anchor = st.sampled_from(_IDS).map(lambda name: f' id="{name.replace(chr(34), "")}"') | st.just("")


def _joined(parts: st.SearchStrategy[str], most: int = 4) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map("".join)


def _within(form: str, inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """An element that holds what is drawn, and an id where its form has a place for one."""
    if "{id}" not in form:
        return inside.map(lambda html: form.replace("{}", html))
    pairs = st.tuples(_anchor, inside)
    return pairs.map(lambda pair: form.replace("{id}", pair[0]).replace("{}", pair[1]))


def _hidden(html: str) -> str:
    return html.replace(SHOWN, HIDDEN)


_INLINE = (
    *("<em>{}</em>", "<b{id}>{}</b>", "<code>{}</code>", "<kbd>{}</kbd>", "<i>{}</i>"),
    *('<abbr title="long form">{}</abbr>', "<span{id}>{}</span>", "{}<br>{}", "<mark>{}</mark>"),
)
# A browser ends a link where another begins, with every element that is open in it, a hidden one
# too: so a link holds no elements.
_LINKS = ('<a href="../x/#y">{}</a>', '<a href="javascript:x">{}</a>', "<a href=//[>{}</a>")
_UNSEEN_INLINE = (
    *("<span hidden>{}</span>", "<span data-search-exclude>{}</span>"),
    "<template><i>{}</i></template>",
    '<span class="x linenos">{}</span>',
)
_RAW = tuple(
    form.replace("{}", f" {HIDDEN} ")
    for form in (
        *("<script>{}<b>{}</script>", "<style>{}</style>", "<textarea>{}</textarea>"),
        *("<button>{}</button>", "<noscript>{}</noscript>", "<a name=n></a>"),
        '<a class="headerlink" href="#x">{}</a>',
        "<svg><title>{}</title><text>{}</text></svg><math><mi>{}</mi></math>",
        *("<iframe>{}</iframe>", "<!-- {} -->", '<img alt="{}">', "<select><option>{}</select>"),
    )
)
_inline = st.recursive(
    st.one_of(
        _word, _odd, st.sampled_from(_RAW), *(_within(form, _word | _odd) for form in _LINKS)
    ),
    lambda inner: st.one_of(
        *(_within(form, _joined(inner)) for form in _INLINE),
        *(_within(form, _joined(inner)).map(_hidden) for form in _UNSEEN_INLINE),
    ),
    max_leaves=5,
)
_text = _joined(_inline)

_HEADING = st.tuples(st.integers(1, 6), _anchor, _odd | st.just(TITLE)).map(
    lambda drawn: f"<h{drawn[0]}{drawn[1]}>{drawn[2]}</h{drawn[0]}>"
)
_LINES = (
    "<p{id}>{}</p>",
    "<pre>{}</pre>",
    '<div class="language-py highlight"><span class="filename">a.py</span>'
    "<pre><code>{}</code></pre></div>",
    '<div class="highlight"><table class="highlighttable"><tr><td class="linenos"><pre>'
    f"1 {HIDDEN}</pre></td>"
    '<td class="code"><div><pre><code>{}</code></pre></div></td></tr></table></div>',
)
_BLOCKS = (
    *("<div{id}>{}</div>", "<section{id}>{}</section>", "<blockquote>{}</blockquote>", "{}"),
    "<ul><li>{}</li><li{id}>{}</li></ul>",
    '<ol start=-3><li value="7">{}</li><li value=x>{}</li></ol>',
    '<div class="tabbed-set"><input><label>{}</label><div class="tabbed-content">{}</div></div>',
    '<div class="tabbed-set"><div class="tabbed-labels"><label>x</label></div><div class='
    '"tabbed-content"><div class="tabbed-block">{}</div><div class="tabbed-block">{}</div></div>'
    "</div>",
    "<div><ul role=tablist><li role=tab>x</ul><div role=tabpanel>{}</div><div role=tabpanel hidden>"
    "{}</div></div>",
    "<div><div role=tablist></div><div role=tabpanel><div role=tabpanel>{}</div></div></div>",
    "<table><caption>{}</caption><tr><th>{}<th>{}<tr><td>{}</table>",
    "<ol><li>{}<ul><li>{}</li></ul></li></ol>",
    "<dl><dt>x</dt><dd>{}</dd></dl>",
    "<details{id}><summary>x</summary>{}</details>",
    '<div class="admonition note"><p class="admonition-title">Note</p>{}</div>',
    "<table><thead><tr><th>k</th></tr></thead><tbody><tr><td>{}</td><td>{}</td></tr></table>",
    "<table><tr><td><table><tr><td>{}</td></tr></table></td></tr></table>",
)
_UNSEEN = (
    *("<nav>{}</nav>", "<div data-search-exclude>{}</div>", "<section hidden>{}</section>"),
    *('<template><div>{}</div></template>', '<div class="md-tags">{}</div>'),
)  # fmt: skip
# An excluded heading takes out what stands under it.
_EXCLUDED_TEXT = "<h2 data-search-exclude>x</h2><p>{}</p><h2>x</h2>"
_ROOTS = (
    _HEADING,
    *(_within(form, _text) for form in _LINES),
    _within(_EXCLUDED_TEXT, _text).map(_hidden),
)
_flow = st.recursive(
    st.one_of(*_ROOTS),
    lambda inner: st.one_of(
        *(_within(form, _joined(inner)) for form in _BLOCKS),
        *(_within(form, _joined(inner)).map(_hidden) for form in _UNSEEN),
    ),
    max_leaves=10,
)


def _numbered(html: str) -> str:
    """Each word that must show, made one of its own."""
    first, *others = html.split(SHOWN)
    return first + "".join(f"{SHOWN}{number}{part}" for number, part in enumerate(others))


WELL_FORMED = _joined(_flow, 6).map(_numbered)

_TAGS = (
    "div p span section article h1 h2 h3 ul ol li table tr td th tbody caption pre code dl dt dd "
    "details summary svg math foreignObject template script style nav form select option button "
    "a b i abbr br hr textarea title head body html frameset noscript iframe plaintext "
).split()
_ATTRIBUTES = (
    *(
        'id="a"',
        "id=a~2",
        "id",
        'id="',
        "class='highlight",
        "class=tabbed-set",
        "class=tabbed-content",
        "class=admonition-title",
        "class='admonition language-<b>'",
        "role=tablist",
        "role=tabpanel",
        "data-termynal",
        "href=/x/",
        "start=9",
        'class="highlight"',
        "hidden",
        "name=n",
    ),
    *(
        "data-search-exclude",
        "title=x",
        'title="long form"',
        "=",
        "/",
        "<",
        "a\x00b=c",
        'lang="\ud800"',
    ),
)
_opening = st.tuples(st.sampled_from(_TAGS), st.lists(st.sampled_from(_ATTRIBUTES), max_size=3))
_token = st.one_of(
    _odd,
    ANY_TEXT,
    _opening.map(lambda drawn: f"<{' '.join((drawn[0], *drawn[1]))}>"),
    st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from(["<!--", "-->", "<![CDATA[", "]]>", "<", "</", "<!doctype html>", "&", "&#x"]),
)
BROKEN = st.lists(_token, max_size=30).map("".join)


@cache
def rendered() -> tuple[str, ...]:
    """This repository's docs as HTML."""
    docs = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
    extensions = ["admonition", "attr_list", "md_in_html", "tables", "toc", "pymdownx.highlight"]
    return tuple(
        markdown.markdown(
            path.read_text(encoding="utf-8"),
            extensions=[*extensions, "pymdownx.superfences"],
            extension_configs={"toc": {"permalink": True}},
        )
        for path in docs
    )


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A part of the docs of which some places are cut, doubled or overwritten."""
    html = draw(st.sampled_from(rendered()))
    start = draw(st.integers(0, len(html)))
    html = html[start : start + 4000]
    for _ in range(draw(st.integers(1, 5))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(html))] * 2)))
        html = draw(
            st.sampled_from([html[:at] + html[end:], html[:end] + html[at:]])
            | _token.map(lambda token: html[:at] + token + html[at:])  # noqa: B023
        )
    return html[:6000]
