"""Signed files for the tests of ``c2pa``, certificates of our own included; models for the tests of ``onnx``."""

import hashlib
import importlib
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

TRAINED = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"

SIGNING = {"builder": {"thumbnail": {"enabled": False}}, "verify": {"verify_after_sign": False}}


def definition(*source_types: str, **more) -> dict:
    """A manifest whose actions state these digital source types."""
    actions = [{"action": "c2pa.created", "digitalSourceType": source_type} for source_type in source_types]
    return {
        "claim_generator_info": [{"name": "benchbench-tests", "version": "1"}],
        "assertions": [{"label": "c2pa.actions.v2", "data": {"actions": actions}}],
        **more,
    }


@dataclass(frozen=True)
class Authority:
    """A root and a signer of its own, ECDSA on P-256, as C2PA's certificate profile wants them.

    ``root`` and ``chain`` (signer, root) are PEM. The keys sign any certificate and any claim that a test wants.
    """

    root: bytes
    chain: bytes
    root_key: object
    signer_key: object

    @classmethod
    def make(cls, first_day: int = -1, last_day: int = 30, *, keys_of: "Authority | None" = None) -> "Authority":
        """Certificates that are valid between two days counted from today."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

        now = datetime.now(UTC)
        root_key = keys_of.root_key if keys_of else ec.generate_private_key(ec.SECP256R1())
        signer_key = keys_of.signer_key if keys_of else ec.generate_private_key(ec.SECP256R1())
        usages = (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "key_cert_sign",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        )

        def certificate(holder, key, extended, *used):
            def name(common):
                organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, f"Tests {common}")
                return x509.Name([organization, x509.NameAttribute(NameOID.COMMON_NAME, common)])

            builder = (
                x509.CertificateBuilder()
                .subject_name(name(holder))
                .issuer_name(name("root"))
                .public_key(key.public_key())
                .serial_number(4711)
                .not_valid_before(now + timedelta(days=first_day))
                .not_valid_after(now + timedelta(days=last_day))
                .add_extension(x509.BasicConstraints(ca=holder == "root", path_length=None), critical=True)
                .add_extension(x509.KeyUsage(**{usage: usage in used for usage in usages}), critical=True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
            )
            if extended:
                builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
            return builder.sign(root_key, hashes.SHA256()).public_bytes(Encoding.PEM)

        root = certificate("root", root_key, [], "key_cert_sign", "crl_sign")
        leaf = certificate("signer", signer_key, [ExtendedKeyUsageOID.EMAIL_PROTECTION], "digital_signature")
        return cls(root, leaf + root, root_key, signer_key)

    def sign(self, data: bytes, mime: str, manifest: dict | None = None, *, url: str | None = None, embed=True) -> bytes:
        """Give the file with a signed manifest, or with nothing but the URL of one."""
        from cryptography.hazmat.primitives import serialization

        key = self.signer_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        import c2pa

        signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo(b"es256", self.chain, key, None))
        return _built(signer, data, mime, manifest or definition(TRAINED), url, embed)

    def sign_expired(self, data: bytes, mime: str) -> bytes:
        """Give the file with a manifest that was signed in good order by certificates that have expired since.

        The signing side refuses such certificates, so it is shown valid ones of the same lengths; what is signed, and what
        stands in the file, are the expired ones.
        """
        import c2pa
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        def lengths(authority):
            return [len(der) for der in authority.certificates()]

        expired = Authority.make(-30, -2, keys_of=self)
        while lengths(expired) != lengths(self):  # the length of an ECDSA signature varies by a byte or two
            expired = Authority.make(-30, -2, keys_of=self)

        def aged(content):
            for now, then in zip(self.certificates(), expired.certificates(), strict=True):
                content = content.replace(now, then)
            return content

        def sign(claim):
            r, s = decode_dss_signature(self.signer_key.sign(aged(claim), ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")

        signer = c2pa.Signer.from_callback(sign, c2pa.C2paSigningAlg.ES256, self.chain.decode())
        return aged(_built(signer, data, mime, definition(TRAINED)))

    def certificates(self) -> list[bytes]:
        """The chain, each as DER."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding

        return [one.public_bytes(Encoding.DER) for one in x509.load_pem_x509_certificates(self.chain)]


