"""Image files that are damaged and can still be decoded: metadata are taken out or carried over, or the file is refused."""

import io

import numpy as np
import PIL.Image
import pytest
from hypothesis import event, given, strategies as st

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.image_containers import jpeg_segment, parts_of, png_chunk, webp_chunk
from pytest_benchbench.cohorts.attacks.image_metadata import ImageFile
from pytest_benchbench.cohorts.attacks.registry import attacks_of

PIECES = [
    jpeg_segment(0xFE, b"comment"),
    jpeg_segment(0xE2, b"ICC_PROFILE\0\1\1x"),
    jpeg_segment(0xEB, b"JP\0\1\0\0\0\1"),
    png_chunk(b"tEXt", b"a\0b"),
    png_chunk(b"caBX", b"c2pa"),
    webp_chunk(b"XMP ", b"odd"),
    webp_chunk(b"C2PA", b""),
    *(b"\xff", b"\xff\xd8", b"\xff\xd9", b"\xff\xe1", b"\xff\xe1\0\0", b"\xff\xff\xfe\0\2", b"\0" * 9, b"IEND", b"VP8X"),
]


def written(container, **options):
    exif = PIL.Image.Exif()
    exif[0x010F], exif[0x0112] = "A maker", 6
    picture = np.random.default_rng(5).integers(0, 256, (16, 24, 3), dtype=np.uint8)
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, container, exif=exif, **options)
    return stream.getvalue()


FILES = {
    "JPEG": [written("JPEG"), written("JPEG", progressive=True, comment=b"c", icc_profile=b"p" * 40)],
    "PNG": [written("PNG"), written("PNG", icc_profile=b"p" * 40)],
    "WEBP": [written("WEBP"), written("WEBP", lossless=True, xmp=b"<x/>", icc_profile=b"p" * 40)],
}


@pytest.mark.parametrize("container", FILES)
@given(data=st.data())
def test_metadata_of_damaged_files(container, data):
    damaged = data.draw(st.sampled_from(FILES[container]))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=4))
        damaged = damaged[:at] + piece + damaged[data.draw(st.sampled_from([at, at, at + len(piece), at + 1])) :]
    try:
        file = ImageFile(damaged, decode_image(damaged))
    except UndecodableArtifactError:
        event("not decoded")
        return
    for name, attack in attacks_of("image-file").items():
        try:
            attacked = attack.apply(file)
        except CohortError as refused:
            event(f"{name} refused")
            assert str(refused).isprintable()  # noqa: PT017
            continue
        event(f"{name} done")
        again = decode_image(attacked.data)
        assert again.pixels.shape == file.image.pixels.shape
        if name == "metadata-stripped":
            assert np.array_equal(again.pixels, file.image.pixels)
            if file.container is not None:
                left = [part for part in parts_of(attacked.data, file.container) if part.is_metadata]
                assert len(left) <= (file.orientation is not None)
