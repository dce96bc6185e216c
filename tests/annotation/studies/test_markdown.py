"""Managers' Markdown as HTML: nothing in it can do harm, and texts written before Markdown read as they did."""

import re

import pytest
from django.conf import settings

from annotation.protocols.registry import PROTOCOLS
from annotation.studies import markdown
from annotation.studies.instructions import default_instructions
from annotation.studies.markdown import Picture, problems, to_html
from benchmarks.differences import ADDED, MOST, REMOVED, SAME, differences, marked

HAND = Picture("six-fingers", "/instructions/ab.jpg", 640, 480)


def shape(html: str) -> list[tuple[str, str]]:
    """(element, its text) of the paragraphs and points."""
    found = re.findall(r"<(p|li)\b[^>]*>(.*?)</\1>", html, flags=re.DOTALL)
    assert not re.search(r"<(?!/?(?:p|ul|li)\b)", html)
    return [(name, " ".join(text.split())) for name, text in found]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_default_instructions_have_a_line_for_each_paragraph_and_point_and_show_them(name):
    for language in dict(settings.LANGUAGES):
        text = default_instructions(PROTOCOLS[name], language)
        lines = [line for line in text.split("\n") if line]
        wanted = [("li", line[2:]) if line.startswith("- ") else ("p", line) for line in lines]
        assert shape(to_html(text).replace("&quot;", '"').replace("&amp;", "&")) == wanted, language


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Look\nwell.\n\n- one\n  more\n- two", [("p", "Look well."), ("li", "one more"), ("li", "two")]),
        ("Look:\n- one", [("p", "Look:"), ("li", "one")]),
        ("Look\n===", [("p", "Look ===")]),
        ("    far in\n\nb", [("p", "far in"), ("p", "b")]),
        ("[a]: b", [("p", "[a]: b")]),
        ("a < b & “c”", [("p", "a &lt; b &amp; “c”")]),
    ],
)
def test_a_text_written_before_markdown_reads_as_it_did(text, wanted):
    assert shape(to_html(text)) == wanted


def test_formatting_becomes_elements_below_the_pages_headings():
    html = to_html("# Pick\n\n1. **Look**\n\n> *so*\n\n| A |\n| :-: |\n| 1 |\n\n[w](https://x.org/?a=1&b)", level=3)
    for part in ("<h3", "<ol", "<strong>Look", "<blockquote", "<em>so", '<th scope="col">A', "<td>1"):
        assert part in html
    assert 'href="https://x.org/?a=1&amp;b" target="_blank" rel="noopener noreferrer"' in html and "style" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>", "<img src=x onerror=y>", "[x](javascript:alert(1))", "<javascript:alert(1)>",
        "[x](/judge/token)", "![x](https://x.org/a.png)", "![x](data:image/png;base64,aa)", '![x](six-fingers "t")',
        '[x](https://x.org/"onclick=y)', "[x](vbscript:y)", "```js\" onclick=\n<b>\n```",
    ],
)  # fmt: skip
def test_nothing_but_links_to_the_web_and_uploaded_images_leads_anywhere(text):
    html = to_html(text, [HAND])
    tags = re.findall(r"<[^>]+>", html)
    assert not any("script" in tag or "onerror" in tag or "data:" in tag for tag in tags)
    assert not re.search(r'(?:src|href)="(?!https://x\.org/|/instructions/)', html) and '" onclick' not in html
    assert not re.search(r'src="https', html) and not re.search(r'"onclick', html)


def test_an_uploaded_image_has_its_address_size_and_description():
    html = to_html('![a "hand" <b>](six-fingers) ![gone](other)', [HAND])
    assert 'src="/instructions/ab.jpg" alt="a &quot;hand&quot; &lt;b&gt;" width="640" height="480"' in html
    assert html.count("<img") == 1 and "gone" in html


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("![a hand](six-fingers) [w](https://x.org) <mailto:a@b.org>", []),
        ("![](six-fingers)", ["Describe the image “six-fingers”"]),
        ("- ![x](other)\n- ![y](other)", ["No uploaded image is named “other”"]),
        ("![x](https://x.org/a.png)", ["No uploaded image is named “https://x.org/a.png”"]),
        ("[x](page) [y](javascript:z)", ["The link “page”", "The link “javascript:z”"]),
    ],
)
def test_problems_with_images_and_links_are_named(text, found):
    assert [sentence[: len(start)] for sentence, start in zip(problems(text, ["six-fingers"]), found, strict=True)] == (
        found
    )


def test_a_text_is_rendered_once():
    markdown._rendered.cache_clear()
    assert to_html("Look.", [HAND]) is to_html("Look.", [HAND])


# Differences


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("Look.\n", "Look.\n", [(SAME, "Look.\n")]),
        ("Pick a cat.", "Pick the cat.", [(SAME, "Pick"), (REMOVED, " a"), (ADDED, " the"), (SAME, " cat.")]),
        ("a\nb\n", "a\nc d\nb\n", [(SAME, "a\n"), (ADDED, "c d\n"), (SAME, "b\n")]),
        ("请选择一张图", "请选择两张图", [(SAME, "请选择"), (REMOVED, "一"), (ADDED, "两"), (SAME, "张图")]),
        ("", "New.", [(ADDED, "New.")]),
        ("Pick one of them.", "Rank the pictures.", [(REMOVED, "Pick one of them."), (ADDED, "Rank the pictures.")]),
    ],
)
def test_differences_are_by_words_and_lose_nothing(before, after, parts):
    found = differences(before, after)
    assert found == parts
    assert "".join(text for kind, text in found if kind != ADDED) == before
    assert "".join(text for kind, text in found if kind != REMOVED) == after


def test_long_texts_are_compared_by_lines_or_shown_whole():
    words = " ".join(f"w{place}" for place in range(MOST))
    assert differences(f"a\n{words} x", f"a\n{words} y") == [
        (SAME, "a\n"),
        (REMOVED, f"{words} x"),
        (ADDED, f"{words} y"),
    ]
    lines = words.replace(" ", "\n")
    assert differences(lines, f"{lines}\n") == [(REMOVED, lines), (ADDED, f"{lines}\n")]


def test_a_difference_is_marked_in_words_too():
    html = marked([(REMOVED, "<b>"), (ADDED, "x")])
    assert html == (
        '<del><span class="visually-hidden">removed: </span>&lt;b&gt;</del>'
        '<ins><span class="visually-hidden">added: </span>x</ins>'
    )
