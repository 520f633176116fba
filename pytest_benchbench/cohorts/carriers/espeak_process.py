"""A process of its own that lets the eSpeak NG library speak one text, and gives back the samples.

It is run as a script with nothing but the standard library, so that a library that hangs or crashes takes no builder with
it, and so that no rendering depends on an earlier one. Standard input is a JSON object (``library``, ``data``, ``voice``,
``text``, ``seed``, ``words_per_minute``, ``volume``,
``max_seconds``). Standard output is one line of JSON (``version``, ``identifier``,
``rate``, ``samples``) and then the samples, 16-bit little-endian mono. A refusal is exit code 1 and one line on standard
error.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

# from speak_lib.h of eSpeak NG 1.52
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000
_CHARS_UTF8 = 1
_PARAMETER_RATE = 1
_PARAMETER_VOLUME = 2
_STOP = 1
_SAMPLES_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class _Voice(ctypes.Structure):
    """The fields of ``espeak_VOICE`` that come before those that are not read here."""

    _fields_ = [("name", ctypes.c_char_p), ("languages", ctypes.c_char_p), ("identifier", ctypes.c_char_p)]


def _speak(request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    library = ctypes.CDLL(request["library"])
    library.espeak_Info.restype = ctypes.c_char_p
    library.espeak_GetCurrentVoice.restype = ctypes.POINTER(_Voice)
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int,
        ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p,
    ]  # fmt: skip
    library.espeak_ng_SetRandSeed.argtypes = [ctypes.c_long]
    rate = library.espeak_Initialize(_AUDIO_OUTPUT_SYNCHRONOUS, 0, os.fsencode(request["data"]), _INITIALIZE_DONT_EXIT)
    if rate <= 0:
        raise OSError(f"no voice data in {request['data']}")
    # initialising seeds the generator with the time of day, and voices with breath draw from it
    library.espeak_ng_SetRandSeed(request["seed"])
    if library.espeak_SetVoiceByName(request["voice"].encode()) != 0:
        raise ValueError("eSpeak NG has no such voice")
    library.espeak_SetParameter(_PARAMETER_RATE, request["words_per_minute"], 0)
    library.espeak_SetParameter(_PARAMETER_VOLUME, request["volume"], 0)
    samples = bytearray()
    longest = 2 * rate * request["max_seconds"]

    def keep(chunk: Any, count: int, events: Any) -> int:
        if count > 0 and chunk:
            samples.extend(ctypes.string_at(chunk, 2 * count))
        return _STOP if len(samples) > longest else 0

    callback = _SAMPLES_CALLBACK(keep)  # held until the library is done
    library.espeak_SetSynthCallback(callback)
    text = request["text"].encode() + b"\0"
    if library.espeak_Synth(text, len(text), 0, 0, 0, _CHARS_UTF8, None, None) != 0:
        raise ValueError("eSpeak NG does not speak the text")
    if len(samples) > longest:
        raise ValueError(f"speaking the text takes longer than {request['max_seconds']} s")
    header = {
        "version": library.espeak_Info(None).decode(),
        "identifier": library.espeak_GetCurrentVoice().contents.identifier.decode(),
        "rate": rate,
        "samples": len(samples) // 2,
    }
    return header, bytes(samples if sys.byteorder == "little" else _swapped(samples))


def _swapped(samples: bytearray) -> bytearray:
    samples[0::2], samples[1::2] = samples[1::2], samples[0::2]
    return samples


def main() -> int:
    """Read a request, speak, and write the samples."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints must not get between the samples
    try:
        header, samples = _speak(json.loads(sys.stdin.buffer.read()))
    except (OSError, ValueError, AttributeError) as error:  # AttributeError: the library lacks a function
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    with answer:
        answer.write(json.dumps(header).encode() + b"\n" + samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
