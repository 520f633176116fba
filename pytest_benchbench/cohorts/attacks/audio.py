"""What cohorts do to marked sounds: every attack by family, weak to strong."""

from __future__ import annotations

from pytest_benchbench.cohorts.attacks import audio_compression, audio_filters, audio_time
from pytest_benchbench.cohorts.attacks.attack import FileAttack
from pytest_benchbench.cohorts.sounds import Samples

ATTACKS: tuple[FileAttack[Samples], ...] = (*audio_compression.ATTACKS, *audio_filters.ATTACKS, *audio_time.ATTACKS)
"""Every audio attack, each family from weak to strong."""
