"""Figures that others published, for the studies of ``docs/baselines``. None of them was measured here."""

from __future__ import annotations

SOURCE_PROJECT = {
    "synthetic-image": {
        "clean": (0, 4),
        "marked": (6, 9),
        "jpeg-90": (7, 9),
        "resize-75": (6, 9),
        "crop-5": (0, 9),
        "marked, gradient": (0, 3),
        "marked, texture": (3, 3),
        "marked, low-detail": (3, 3),
    },
    "real-image": {
        "clean": (0, 38),
        "marked": (74, 114),
        "jpeg-90": (76, 114),
        "resize-75": (77, 114),
        "crop-5": (0, 114),
        "marked, sdxl": (25, 38),
        "marked, flux2": (26, 38),
        "marked, sd1": (23, 38),
    },
}
"""``dwt-dct``, detected of unique artifacts, as published by the project whose requirements the cohorts meet."""

SOURCE_PROJECT_PERTH = {
    "speech, clean": ((0, 3), "0 to 0.016"),
    "speech, marked": ((3, 3), "1.000"),
    "sounds by formula, clean": ((0, 3), "0 to 8.3e-05"),
    "sounds by formula, marked": ((1, 3), "0.190, 0.246, 1.000"),
}
"""``perth`` of the same project: detected and scores."""

WATERMARK_ANYTHING = {
    "none": (77.1, 91.4),
    "crop-centre-50-unrestored": (0, 50.4),
    "rotate-10": (0, 50.7),
    "perspective-0.1": (0, 51.8),
    "perspective-0.5": (0.1, 50.0),
    "hflip": (0, 50.2),
    "brightness-up-1.5": (16.1, 60.9),
    "brightness-up-2": (0.1, 49.4),
    "contrast-up-1.5": (20.4, 63.4),
    "contrast-up-2": (0.6, 49.4),
    "hue-down-0.1": (29.5, 66.7),
    "hue-up-0.1": (59.4, 81.2),
    "saturation-up-1.5": (21.3, 61.7),
    "saturation-up-2": (0.3, 47.4),
    "median-3": (0.9, 53.2),
    "median-7": (0.4, 53.0),
    "blur-0.8": (41.7, 77.0),
    "blur-2.9": (0, 49.8),
    "jpeg-50-420": (0, 49.8),
    "jpeg-80-420": (0.1, 50.5),
    "combined-omniseal": (0, 49.9),
}
"""Table 7 of arXiv 2411.07231, ``dwtDct`` of ``invisible-watermark``: share detected, share of bits right, in per cent."""

WATERMARK_ANYTHING_PICTURES = 10_000

DETAILS = ("jpeg-90", "jpeg-90-420", "jpeg-95-420", "resize-75", "resize-75-unrestored", "crop-5", "crop-5-unrestored")
"""Attacks in which the details of a name decide; nobody published figures for them as named."""

SOFT_BINDINGS = {
    "none": (87.5, 100),
    "jpeg-90": (90.6, 100),
    "jpeg-75-420": (51.8, 97.4),
    "jpeg-60-420": (50.7, 88.4),
    "jpeg-50-420": (49.8, 78.1),
    "webp-80": (51.7, 78.3),
    "webp-60": (48.9, 70.6),
    "resize-75-unrestored": (50.3, 52.5),
    "resize-50-unrestored": (49.5, 51.1),
    "crop-centre-90-unrestored": (50.6, 52.5),
    "crop-centre-70-unrestored": (49.6, 51.4),
    "crop-centre-50-unrestored": (59.3, 64.6),
    "blur-1": (68.8, 100),
    "brightness-up-1.2": (86.7, 68.7),
    "brightness-down-0.8": (83.1, 56.4),
}
"""soft-bindings-benchmark, ``numbers.tex``: per cent of bits right, DWT-DCT and DWT-DCT-SVD, 64 bits, 85 pictures."""
