"""From an artifact's bytes to the decoded medium, by its type. Imports the libraries of all of them."""

from __future__ import annotations

from pytest_benchbench.artifacts.audio import decode_audio
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import DecodedMedia, MediaType
from pytest_benchbench.artifacts.text import decode_text
from pytest_benchbench.artifacts.video import decode_video


def decode(data: bytes, media_type: MediaType, *, max_pixels: int) -> tuple[DecodedMedia, int]:
    """Decode an artifact.

    Args:
        data: The file's bytes.
        media_type: What to decode them as.
        max_pixels: Largest accepted product of width and height of an image or of a video's frame.

    Returns:
        The medium, and how many bytes it takes in memory; a video without its frames, which are streamed.

    Raises:
        UndecodableArtifactError: The bytes cannot be decoded as ``media_type``.
    """
    if media_type == "image":
        image = decode_image(data, max_pixels=max_pixels)
        return image, image.pixels.nbytes
    if media_type == "audio":
        audio = decode_audio(data)
        return audio, audio.samples.nbytes
    if media_type == "video":
        video = decode_video(data, max_pixels=max_pixels)
        return video, video.nbytes
    text = decode_text(data)
    return text, 4 * len(text.text)
