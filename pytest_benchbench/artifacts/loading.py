"""Loading artifacts: verified, decoded once, and kept while they fit."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from pytest_benchbench.artifacts.media import DEFAULT_MAX_PIXELS, DecodedMedia, MediaType, UndecodableArtifactError
from pytest_benchbench.artifacts.verification import FilePath, read_verified

DEFAULT_MAX_BYTES = 256 * 1024 * 1024
"""Decoded media and the files they came from that are kept: 256 MiB."""

_FAILURE_BYTES = 1024
"""What a remembered failure counts in the cache, so that failures are forgotten like everything else."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A verified artifact.

    Attributes:
        media_type: ``image``, ``audio``, ``video`` or ``text``.
        sha256: Digest of ``data``.
        data: The file's bytes.
        decoded: The decoded medium where it was asked for; its arrays are read-only, since rows share them. A video holds
            its frames only where that was asked for too.
    """

    media_type: MediaType
    sha256: str
    data: bytes
    decoded: DecodedMedia | None


@dataclass(slots=True)
class _Kept:
    content: Artifact | UndecodableArtifactError
    size: int
    verified: set[FilePath] = field(default_factory=set)


class ArtifactLoader:
    """Reads, verifies and decodes artifacts; the least recently used ones make room when ``max_bytes`` is reached.

    Rows of one adapter run one after another, and several may name the same artifact: within such a group each is decoded
    once, as long as it fits. One loader serves one process and one thread.

    Args:
        max_bytes: What the kept files and decoded media may take. An artifact that is larger is decoded at each use.
        max_pixels: Largest accepted product of width and height of an image or of a video's frame.

    Attributes:
        hits: Decodes that were saved.
        misses: Decodes that were done.
    """

    def __init__(self, max_bytes: int = DEFAULT_MAX_BYTES, max_pixels: int = DEFAULT_MAX_PIXELS) -> None:
        self.hits = 0
        self.misses = 0
        self._max_bytes = max_bytes
        self._max_pixels = max_pixels
        self._kept: OrderedDict[tuple[str, MediaType], _Kept] = OrderedDict()
        self._size = 0

    def load(self, path: FilePath, sha256: str, media_type: MediaType, *, decode: bool, whole: bool = False) -> Artifact:
        """Give a verified artifact.

        Args:
            path: As ``resolve_artifact`` returned it. Each path is verified, also where its digest has been seen elsewhere.
            sha256: The pinned digest, 64 lower-case hex digits.
            media_type: What to decode it as.
            decode: Whether the decoded medium is wanted; without it the bytes are read and verified, and nothing is kept.
            whole: Whether a video's frames are wanted in memory at once. The cache keeps them so if there is room, and else
                the video alone, which is streamed.

        Raises:
            ArtifactUnreadableError: There is no readable regular file.
            ArtifactMismatchError: The digest differs.
            UndecodableArtifactError: The bytes cannot be decoded as ``media_type``, or a whole video exceeds its bound.
        """
        if not decode:
            return Artifact(media_type, sha256, read_verified(path, sha256), None)
        kept = self._kept.get((sha256, media_type))
        if kept is None:
            self.misses += 1
            kept = self._decode(path, sha256, media_type)
            self._keep((sha256, media_type), kept)
        else:
            if path not in kept.verified:
                read_verified(path, sha256)
            self.hits += 1
            self._kept.move_to_end((sha256, media_type))
        kept.verified.add(path)
        if isinstance(kept.content, UndecodableArtifactError):
            raise UndecodableArtifactError(*kept.content.args)  # a new one: a raised exception keeps its traceback
        return self._whole((sha256, media_type), kept, kept.content) if whole else kept.content

    def _whole(self, key: tuple[str, MediaType], kept: _Kept, artifact: Artifact) -> Artifact:
        """Give an artifact with the frames of a video in memory, and keep it so if that leaves the cache in its bounds."""
        if artifact.media_type != "video":
            return artifact
        from pytest_benchbench.artifacts.video import Video

        video = artifact.decoded
        assert isinstance(video, Video)
        held = video.held()
        artifact = replace(artifact, decoded=held)
        size = kept.size + held.nbytes - video.nbytes
        if self._kept.get(key) is kept and size <= self._max_bytes:
            self._size += size - kept.size
            kept.content, kept.size = artifact, size
            self._make_room()
        return artifact

    def _decode(self, path: FilePath, sha256: str, media_type: MediaType) -> _Kept:
        from pytest_benchbench.artifacts.decoding import decode  # adapters that take bytes need none of its libraries

        data = read_verified(path, sha256)
        try:
            decoded, size = decode(data, media_type, max_pixels=self._max_pixels)
            return _Kept(Artifact(media_type, sha256, data, decoded), len(data) + size)
        except UndecodableArtifactError as error:
            if isinstance(error.__context__, MemoryError):
                raise  # says nothing about the bytes: another time there may be room
            return _Kept(UndecodableArtifactError(*error.args), _FAILURE_BYTES)

    def _keep(self, key: tuple[str, MediaType], kept: _Kept) -> None:
        if kept.size > self._max_bytes:
            return
        self._kept[key] = kept
        self._size += kept.size
        self._make_room()

    def _make_room(self) -> None:
        while self._size > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._size -= oldest.size
