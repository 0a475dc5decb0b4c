"""Test the tags of the widget in a page: once, before the end of its body."""

import pytest

from answerable.indexing.widget.injection import inject_tags, write_tags

SCRIPT = '<script type="module" src="x/assets/answerable/ask-box.js" data-placement=""></script>\n'
TAGS = f'<link rel="answerable" href="/ask/?a&amp;b">\n{SCRIPT}'
OTHERS = write_tags("y/assets/answerable/offline.js", None, "header", "Alt+K")


def test_tags_name_the_script_and_where_it_asks() -> None:
    assert write_tags("x/assets/answerable/ask-box.js", "/ask/?a&b", "") == TAGS
    assert OTHERS == (
        '<script defer src="y/assets/answerable/offline.js" data-placement="header" '
        'data-shortcut="Alt+K"></script>\n'
    )
    assert "data-" not in write_tags("x/assets/answerable/ask-box.js", None, "none", "Alt+K")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<body>a</body></html>", f"<body>a{TAGS}</body></html>"),
        ("<q></body></q>caf\udce9</body>", f"<q></body></q>caf\udce9{TAGS}</body>"),
        (f"<body>a{OTHERS}</body>", f"<body>a{TAGS}</body>"),
        ("<p>a fragment", "<p>a fragment"),
    ],
)
def test_tags_are_put_in_once(before: str, after: str) -> None:
    assert inject_tags(before, TAGS) == after
    assert inject_tags(after, TAGS) == after
