"""What the model is shown before a question: a few solved examples, and the form its answer must have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

Message = Mapping[str, object]
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Examples as (question, answer) and the JSON Schema of the answer.

    ``meanings`` says which words of the answer stand for others.
    """

    examples: tuple[tuple[str, Mapping[str, object]], ...]
    schema: Schema | None = None
    meanings: Mapping[str, str] = field(default_factory=dict)

    def messages(self, question: str) -> list[Message]:
        """The examples as a conversation that ends with the question."""
        said: list[Message] = []
        for asked, answered in self.examples:
            said.append({"role": "user", "content": asked})
            said.append({"role": "assistant", "content": json.dumps(answered, ensure_ascii=False)})
        return [*said, {"role": "user", "content": question}]


def one_field(name: str, kind: Schema) -> Schema:
    """A schema of an object with exactly one field."""
    return {"type": "object", "properties": {name: kind}, "required": [name], "additionalProperties": False}


_TEXT = one_field("answer", {"type": "string", "maxLength": 60})

NUMBER = Prompt(
    (("What is 4 + 9?", {"answer": 13}), ("What is 30 / 5?", {"answer": 6}), ("What is 8 * 3?", {"answer": 24})),
    one_field("answer", {"type": "number"}),
)
LABEL = Prompt(
    (
        ("The invoice shows a wrong amount.", {"topic": "money"}),
        ("When will my box be delivered?", {"topic": "delivery"}),
        ("The sensor is broken and shows nothing.", {"topic": "device"}),
        ("I want a new password for my login.", {"topic": "login"}),
    ),
    one_field("topic", {"enum": ["money", "delivery", "device", "login"]}),
    # The model tells these four words apart far better than the labels they stand for.
    {"money": "billing", "delivery": "shipping", "device": "technical", "login": "account"},
)
FIELDS = Prompt(
    (
        (
            "Extract name and city as JSON.\nText: I am Anna Vik and my home is Oslo.",
            {"name": "Anna Vik", "city": "Oslo"},
        ),
        (
            "Extract product and quantity as JSON.\nText: I want to buy 5 red lamps.",
            {"product": "red lamp", "quantity": 5},
        ),
        (
            "Extract day and time as JSON.\nText: The party is on Sunday at 18:00.",
            {"day": "Sunday", "time": "18:00"},
        ),
    ),
)
FACT = Prompt(
    (
        ("What is the opposite of big? Answer with one word.", {"answer": "small"}),
        ("What is the capital of Spain?", {"answer": "Madrid"}),
        ("Is water dry? Answer yes or no.", {"answer": "no"}),
        ("Repeat this word: garden", {"answer": "garden"}),
    ),
    _TEXT,
)
PASSAGE = Prompt(
    (
        (
            "Text: The red kite costs 12 euros. It was built in Oslo by Anna Vik.\nQuestion: Where was it built?",
            {"answer": "Oslo"},
        ),
        (
            "Text: The lamp needs 3 cells. A cell lasts 40 days.\nQuestion: How long does a cell last?",
            {"answer": "40 days"},
        ),
    ),
    _TEXT,
)
PLAN = Prompt(
    (
        ("What is 12 * 4?", {"sum": "12 * 4", "find": ""}),
        ("What does the blue lamp cost?", {"sum": "", "find": "blue lamp cost"}),
        ("What is the opposite of big?", {"sum": "", "find": ""}),
        ("A bag holds 6 eggs. How many eggs are in 7 bags?", {"sum": "6 * 7", "find": ""}),
        ("Who leads the team of Halvorn?", {"sum": "", "find": "leads team Halvorn"}),
        ("What is 40 - (6 + 2)?", {"sum": "40 - (6 + 2)", "find": ""}),
    ),
    {
        "type": "object",
        "properties": {
            "sum": {"type": "string", "pattern": "^[0-9+*/(). -]*$", "maxLength": 40},
            "find": {"type": "string", "maxLength": 60},
        },
        "required": ["sum", "find"],
        "additionalProperties": False,
    },
)


def prompt_for(task: object, schema: object) -> Prompt:
    """The prompt for a kind of answer; ``schema`` is the case's own, where it has one."""
    if task == "label":
        return LABEL
    if isinstance(schema, Mapping):
        return Prompt(FIELDS.examples, schema)
    return NUMBER if task == "number" else FACT
