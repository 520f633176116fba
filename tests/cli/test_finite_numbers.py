"""A number on the command line is finite: click itself takes NaN for a number of every range."""

import click
import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


def commands(command=main, words=()):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))
    else:
        yield words, command


OPTIONS = [
    (words, option)
    for words, command in commands()
    for option in command.params
    if isinstance(option.type, click.types.FloatParamType)
]


def test_the_options_are_found():
    assert {(words[0], option.opts[0]) for words, option in OPTIONS} >= {("compare", "--alpha"), ("power", "--miss-rate")}


@pytest.mark.parametrize("written", ["nan", "-NaN", "inf", "-inf", "Infinity", "1e400", "-1", "-1e400"])
@pytest.mark.parametrize(("words", "option"), OPTIONS, ids=[f"{'-'.join(w)}{o.opts[0]}" for w, o in OPTIONS])
def test_a_number_that_is_none_or_out_of_range_is_wrong_use(words, option, written, tmp_path):
    arguments = [each for each in dict(commands())[words].params if isinstance(each, click.Argument) and each.required]
    positional = [str(tmp_path)] * len(arguments)
    result = CliRunner().invoke(main, [*words, f"{option.opts[0]}={written}", *positional])
    assert result.exit_code == 2, result.output
    *usage, said = result.stderr.splitlines()
    reason = "is not in the range" if written == "-1" else f"{written} is not a finite number"
    assert said.startswith(f"Error: Invalid value for '{option.opts[0]}': ")
    assert reason in said
    assert not any(line.startswith(("Error", "Traceback")) for line in usage)


@pytest.mark.parametrize(("words", "option"), OPTIONS, ids=[f"{'-'.join(w)}{o.opts[0]}" for w, o in OPTIONS])
def test_a_number_within_the_range_is_taken(words, option):
    assert option.type.convert("0.5" if option.type.max else "2", option, None) in (0.5, 2.0)
    with pytest.raises(click.BadParameter, match="'many' is not a valid float"):
        option.type.convert("many", option, None)
