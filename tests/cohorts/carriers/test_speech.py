import hashlib
import platform
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers import speech
from pytest_benchbench.cohorts.carriers.speech import PROBE, VOICES, speech_carriers
from pytest_benchbench.cohorts.sounds import to_pcm16

FROZEN = {
    ("speech-us", 1): "0da24d3b7e5f6ab70d8ccc2c2fd96d34b3c7900eede22889ef315b05d377b0e7",
    ("speech-gb", 1): "48fe5abf0350ff7c9fba2b322cdb05b76bac0de0d28c35f288cc274cc078570e",
    ("speech-ru", 1): "befc9ebb36d5a58a3f717f6b9384494df96d838b368caad487ea6a2aa3fc4dcb",
}


@pytest.fixture(scope="module")
def carriers():
    return speech_carriers()


def saying(voice, name="other"):
    return replace(VOICES[0], name=name, voice=voice)


def rendered(voice, text=PROBE, timeout=60.0):
    return speech._rendered(saying(voice), text, speech._library(), timeout)


def refusal(voices=VOICES[:1], **options):
    with pytest.raises(CohortError) as caught:
        speech_carriers(voices, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def process(monkeypatch, tmp_path):
    """Give the function that puts another script in the place of the one that lets eSpeak NG speak."""

    def put(source):
        script = tmp_path / "speaks.py"
        script.write_text(source)
        monkeypatch.setattr(speech, "_PROCESS", script)

    return put


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="the digests are those of the x86-64 Linux library"
)
def test_the_voices_give_the_frozen_samples(carriers):
    digests = {
        (carrier.name, carrier.revision): hashlib.sha256(to_pcm16(carrier.draw()).astype("<i2").tobytes()).hexdigest()
        for carrier in carriers
    }
    assert digests == FROZEN


def test_speech_is_mono_16_khz_in_16_bits_and_leaves_room_for_a_mark(carriers):
    for carrier in carriers:
        samples = carrier.draw()
        assert (samples.ndim, samples.dtype, samples.flags.writeable) == (1, np.float32, False)
        assert 6 <= len(samples) / 16_000 <= 8
        assert np.array_equal(samples * 32768, np.rint(samples * 32768))
        assert 0.3 < np.abs(samples).max() < 0.7


def test_a_second_rendering_gives_the_same_samples_and_record(carriers):
    again = speech_carriers()
    assert [carrier.record() for carrier in again] == [carrier.record() for carrier in carriers]
    assert all(np.array_equal(one.draw(), other.draw()) for one, other in zip(carriers, again, strict=True))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PATH", ""),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("LANG", "de_DE.UTF-8"),
        ("PYTHONIOENCODING", "ascii"),
        ("ESPEAK_DATA_PATH", "/nowhere"),
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"),  # a processor whose sines differ in the last bit
    ],
)
def test_the_environment_does_not_change_a_voice(monkeypatch, carriers, variable, value):
    monkeypatch.setenv(variable, value)
    russian = speech_carriers(VOICES[2:])[0]
    assert russian.record() == carriers[2].record()


def test_the_record_says_who_said_what_and_by_which_tool(carriers):
    record = carriers[2].record()
    assert record["text_sha256"] == hashlib.sha256(VOICES[2].text.encode()).hexdigest()
    assert record["library_sha256"] == speech._library().sha256
    assert (record["rate"], record["samples"]) == (16_000, len(carriers[2].draw()))
    assert record["rendered"]["rate"] == 22_050
    assert record["rendered"]["pcm16_sha256"] == rendered("ru+f4", VOICES[2].text).sha256
    stated = {"name", "revision", "seed", "tool", "tool_version", "wheel", "voice", "voice_identifier", "probe_sha256"}
    assert stated | {"language", "text", "words_per_minute", "volume", "resampling"} < record.keys()
    assert (record["tool_version"], record["voice_identifier"], record["seed"]) == ("1.52.0", "zle/ru+f4", 0)