def _built(signer, data, mime, manifest, url=None, embed=True) -> bytes:
    import c2pa

    builder = c2pa.Builder(json.dumps(manifest), context=c2pa.Context.from_dict(SIGNING))
    if url:
        builder.set_remote_url(url)
    if not embed:
        builder.set_no_embed()
    signed = BytesIO()
    builder.sign(signer, mime, BytesIO(data), signed)
    return signed.getvalue()


@pytest.fixture(scope="session")
def authority() -> Authority:
    pytest.importorskip("cryptography")
    pytest.importorskip("c2pa")
    return Authority.make()


@pytest.fixture(scope="session")
def c2pa_definition():
    return definition


@pytest.fixture(scope="session")
def reference_model():
    """Give the module that makes the fixture of the ``onnx`` adapter."""
    pytest.importorskip("onnx")
    return _module_of_benchmarks("reference_model")


@pytest.fixture(scope="session")
def reference_vectors(reference_model):
    """Give the module that makes the reference vectors."""
    return _module_of_benchmarks("reference_vectors")


def _module_of_benchmarks(name):
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


class OnnxModels:
    """Writes tiny models with their YAML into a folder; ``config`` is the YAML as a dict, to be changed before ``write``."""

    def __init__(self, folder):
        self.folder = folder
        self.config = {
            "schema_version": 1,
            "type": "onnx-scorer",
            "model": {"path": "model.onnx"},
            "input": "pixels",
            "output": {"name": "out", "kind": "logit"},
            "preprocessing": {
                "version": "test-1",
                "colour": "RGB",
                "alpha": "drop",
                "minimum_side": 2,
                "resize": {"mode": "exact", "size": [4, 4], "filter": "nearest", "antialias": False},
                "scale": 255,
                "layout": "NCHW",
                "dtype": "float32",
            },
        }

    @staticmethod
    def model(
        nodes, *, shape=("N", 3, 4, 4), out=("N", "C"), constants=(), opset=17, domains=(), dtype="FLOAT", functions=()
    ):
        """Serialize nodes, given as (operator, inputs, outputs, attributes), from ``pixels`` to ``out``."""
        from onnx import TensorProto, helper, numpy_helper

        element = getattr(TensorProto, dtype)
        graph = helper.make_graph(
            [helper.make_node(name, inputs, outputs, **attributes) for name, inputs, outputs, attributes in nodes],
            "tiny",
            [helper.make_tensor_value_info("pixels", element, shape)],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, out)],
            [
                value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value, np.float32), name)
                for name, value in dict(constants).items()
            ],
        )
        opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
        model = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
        model.ir_version = 8
        return model.SerializeToString(deterministic=True)

    def mean_red(self, **more):
        """A model whose answer is a picture's mean red, 0 to 1."""
        weights = np.zeros((1, 3, 1, 1))
        weights[0, 0] = 1
        return self.model(
            [
                ("Conv", ["pixels", "red"], ["map"], {"kernel_shape": [1, 1]}),
                ("GlobalAveragePool", ["map"], ["mean"], {}),
                ("Flatten", ["mean"], ["out"], {"axis": 1}),
            ],
            constants={"red": weights},
            **more,
        )

    def write(self, model, name="model.onnx"):
        """Write a model and the YAML that pins it; give the path of the YAML."""
        (self.folder / name).write_bytes(model)
        self.config["model"] |= {"path": name, "sha256": hashlib.sha256(model).hexdigest()}
        path = self.folder / "model.yaml"
        path.write_text(json.dumps(self.config))  # which is YAML too
        return path


