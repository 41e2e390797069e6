"""Each page's commands print what the page says; and a page that says something else fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import snippets

LANGUAGES = {"console", "text", "toml", "json", "yaml", "cedar", "python", "js", "ini", "nginx", "caddyfile", "http"}


@pytest.mark.parametrize("page", snippets.pages(), ids=lambda page: str(page.relative_to(snippets.REPOSITORY)))
def test_the_commands_of_a_page_print_what_it_says(page: Path, tmp_path: Path):
    assert snippets.play(page.read_text(), tmp_path) > 0


def test_every_fenced_block_says_what_it_is():
    for page in [snippets.REPOSITORY / "README.md", *(snippets.REPOSITORY / "docs").rglob("*.md")]:
        for number, language, _ in snippets.fences(page.read_text()):
            assert language in LANGUAGES, f"{page.name}:{number}: '{language}' is not one of {sorted(LANGUAGES)}"


def console(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```", ""])


@pytest.mark.parametrize(
    "wrong",
    [
        console("$ echo one", "two"),
        console("$ echo one", "one", "two"),
        console("$ printf 'one\\ntwo\\n'", "one"),
        console("$ false"),
        console("$ exit_with() { return 2; }; exit_with", "…"),
        console("$ toolgate nonsense", "…"),
        console("$ toolgate serve", "This is not what it says."),
    ],
)
def test_a_page_that_is_wrong_fails(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(snippets, "WITHIN_SECONDS", 5.0)
    with pytest.raises(AssertionError, match="line|end"):
        snippets.play(wrong, tmp_path)


def test_a_page_is_one_session(tmp_path: Path):
    page = console("$ WORD=hello", "$ cd ..; cd -", "…") + "\n```toml\n# a/b.toml\nx = 1\n```\n" + console(
        "$ echo $WORD \\", "> again", "hello a…n", "$ cat a/b.toml", "…", "x = 1"
    )
    assert snippets.play(page, tmp_path) == 4


def test_an_ellipsis_stands_for_anything_and_nothing_else_does():
    matches = lambda expected, printed: bool(snippets.pattern(expected).fullmatch(printed))  # noqa: E731
    assert matches(["a … c", "…", "z"], "a b c\n1\n2\nz\n")
    assert matches(["…", "z"], "z\n")
    assert not matches(["a.c"], "abc\n")
    assert not matches(["…", "z"], "z\ny\n")
    assert re.fullmatch(snippets.pattern([]), "")


@pytest.mark.parametrize("name", ["/etc/toolgate.service", "../toolgate.toml", "a/../../b.toml"])
def test_a_file_outside_of_the_folder_is_only_read(name: str):
    assert snippets.steps(f"```toml\n# {name}\nx = 1\n```\n") == []
    assert snippets.steps("```toml\n# rules/own.test.toml\nx = 1\n```\n") != []
