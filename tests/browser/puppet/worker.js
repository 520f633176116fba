// Something for Chromium to start, as extensions have it.
