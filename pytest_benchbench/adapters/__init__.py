"""Detectors behind one contract, one file each."""