@pytest.fixture
def onnx_models(tmp_path):
    """Write tiny models into the test's own folder."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    return OnnxModels(tmp_path)


@pytest.fixture(scope="session")
def human_text() -> str:
    """The beginning of Moby-Dick (H. Melville, 1851; public domain)."""
    return (
        "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and "
        "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of "
        "the world. It is a way I have of driving off the spleen and regulating the circulation. Whenever I find "
        "myself growing grim about the mouth; whenever it is a damp, drizzly November in my soul; whenever I find "
        "myself involuntarily pausing before coffin warehouses, and bringing up the rear of every funeral I meet; and "
        "especially whenever my hypos get such an upper hand of me, that it requires a strong moral principle to "
        "prevent me from deliberately stepping into the street, and methodically knocking people's hats off, then, I "
        "account it high time to get to sea as soon as I can. "
    )


@pytest.fixture(scope="session")
def ai_text() -> str:
    """A text full of what such models are known for, written for this test."""
    return (
        "In today's fast-paced world, effective communication is more important than ever. It is important to note that "
        "clear communication fosters collaboration, enhances productivity, and builds trust among team members. "
        "Furthermore, leveraging modern tools can significantly streamline workflows and facilitate seamless interactions. "
        "Additionally, organizations that prioritize transparency tend to cultivate a robust culture of innovation. In "
        "conclusion, embracing a comprehensive approach to communication is crucial for long-term success. "
    )


class TextModels:
    """Writes a tiny classifier with its tokenizer and YAML into a folder; ``config`` is to be changed before ``write``.

    The network looks up ``table`` (vocabulary, 2) for each token and gives the mean over those that the mask keeps.
    """

    WORDS = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "the", "of", "delve", "tapestry", "whale", "sea")

    def __init__(self, folder):
        self.folder = folder
        self.table = np.random.default_rng(7).normal(size=(len(self.WORDS), 2)).astype(np.float32)
        self.config = {
            "schema_version": 1,
            "type": "text-classifier",
            "version": "tiny-1",
            "model": {"path": "model.onnx"},
            "tokenizer": {"path": "tokenizer.json"},
            "output": {"name": "logits", "kind": "softmax", "labels": ["human", "ai"], "ai": "ai"},
            "tokens": {"maximum": 8, "beyond": "truncate"},
        }

    def model(self, *, integer="INT64", length="L", types=False, mask=True, squeeze=True, batch="N"):
        from onnx import TensorProto, helper, numpy_helper

        element = getattr(TensorProto, integer)
        names = ["input_ids", *(["attention_mask"] if mask else []), *(["token_type_ids"] if types else [])]
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked"])]
        if mask:
            nodes += [
                helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
                helper.make_node("Unsqueeze", ["m", "two"], ["m3"]),
                helper.make_node("Mul", ["looked", "m3"], ["kept"]),
                helper.make_node("ReduceSum", ["kept", "one"], ["sum"], keepdims=0),
                helper.make_node("ReduceSum", ["m", "one"], ["count"], keepdims=1),
                helper.make_node("Div", ["sum", "count"], ["logits" if squeeze else "mean"]),
            ]
        else:
            nodes += [helper.make_node("ReduceMean", ["looked"], ["logits" if squeeze else "mean"], axes=[1], keepdims=0)]
        if not squeeze:
            nodes += [helper.make_node("Unsqueeze", ["mean", "one"], ["logits"])]
        numbers = {"one": np.array([1], np.int64), "two": np.array([2], np.int64), "table": self.table}
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(name, element, (batch, length)) for name in names],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in numbers.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        return made.SerializeToString(deterministic=True)

    def tokenizer(self):
        """Words between ``[CLS]`` and ``[SEP]``, with padding and truncation of its own, which are not to be heeded."""
        from tokenizers import Tokenizer, models, pre_tokenizers, processors

        numbers = {word: number for number, word in enumerate(self.WORDS)}
        tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
        )
        tokenizer.enable_padding(length=64, pad_id=2)
        tokenizer.enable_truncation(max_length=3)
        return tokenizer.to_str().encode()

    def ids(self, words):
        """What the tokenizer gives for words, without a limit."""
        known = {word: number for number, word in enumerate(self.WORDS)}
        return [0, *(known.get(word, 3) for word in words), 1]

    def write(self, model=None, tokenizer=None):
        files = {"model": model or self.model(), "tokenizer": self.tokenizer() if tokenizer is None else tokenizer}
        for name, data in files.items():
            (self.folder / self.config[name]["path"]).write_bytes(data)
            self.config[name]["sha256"] = hashlib.sha256(data).hexdigest()
        path = self.folder / "classifier.yaml"
        path.write_text(json.dumps(self.config))  # JSON is YAML
        return path


@pytest.fixture
def text_models(tmp_path):
    for package in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(package)
    return TextModels(tmp_path)
