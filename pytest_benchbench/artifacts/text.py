"""Text artifacts: strict UTF-8, nothing normalised."""

from dataclasses import dataclass, field
from typing import Any

from pytest_benchbench.artifacts.media import UndecodableArtifactError


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded text.

    Attributes:
        text: The characters, exactly as encoded; line ends and a leading byte-order mark are kept.
        decoding: ``{"rule": "utf-8", "characters": n}``.
    """

    text: str = field(repr=False)  # what shows local variables shows no text of a golden set
    decoding: dict[str, Any]


def decode_text(data: bytes) -> Text:
    """Decode strict UTF-8.

    Raises:
        UndecodableArtifactError: The bytes are not valid UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UndecodableArtifactError(f"not valid UTF-8 at byte {error.start}") from None
    return Text(text, {"rule": "utf-8", "characters": len(text)})
