"""The parts that JSON Schemas of written documents are made of."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

ANY: Schema = {}
TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FROM_1: Schema = {"type": "integer", "minimum": 1}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
MILLISECONDS: Schema = {"type": "number", "minimum": 0}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def or_null(schema: Schema) -> Schema:
    """Allow null beside a schema."""
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str) -> Schema:
    """Refer to one of the document's ``$defs``."""
    return {"$ref": f"#/$defs/{name}"}


def array_of(items: Schema, description: str | None = None) -> Schema:
    """Describe a list."""
    return {"type": "array", "items": items, **_described(description)}


def map_of(values: Schema, description: str | None = None) -> Schema:
    """Describe an object whose members have names of their own."""
    return {"type": "object", "additionalProperties": values, **_described(description)}


def object_of(
    members: dict[str, Schema], description: str | None = None, *, optional: dict[str, Schema] | None = None
) -> Schema:
    """Describe an object that has these members, may have the optional ones, and has no others."""
    return {
        "type": "object",
        **_described(description),
        "properties": {**members, **(optional or {})},
        "required": list(members),
        "additionalProperties": False,
    }


def shared_definitions() -> dict[str, Schema]:
    """Describe what several documents have in their ``$defs``."""
    return {
        "rate": object_of(
            {
                "k": COUNT,
                "n": COUNT,
                "rate": or_null(SHARE),
                "wilson95_low": or_null(SHARE),
                "wilson95_high": or_null(SHARE),
            },
            "k of n with the two-sided 95 % Wilson interval; null for n = 0.",
        ),
        "clustered95": object_of(
            {"low": SHARE, "high": SHARE, "effective_n": NUMBER, "design_effect": NUMBER},
            "The 95 % interval that allows for artifacts of one base.",
        ),
    }


def reliability_bins() -> Schema:
    """Describe scores against what they were given for."""
    bin_ = {"low": SHARE, "high": SHARE, "n": COUNT, "mean_score": or_null(SHARE), "detected_expected": COUNT}
    return array_of(object_of(bin_))


def _described(description: str | None) -> Schema:
    return {"description": description} if description else {}
