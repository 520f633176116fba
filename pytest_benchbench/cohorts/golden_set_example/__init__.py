"""The example golden set: public-domain passages, texts from templates, and plainer wordings of these."""
