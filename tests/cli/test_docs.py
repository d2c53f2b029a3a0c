"""The commands in docs/guides/command.md write what is shown below them.

BESTCUT_GOLDEN=write puts in what they write.
"""

import os
import re
import shlex
from pathlib import Path

from cli.run import APART, assert_written, call, cli, shell

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "command.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def transcript(block, folder):
    """Return the commands of a block, each followed by all it writes."""
    text = ""
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        plain = command.startswith("bestcut ") and not re.search("[|<>]", command)
        if plain and not APART:  # no need for a shell
            written = call(*shlex.split(command)[1:]).output
        else:
            written = shell(f"({command}) 2>&1", folder).stdout.decode()
        text += f"$ {command}\n{written}"
    return text


def test_commands_do_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    text = PAGE.read_text(encoding="utf-8")
    examples = re.findall(r"^```csv\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names = (
        *("scores.csv", "payments.csv", "animals.csv", "tags.csv", "pairs.csv"),
        "labelled.csv",
    )
    for name, example in zip(names, examples, strict=True):
        (tmp_path / name).write_text(example, encoding="utf-8")
    blocks = BLOCK.findall(text)
    found = [transcript(block, tmp_path) for block in blocks]
    if os.environ.get("BESTCUT_GOLDEN") == "write":
        parts = iter(found)
        new = BLOCK.sub(lambda _: f"```console\n{next(parts)}```", text)
        PAGE.write_text(new, encoding="utf-8")
        blocks = BLOCK.findall(new)
    assert_written("\n".join(found), "\n".join(blocks))
    assert len(found) >= 8  # the pattern still finds them


def test_every_command_and_every_option_of_it_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for name, command in cli.commands.items():
        assert f"$ bestcut {name}" in text
        for option in (x for p in command.params for x in p.opts if x[:2] == "--"):
            assert option in text, f"{name} {option}"
