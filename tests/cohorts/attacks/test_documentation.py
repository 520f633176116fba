"""``docs/attacks.md`` says of every attack what its record says."""

import json
import re
from pathlib import Path

import pytest

from pytest_benchbench.cohorts.attacks.registry import attacks_of, families_of

PAGE = (Path(__file__).parents[3] / "docs" / "attacks.md").read_text(encoding="utf-8")
SECTIONS = {"image": "Images", "image-file": "Image files", "audio": "Audio", "video": "Video"}


def table(heading):
    """Give the cells of the table below a heading, without its head."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


ENCODERS = {name: settings.strip("`") for name, settings in table("Encoders")}
ROWS = [(media_type, row) for media_type, heading in SECTIONS.items() for row in table(heading)]


def names_of(row):
    return re.findall(r"`([^`]+)`", row[0])


def shown(template, number):
    return json.loads(template.strip("`").replace("<n>", number))


def agrees(said, recorded):
    """Compare what the page says with a record; an ellipsis stands for anything."""
    if said == "…":
        return True
    if isinstance(said, dict):
        return list(said) == list(recorded) and all(agrees(said[key], recorded[key]) for key in said)
    if isinstance(said, list):
        return len(said) == len(recorded) and all(map(agrees, said, recorded))
    return said == recorded


def encoder_shown(cell, number):
    """Find an encoder's settings: ``JPEG 80`` names one and its quality."""
    name = max((name for name in ENCODERS if cell.strip("`").startswith(name)), key=len)
    return shown(ENCODERS[name], cell.strip("`").removeprefix(name).strip().replace("<n>", number))


@pytest.mark.parametrize("media_type", SECTIONS)
def test_the_page_lists_the_attacks_in_the_order_of_the_registry(media_type):
    listed = [name for kind, row in ROWS if kind == media_type for name in names_of(row)]
    assert listed == list(attacks_of(media_type))


@pytest.mark.parametrize("media_type", SECTIONS)
def test_a_row_of_the_page_is_a_family(media_type):
    grids = [[attack.name for attack in grid] for grid in families_of(media_type).values()]
    listed = [names_of(row) for kind, row in ROWS if kind == media_type]
    assert [row for row in listed if attacks_of(media_type)[row[0]].strength is not None] == grids
    assert all(len(row) == 1 for row in listed if attacks_of(media_type)[row[0]].strength is None)


@pytest.mark.parametrize(("media_type", "row"), ROWS, ids=[f"{kind}-{names_of(row)[0]}" for kind, row in ROWS])
def test_the_page_says_what_an_attack_records(media_type, row, media):
    _, _, _, parameters, encoder, reproducible, kept = row
    for name in names_of(row):
        attack = attacks_of(media_type)[name]
        number = "" if attack.strength is None else f"{attack.strength:g}"
        recorded = attack.apply(media[media_type]).parameters
        settings = recorded.pop("encoder")
        assert agrees(shown(parameters, number), recorded), recorded
        assert agrees(encoder_shown(encoder, number), settings), settings
        assert reproducible == attack.reproducible
        assert kept == ("yes" if attack.keeps_positions else "no")