def test_resampling_keeps_the_speech(carriers):
    native = rendered("en-gb-x-rp", VOICES[1].text)
    samples = carriers[1].draw()
    assert len(samples) == pytest.approx(len(native.samples) * 16_000 / 22_050, abs=1)
    spectra = [
        np.abs(np.fft.rfft(sound / np.float64(length)))[: int(4000 * length / rate)]
        for sound, length, rate in (
            (native.samples / 32768, len(native.samples), native.rate),
            (samples, len(samples), 16_000),
        )
    ]
    shared = min(map(len, spectra))
    assert np.corrcoef(spectra[0][:shared], spectra[1][:shared])[0, 1] > 0.98


def test_a_variant_that_does_not_exist_is_refused_instead_of_passed_over():
    assert rendered("en-us+nobody").sha256 == rendered("en-us").sha256  # what the check is for
    assert refusal([saying("en-us+nobody")]) == (
        "voice 'en-us+nobody' (other): eSpeak NG has no variant 'nobody' and speaks as 'gmw/en-US'"
    )


def test_one_voice_under_two_names_is_refused():
    voices = [*VOICES, replace(saying("gmw/en-GB-x-rp", "alias"), text="Another text altogether, which hides the alias.")]
    assert refusal(voices) == (
        "voice 'gmw/en-GB-x-rp' (alias) renders the same bytes as 'en-gb-x-rp': they are one voice under two names"
    )


def test_an_unknown_voice_is_refused():
    assert refusal([saying("xx-nope")]) == ("voice 'xx-nope' (other): eSpeak NG has no such voice: espeakng-loader 0.2.4")


def test_a_voice_that_draws_from_the_generator_is_given_the_recorded_seed(monkeypatch):
    whispered = rendered("en-us+f3")
    assert rendered("en-us+f3").sha256 == whispered.sha256
    monkeypatch.setattr(speech, "SEED", 1)
    assert rendered("en-us+f3").sha256 != whispered.sha256


def test_silence_is_refused():
    assert refusal([replace(VOICES[0], text="-")]).startswith("voice 'en-us+f1' (speech-us): eSpeak NG rendered ")


def test_a_text_that_takes_too_long_is_refused():
    assert "takes longer than 60 s" in refusal([replace(VOICES[0], text="word " * 400)])


def test_a_hanging_process_is_ended():
    assert refusal(timeout=0.001) == (
        "voice 'en-us+f1' (speech-us): eSpeak NG did not finish within 0.001 s: espeakng-loader 0.2.4"
    )


def test_a_library_that_is_none_is_refused(monkeypatch, tmp_path):
    (tmp_path / "broken.so").write_bytes(b"no library")
    whole = speech._library()
    monkeypatch.setattr(speech, "_library", lambda: replace(whole, path=str(tmp_path / "broken.so")))
    assert refusal().startswith(f"voice 'en-us+f1' (speech-us): {tmp_path / 'broken.so'}: ")


def test_missing_voice_data_is_refused(monkeypatch, tmp_path):
    whole = speech._library()
    monkeypatch.setattr(speech, "_library", lambda: replace(whole, data=str(tmp_path)))
    assert refusal().startswith("voice 'en-us+f1' (speech-us): no voice data in ")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_crash_is_named(process):
    process("import os; os.abort()")
    assert refusal() == "voice 'en-us+f1' (speech-us): eSpeak NG died: signal 6: espeakng-loader 0.2.4"


@pytest.mark.parametrize(
    "answer", ["", "{}\\n", "[]\\n", '{"rate": 22050, "version": "1", "identifier": "x", "samples": 9}\\nab']
)
def test_an_answer_that_is_no_speech_is_refused(process, answer):
    process(f"import sys; sys.stdout.write('''{answer}''')")
    assert refusal().endswith("bytes that are not its samples")


def test_without_the_wheel_the_install_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    assert refusal() == ("speech is rendered by eSpeak NG, which is not installed: pip install 'pytest-benchbench[speech]'")


def test_importing_the_voices_imports_neither_library_nor_resampler():
    script = (
        "import sys; import pytest_benchbench.cohorts.carriers.speech;"
        "print({'espeakng_loader', 'soxr'} & sys.modules.keys())"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "set()\n"
