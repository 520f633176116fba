"""The ``benchbench`` command, one module for each of its commands."""

from importlib import import_module
from typing import Any

import click

from pytest_benchbench import __version__
from pytest_benchbench.cli.streams import prepare_streams

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended, as of one that the signal itself ends."""

_COMMANDS = {
    "adapters": "What can be asked here, and why the rest cannot.",
    "browser-proof": "Prove that an extension sends nothing.",
    "calibrate": "Fit how raw scores become probabilities.",
    "cluster": "Propose split groups for images that look alike.",
    "compare": "Say what changed between two runs.",
    "contamination": "Say whether training data holds the holdout.",
    "evaluate": "Say how well scores tell AI images from real ones.",
    "cohort": "Build artifacts and their manifest by a recipe.",
    "freeze": "Put down the digest of a golden set.",
    "gate": "Decide by a policy whether evidence is good enough.",
    "history": "Append runs of a golden set, and say what got worse.",
    "reproduce": "Say whether two runs of a golden set agree.",
    "package": "Pack a build as a release, if its evidence passes.",
    "manifest": "Write a manifest from files of one's own.",
    "report": "Sum up one or several runs, or export their rows.",
    "run": "Run shards on many workers and merge them.",
    "merge": "Join the directories of runs, such as shards.",
    "power": "Say how many bases pass a gate, and how often.",
    "profile": "Measure what whole processes cost, in time and memory.",
    "validate": "Say what is wrong with a manifest.",
}


class _LazyGroup(click.Group):
    """Imports a command when it is called; the list of commands needs none of them, so ``benchbench --help`` is quick."""

    def main(self, *args: Any, **more: Any) -> Any:
        prepare_streams()
        return super().main(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="benchbench")
def main() -> None:
    """Prepare, check and read benchmarks that pytest runs.

    Exit codes: 0 done, 1 the thing checked is bad, 2 usage, 20 refused or inconclusive, 21 incomplete, 130 interrupted.
    """
