"""What cohorts do to marked pictures: every attack by family, weak to strong."""

from __future__ import annotations

from pytest_benchbench.cohorts.attacks import image_compression, image_filters, image_geometry, image_sharing, image_tone
from pytest_benchbench.cohorts.attacks.attack import FileAttack, chained
from pytest_benchbench.cohorts.attacks.image_compression import jpeg_writer
from pytest_benchbench.cohorts.attacks.image_geometry import PNG, cropped_centre
from pytest_benchbench.cohorts.attacks.image_tone import enhanced
from pytest_benchbench.cohorts.pictures import Pixels


def _combined(name: str, percent: int, brightness: float, quality: int, strength: float | None) -> FileAttack[Pixels]:
    """Crop the centre without restoring the size, change the brightness, write a 4:4:4 JPEG."""
    tone = "brightness-up" if brightness > 1 else "brightness-down"
    crop = FileAttack(
        name=f"crop-centre-{percent}-unrestored", family="", change=cropped_centre(percent, restored=False), writer=PNG
    )
    shade = FileAttack(name=f"{tone}-{brightness:g}", family="", change=enhanced("brightness", brightness), writer=PNG)
    return FileAttack(
        name=name,
        family="combined" if strength else name,
        strength=strength,
        change=chained(crop, shade),
        writer=jpeg_writer(quality),
        keeps_positions=False,
    )


ATTACKS: tuple[FileAttack[Pixels], ...] = (
    *image_compression.ATTACKS,
    *image_geometry.ATTACKS,
    *image_filters.ATTACKS,
    *image_tone.ATTACKS,
    _combined("combined-omniseal", 50, 1.5, 80, strength=None),  # of OmniSeal Bench, there called comb
    *(_combined(f"combined-{quality}", 71, 0.5, quality, strength=quality) for quality in (80, 60, 40)),  # of VideoSeal
    *image_sharing.ATTACKS,
)
"""Every image attack, each family from weak to strong."""
