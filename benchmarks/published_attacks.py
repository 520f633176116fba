"""Prints how ``dwt-dct`` and ``dwt-dct-svd`` fare on the photographs under attacks for which figures were published.

``python benchmarks/published_attacks.py`` gives the table of ``docs/cohorts.md``. Each photograph is marked with the two
messages of 48 bits, the file is attacked, and the bits of the embedded message are counted: detected is 44 or more. The
published column is Table 7 of arXiv 2411.07231 (Watermark Anything), ``dwtDct`` of ``invisible-watermark``: the first 10,000
pictures of COCO's validation set, 48 bits, its own rule of detection.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace as with_changes

from pytest_benchbench.adapters import dwt_dct, dwt_dct_svd
from pytest_benchbench.adapters.haar_frame import payload_bits
from pytest_benchbench.adapters.patterns import FLUX2, SDXL, Bits
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.attacks.registry import find_attacks
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder
from pytest_benchbench.cohorts.carriers.source_list import read_source_list
from pytest_benchbench.cohorts.pictures import Pixels
from pytest_benchbench.cohorts.real_image import DEFAULT_SIDE, photographs
from pytest_benchbench.statistics.intervals import wilson_interval

PUBLISHED = {
    "none": "77.1 / 91.4",
    "crop-centre-50-unrestored": "0 / 50.4",
    "rotate-10": "0 / 50.7",
    "perspective-0.1": "0 / 51.8",
    "perspective-0.5": "0.1 / 50.0",
    "hflip": "0 / 50.2",
    "brightness-up-1.5": "16.1 / 60.9",
    "brightness-up-2": "0.1 / 49.4",
    "contrast-up-1.5": "20.4 / 63.4",
    "contrast-up-2": "0.6 / 49.4",
    "hue-down-0.1": "29.5 / 66.7",
    "hue-up-0.1": "59.4 / 81.2",
    "saturation-up-1.5": "21.3 / 61.7",
    "saturation-up-2": "0.3 / 47.4",
    "median-3": "0.9 / 53.2",
    "median-7": "0.4 / 53.0",
    "blur-0.8": "41.7 / 77.0",
    "blur-2.9": "0 / 49.8",
    "jpeg-50-420": "0 / 49.8",
    "jpeg-80-420": "0.1 / 50.5",
    "combined-omniseal": "0 / 49.9",
}
"""By attack: share detected and share of bits right, in percent."""

UNPUBLISHED = ("jpeg-90", "jpeg-90-420", "jpeg-95-420", "resize-75", "resize-75-unrestored", "crop-5")
"""Attacks of this package in which the details of a name decide; there is no published figure for them as named."""

SCHEMES: dict[str, tuple[Callable[[Pixels], Bits], dwt_dct.DwtDctEmbedder | dwt_dct_svd.DwtDctSvdEmbedder]] = {
    "dwt-dct": (dwt_dct.read_blocks, dwt_dct.DwtDctEmbedder()),
    "dwt-dct-svd": (dwt_dct_svd.read_blocks, dwt_dct_svd.DwtDctSvdEmbedder()),
}


@dataclass
class Counts:
    """Equal bits of each attacked picture, of 48."""

    equal: list[int] = field(default_factory=list)

    def cell(self) -> str:
        """Write detected of n with its interval, and the share of bits right."""
        detected, n = sum(equal >= SDXL.threshold for equal in self.equal), len(self.equal)
        low, high = wilson_interval(detected, n) or (0.0, 1.0)
        return f"{detected}/{n} ({100 * low:.0f}-{100 * high:.0f} %) / {100 * sum(self.equal) / (48 * n):.1f}"


def attacked(pixels: Pixels) -> Iterator[tuple[str, Pixels]]:
    """Give a marked picture as it is and after each attack."""
    yield "none", pixels
    for attack in find_attacks("image", [*(name for name in PUBLISHED if name != "none"), *UNPUBLISHED]):
        yield attack.name, decode_image(attack.apply(pixels).data).pixels


def main() -> None:
    """Print the table."""
    counts: defaultdict[tuple[str, str], Counts] = defaultdict(Counts)
    sources = with_changes(read_source_list(BUNDLED_LIST), base=bundled_folder())
    for carrier in photographs(sources, DEFAULT_SIDE):
        for scheme, (read, embedder) in SCHEMES.items():
            for message in (SDXL, FLUX2):
                for name, pixels in attacked(embedder.embed_pixels(carrier.draw(), message)):
                    payload = payload_bits(read(pixels), len(message.bits))
                    counts[scheme, name].equal.append(message.equal_bits(payload))
    print("| attack | published `dwtDct` | `dwt-dct` | `dwt-dct-svd` |")
    print("| --- | ---: | ---: | ---: |")
    for name in (*PUBLISHED, *UNPUBLISHED):
        cells = (counts[scheme, name].cell() for scheme in SCHEMES)
        print(f"| `{name}` | {PUBLISHED.get(name, '')} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
