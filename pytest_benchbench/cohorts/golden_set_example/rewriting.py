"""Plainer wordings of generated texts, standing in for those of a humanizer: fixed rules, nothing random."""

from __future__ import annotations

import re
from typing import Final

REWRITER: Final = "benchbench plain rewriter 1"
"""Name and version; another rule is another version."""

_WORDS = (
    ("Moreover, ", "And "),
    ("Furthermore, ", "Also, "),
    ("Additionally, ", "Then "),
    ("However, ", "But "),
    ("Ultimately, ", "At the end of the day "),
    ("In conclusion, ", "So "),
    ("In summary, ", "In short, "),
    ("Overall, ", "All in all, "),
    ("It is important to note that ", "Mind you, "),
    ("It is essential that ", "What counts is that "),
    ("in order to", "to"),
    ("it is not", "it isn't"),
    ("is not", "isn't"),
    ("does not", "doesn't"),
    ("did not", "didn't"),
    ("it is ", "it's "),
    ("cannot", "can't"),
    ("utilized", "used"),
    ("utilize", "use"),
    ("facilitate", "help with"),
    ("establishes a comprehensive framework", "sets some rules"),
    ("comprehensive", "full"),
    ("crucial", "big"),
    ("testament to", "sign of"),
    ("numerous", "lots of"),
    ("significance", "meaning"),
    ("profound", "deep"),
    ("intricate", "tangled"),
    ("demonstrates", "shows"),
    ("underscores", "shows"),
    ("represents", "stands for"),
    (" shall ", " will "),
    ("regarded as", "seen as"),
    ("individuals", "people"),
    ("hereby ", ""),
    ("primarily", "mostly"),
    ("typically", "mostly"),
    ("subsequently", "later"),
    ("suitable", "right"),
)

_JOINT = re.compile(r", and (?=(?:care|either|gentle|in that|it|it's|no rule|the minutes|the request|therefore) )(\w)")
_SENTENCE_END = re.compile(r"(?<=[.]) (?=[A-Z])")
_ASIDES = ("Well, ", "You see, ", "I'd say ")
_NO_ASIDE = re.compile(
    r"And |Also|Then |But |At the end|So |In short|All in all|Mind you|What counts|[A-Z]\w+ (?:chose|did|had)"
)
"""Sentences that begin with something of the kind, or with somebody's name."""


def plainer(text: str) -> str:
    """Say the same in shorter words and sentences, with an aside here and there; the text stays recognisable.

    Args:
        text: As ``template_text`` gives it.
    """
    for formal, plain in _WORDS:
        text = text.replace(formal, plain)
    sentences = _SENTENCE_END.split(_JOINT.sub(lambda match: f". {match[1].upper()}", text, count=2))
    for place in range(2, len(sentences), 3):
        sentence = sentences[place]
        if not _NO_ASIDE.match(sentence):
            aside = _ASIDES[place // 3 % len(_ASIDES)]
            sentences[place] = f"{aside}{sentence[0].lower()}{sentence[1:]}"
    return " ".join(sentences)
