"""Makes the studies of ``docs/baselines`` anew, from nothing: cohort, three runs, one report for each study.

    python benchmarks/baselines.py                    all studies; their reports are replaced, and the figures of the pages
    python benchmarks/baselines.py --list             what there is, and the commands of each study
    python benchmarks/baselines.py real-image         one study
    python benchmarks/baselines.py --check            makes them too, replaces nothing, says whether results are equal
    python benchmarks/baselines.py --fill             makes nothing; puts the committed figures into the pages

It runs the commands that it prints, in the root of this repository, with the Python that it is called by: nothing else makes
a report. Cohorts and runs go to ``.benchbench/baselines``, which must not have those of the study yet; ``--work`` names
another folder, which makes no difference to the results. A study whose packages are missing is refused; the page
``docs/baselines.md`` says what to install, and how long it takes.
``PYTEST_ADDOPTS="-n 2"`` in the environment uses two processors. Exit code 1: a study failed, or its results differ.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from baseline_bits import embedded_bits
from baseline_pages import BASELINES, PAGES, ROOT, fill
from baseline_studies import STUDIES, WORK, Study, commands

BITS = "embedded-bits.json"
REPORT = "report.json"
MARKDOWN = "report.md"

MEASURED = (0, 1)
"""Exit codes of a run that asked about every row: a missed mark is a result of a study."""


class StudyError(Exception):
    """A study cannot be made; one line."""


def make(study: Study, work: Path) -> dict[str, str]:
    """Make a study.

    Returns:
        The committed files by name.

    Raises:
        StudyError: A command fails, or a row has no verdict or another one in another run.
    """
    before = _processor_time()
    for command in commands(study, work):
        print("$", shlex.join(command), flush=True)
        if (status := subprocess.run(_here(command), cwd=ROOT).returncode) not in (
            MEASURED if command[0] == "pytest" else (0,)
        ):
            raise StudyError(f"{study.name}: exit code {status} of {shlex.join(command)}")
    print(f"{study.name}: {_processor_time() - before:.0f} s of processor time", flush=True)
    made = ROOT / work / f"{study.name}-report"
    report = json.loads((made / REPORT).read_bytes())
    _refuse_gaps(study, report["results"])
    files = {REPORT: compact(report), MARKDOWN: (made / MARKDOWN).read_text(encoding="utf-8")}
    if study.counts_bits:
        files[BITS] = compact(embedded_bits(ROOT / work / study.name / "manifest.jsonl"))
    return files


def compact(document: dict[str, Any]) -> str:
    """Write JSON with a line for each entry of a list and each plain member, so that a difference can be read."""

    def lines(value: Any, indent: str) -> str:
        inner = f"{indent} "
        if isinstance(value, dict) and any(isinstance(member, (dict, list)) and member for member in value.values()):
            members = (f"{json.dumps(name)}: {lines(member, inner)}" for name, member in value.items())
            return "{\n" + ",\n".join(f"{inner}{member}" for member in members) + f"\n{indent}}}"
        if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
            entries = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in value)
            return "[\n" + ",\n".join(f"{inner}{entry}" for entry in entries) + f"\n{indent}]"
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    return lines(document, "") + "\n"


def differences(study: Study, files: dict[str, str]) -> list[str]:
    """Say what of a study made anew differs from what is committed, of all that must not: manifest, results and bits."""
    folder = BASELINES / study.name
    was, now = (json.loads(text) for text in ((folder / REPORT).read_text(encoding="utf-8"), files[REPORT]))
    told = [f"results.{part}" for part in was["results"] if was["results"][part] != now["results"].get(part)]
    told += [part for part in ("manifests",) if was["inputs"][part] != now["inputs"][part]]
    if BITS in files and files[BITS] != (folder / BITS).read_text(encoding="utf-8"):
        told.append(BITS)
    return told


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _here(command: list[str]) -> list[str]:
    if command[0] == "pytest":
        return [sys.executable, "-m", *command]
    return [str(Path(sysconfig.get_path("scripts")) / command[0]), *command[1:]]


def _refuse_gaps(study: Study, results: dict[str, Any]) -> None:
    repetition = results["repetition"]
    gaps = {
        name: results[name]["count"] for name in ("errors", "unavailable", "not_run", "unstable", "unstable_across_runs")
    }
    if repetition["rows_in_every_run"] != repetition["rows"]:
        gaps["rows that not every run has"] = repetition["rows"] - repetition["rows_in_every_run"]
    if any(gaps.values()):
        raise StudyError(f"{study.name}: {', '.join(f'{count} {name}' for name, count in gaps.items() if count)}")


def _replace(study: Study, files: dict[str, str]) -> None:
    folder = BASELINES / study.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{study.name}: {', '.join(files)} in {folder.relative_to(ROOT)}")


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="all of them if none is named")
    parser.add_argument("--list", action="store_true", help="print the studies with their commands")
    parser.add_argument("--check", action="store_true", help="replace nothing, compare with what is committed")
    parser.add_argument("--fill", action="store_true", help="only put the committed figures into the pages")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for cohorts and runs, seen from the repository")
    arguments = parser.parse_args()
    if unknown := set(arguments.studies) - set(STUDIES):
        parser.error(f"no such study: {', '.join(sorted(unknown))}; --list names them")
    chosen = [study for study in STUDIES.values() if not arguments.studies or study.name in arguments.studies]
    if arguments.list:
        for study in chosen:
            print(f"{study.name}: {study.about}", *(f"  {shlex.join(command)}" for command in commands(study)), sep="\n")
        return 0
    status = 0
    for study in () if arguments.fill else chosen:
        try:
            files = make(study, arguments.work)
        except StudyError as error:
            print(f"failed: {error}", file=sys.stderr)
            status = 1
            continue
        if not arguments.check:
            _replace(study, files)
        elif told := differences(study, files):
            print(f"differs: {study.name}: {', '.join(told)}", file=sys.stderr)
            status = 1
        else:
            print(f"equal: {study.name}")
    if not arguments.check:
        for page in PAGES:
            page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
