"""What an ONNX file refers to, read from its bytes before any runtime sees it: files beside it, operators of others.

Field numbers are those of ``onnx.proto3`` (ONNX 1.17, IR version 10; later versions add fields and move none). Weights are
passed over, whatever their size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_FIELDS = 5_000_000
"""Protobuf fields that are walked over. A network of a million nodes has about as many; three seconds."""

MAX_DEPTH = 30
"""Graphs inside the attributes of other graphs' nodes; protobuf's own limit, 100 messages, is a little above."""

KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
"""Operators that every build of ONNX Runtime brings."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

_MODEL_GRAPH, _MODEL_TRAINING, _MODEL_FUNCTIONS = 7, 20, 25
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_SPARSE = 1, 5, 15
_NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS, _ATTRIBUTE_SPARSE = (5, 10), (6, 11), (22, 23)
_SPARSE_TENSORS = (1, 2)
_TENSOR_EXTERNAL, _TENSOR_LOCATION = 13, 14
_FUNCTION_NAME, _FUNCTION_NODE, _FUNCTION_DOMAIN, _FUNCTION_ATTRIBUTE = 1, 7, 10, 11
_ENTRY_KEY, _ENTRY_VALUE = 1, 2

_EXTERNAL = 1

_MAX_TAG = _ENUM_BITS = (1 << 32) - 1
"""Parsers cut higher bits off in silence: they would hide from this walk what the runtime then sees."""


class OnnxModelError(Exception):
    """The file is the pinned one, but it is no model that can be asked; one line."""


@dataclass(slots=True)
class ModelStructure:
    """What was found in a model.

    Attributes:
        external_files: The files of weights of the main graph's initializers, as the model names them.
        operators: Domain and name of every operator that is used, those of the model's own functions left out.
    """

    external_files: set[str] = field(default_factory=set)
    operators: set[tuple[str, str]] = field(default_factory=set)


def read_structure(data: bytes) -> ModelStructure:
    """Walk over a model.

    Args:
        data: A serialized ``ModelProto``.

    Raises:
        OnnxModelError: It is no such message, has too many fields or too deep graphs, keeps weights outside where none are
            looked for, or uses operators that are not ONNX Runtime's own.
    """
    walk = _Walk()
    try:
        walk.model(memoryview(data))
    except (IndexError, UnicodeDecodeError):
        raise OnnxModelError("not an ONNX model: the protobuf message breaks off") from None
    structure = walk.structure
    if not walk.graphs:
        raise OnnxModelError("not an ONNX model: there is no graph in it")
    if ("com.microsoft", "EPContext") in structure.operators:  # a function of that name would be a cover for it
        raise OnnxModelError("the model holds another runtime's compiled code (EPContext), which is not run")
    structure.operators -= walk.functions
    if foreign := sorted(f"{domain}:{name}" for domain, name in structure.operators if domain not in KNOWN_DOMAINS):
        raise OnnxModelError(f"custom operators are not run: {', '.join(foreign[:5])}")
    return structure


class _Walk:
    """One pass over a model."""

    def __init__(self) -> None:
        self.structure = ModelStructure()
        self.functions: set[tuple[str, str]] = set()
        self.graphs = 0
        self._fields = 0

    def model(self, message: memoryview) -> None:
        for number, value in self._of(message):
            if number == _MODEL_GRAPH and isinstance(value, memoryview):
                self._graph(value, 0)
            elif number == _MODEL_FUNCTIONS and isinstance(value, memoryview):
                self._function(value)
            elif number == _MODEL_TRAINING:
                raise OnnxModelError("the model holds graphs for training, which are not run")

    def _graph(self, message: memoryview, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise OnnxModelError(f"graphs inside one another, more than {MAX_DEPTH} levels deep")
        self.graphs += 1
        for number, value in self._of(message):
            if not isinstance(value, memoryview):
                continue
            if number == _GRAPH_NODE:
                self._node(value, depth)
            elif number == _GRAPH_INITIALIZER:
                self._tensor(value, is_loadable=depth == 0)
            elif number == _GRAPH_SPARSE:
                self._sparse(value)

    def _function(self, message: memoryview) -> None:
        domain = name = ""
        for number, value in self._of(message):
            if not isinstance(value, memoryview):
                continue
            if number == _FUNCTION_NODE:
                self._node(value, 1)
            elif number == _FUNCTION_ATTRIBUTE:
                self._attribute(value, 1)
            elif number == _FUNCTION_DOMAIN:
                domain = _text(value)
            elif number == _FUNCTION_NAME:
                name = _text(value)
        self.functions.add((domain, name))

    def _node(self, message: memoryview, depth: int) -> None:
        domain = operator = ""
        for number, value in self._of(message):
            if not isinstance(value, memoryview):
                continue
            if number == _NODE_ATTRIBUTE:
                self._attribute(value, depth)
            elif number == _NODE_DOMAIN:
                domain = _text(value)
            elif number == _NODE_OPERATOR:
                operator = _text(value)
        self.structure.operators.add((domain, operator))

    def _attribute(self, message: memoryview, depth: int) -> None:
        for number, value in self._of(message):
            if not isinstance(value, memoryview):
                continue
            if number in _ATTRIBUTE_TENSORS:
                self._tensor(value, is_loadable=False)
            elif number in _ATTRIBUTE_GRAPHS:
                self._graph(value, depth + 1)
            elif number in _ATTRIBUTE_SPARSE:
                self._sparse(value)

    def _sparse(self, message: memoryview) -> None:
        for number, value in self._of(message):
            if number in _SPARSE_TENSORS and isinstance(value, memoryview):
                self._tensor(value, is_loadable=False)

    def _tensor(self, message: memoryview, *, is_loadable: bool) -> None:
        location, is_external = "", False
        for number, value in self._of(message):
            if number == _TENSOR_LOCATION and isinstance(value, int) and value & _ENUM_BITS == _EXTERNAL:
                is_external = True
            elif number == _TENSOR_EXTERNAL and isinstance(value, memoryview):
                is_external = True
                entry = {key: _text(part) for key, part in self._of(value) if isinstance(part, memoryview)}
                if entry.get(_ENTRY_KEY) == "location":
                    location = entry.get(_ENTRY_VALUE, "")
        if is_external:
            if not is_loadable or not location:
                raise OnnxModelError("weights lie outside the model, but not as initializers of its main graph")
            self.structure.external_files.add(location)

    def _of(self, message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
        """Yield number and value of each field of a message; a value is a number or the bytes of a field with a length."""
        position, end = 0, len(message)
        while position < end:
            self._fields += 1
            if self._fields > MAX_FIELDS:
                raise OnnxModelError(f"more than {MAX_FIELDS:,} protobuf fields")
            key, position = _varint(message, position)
            if key > _MAX_TAG:
                raise OnnxModelError("not an ONNX model: a protobuf tag of more than 32 bits")
            number, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, position = _varint(message, position)
                yield number, value
                continue
            if kind == _BYTES:
                length, position = _varint(message, position)
            elif kind in (_FIXED32, _FIXED64):
                length = 4 if kind == _FIXED32 else 8
            else:
                raise OnnxModelError(f"not an ONNX model: a protobuf field of kind {kind}")
            if length > end - position:
                raise IndexError
            if kind == _BYTES:
                yield number, message[position : position + length]
            position += length


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise IndexError


def _text(value: memoryview) -> str:
    return bytes(value[:1000]).decode("utf-8")
