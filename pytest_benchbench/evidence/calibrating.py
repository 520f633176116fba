"""Making a calibrator from the rows of a calibration split."""

from __future__ import annotations

import numpy as np

from pytest_benchbench.adapters.calibrator import Calibrator, Candidate, Cells, Folds, deployment_gaps
from pytest_benchbench.evidence.calibration_rows import CalibrationRows
from pytest_benchbench.statistics.calibration_choice import Assessment, CalibrationSet, assess, choose
from pytest_benchbench.statistics.classification import RELEASE_THRESHOLD, Confusion
from pytest_benchbench.statistics.folds import DEFAULT_FOLDS, DEFAULT_SALT, deal_folds
from pytest_benchbench.statistics.logistic import CLIP


def calibrate(rows: CalibrationRows, *, folds: int = DEFAULT_FOLDS, salt: str = DEFAULT_SALT) -> Calibrator:
    """Fit all mappings and choose one; the result depends on the rows, not on their order.

    Args:
        rows: At least one with a raw score.
        folds: How many folds the bases are dealt into, at least 2.
        salt: Hashed in front of each base's name.

    Returns:
        The calibrator. It is the identity where no other mapping is eligible; see ``statistics.calibration_choice.assess``.
    """
    fold_of = deal_folds(dict(zip(rows.units, rows.labels.tolist(), strict=True)), count=folds, salt=salt)
    of_units = np.array([fold_of[unit] for unit in rows.units], dtype=np.int64)
    assessments = assess(CalibrationSet(rows.scored, of_units, folds, rows.failed))
    method = choose(assessments)
    mapping = assessments[method].mapping
    assert mapping is not None  # the identity needs no fit, and what has none is not eligible
    gaps = deployment_gaps(rows.counts, rows.model_sha256, rows.preprocessing_version)
    return Calibrator(
        method=method,
        clip=CLIP,
        slope=mapping.slope,
        intercept=mapping.intercept,
        threshold=RELEASE_THRESHOLD,
        raw_at_threshold=mapping.raw_at(RELEASE_THRESHOLD),
        deployable=not gaps,
        missing=tuple(gaps),
        modelSha256=rows.model_sha256,
        preprocessingVersion=rows.preprocessing_version,
        counts=rows.counts,
        candidates={method: _candidate(assessment) for method, assessment in assessments.items()},
        scores_sha256=rows.sha256,
        folds=Folds(salt=salt, count=folds, of_base=fold_of),
    )


def _candidate(assessment: Assessment) -> Candidate:
    mapping, found = assessment.mapping, assessment.out_of_fold
    return Candidate(
        slope=None if mapping is None else mapping.slope,
        intercept=None if mapping is None else mapping.intercept,
        brier=assessment.brier,
        oof_brier=None if found is None else found.brier,
        oof_gain=None if found is None else found.gain,
        oof_gain_se=None if found is None else found.gain_se,
        oof_balanced_accuracy=None if found is None else found.bases.balanced_accuracy,
        oof_false_positive_rate=None if found is None else found.bases.false_positive_rate,
        oof_bases=None if found is None else _cells(found.bases),
        oof_rows=None if found is None else _cells(found.rows),
        eligible=assessment.eligible,
        reason=assessment.reason,
    )


def _cells(counts: Confusion) -> Cells:
    return Cells(tp=counts.tp, fn=counts.fn, tn=counts.tn, fp=counts.fp)
