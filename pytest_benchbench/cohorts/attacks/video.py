"""What cohorts do to marked clips: every attack by family, weak to strong."""

from __future__ import annotations

from pytest_benchbench.cohorts.attacks import video_compression, video_frames, video_geometry, video_time
from pytest_benchbench.cohorts.attacks.attack import FileAttack, chained
from pytest_benchbench.cohorts.attacks.video_compression import clip_writer
from pytest_benchbench.cohorts.clips import Clip, x264


def _combined(crf: int) -> FileAttack[Clip]:
    """Crop the centre to 71 percent of the sides, halve the brightness, write H.264: VideoSeal's combination."""
    crop = next(attack for attack in video_geometry.ATTACKS if attack.name == "crop-centre-71")
    shade = next(attack for attack in video_frames.ATTACKS if attack.name == "frames-brightness-down-0.5")
    return FileAttack(
        name=f"combined-{crf}",
        family="combined",
        strength=crf,
        change=chained(crop, shade),
        writer=clip_writer(x264(crf)),
        keeps_positions=False,
    )


ATTACKS: tuple[FileAttack[Clip], ...] = (
    *video_compression.ATTACKS,
    *video_geometry.ATTACKS,
    *video_time.ATTACKS,
    *video_frames.ATTACKS,
    *map(_combined, (23, 30, 40, 50)),
)
"""Every video attack, each family from weak to strong."""
