"""What is to be measured: strict, streaming readers of manifests."""
