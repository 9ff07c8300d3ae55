"""The agents that use the model: answers in a fixed form, and a loop with tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from agentdyno import Case, ChatModel, tool_call
from agentdyno.workloads.comprehensive.calculator import CannotCalculate, as_text, calculate, calculate_left_to_right
from agentdyno.workloads.comprehensive.prompts import PASSAGE, PLAN, Prompt, prompt_for
from agentdyno.workloads.comprehensive.search import Bm25, Hit, excerpt, load_documents, paragraphs_of, words_of

MODEL = "smollm2-135m-instruct"
LONG_INPUT = 1200
"""Characters from which an input is searched rather than read."""
ENOUGH_SHARED = 0.5
"""Share of the question's words, weighted by rarity, that a document must hold to be used."""
NOTHING_ASKED = "How can I help?"
NOT_CALCULABLE = "It cannot be calculated."
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_HINT = re.compile(r"\s*Answer with (?:the number only|one word|one letter)\.")


class StructuredAgent:
    """Shows solved examples first and lets the model answer only in the form of a JSON Schema.

    The case's metadata say what kind of answer is wanted: ``task`` (``number``, ``label``, ``fields``, ``fact``) and,
    where the form is the case's own, ``schema``.
    """

    def __init__(
        self, base_url: str, model: str = MODEL, temperature: float = 0.0, max_tokens: int = 48, seed: int = 7
    ) -> None:
        options = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self.model = ChatModel(base_url, model, options=options)

    async def run(self, case: Case) -> object:
        if case.turns:
            return await self.read(" ".join(case.turns[:-1]), case.turns[-1])
        return await self.answer(case, str(case.input))

    async def close(self) -> None:
        await self.model.close()

    async def answer(self, case: Case, question: str) -> object:
        """The model's own answer, without any source."""
        if not question.strip():
            return NOTHING_ASKED
        task = case.metadata.get("task")
        asked = question.rpartition("Message: ")[2] if task == "label" else question
        return await self.ask(prompt_for(task, case.metadata.get("schema")), asked)

    async def read(self, text: str, question: str) -> object:
        """The model's answer from a text."""
        return await self.ask(PASSAGE, f"Text: {text}\nQuestion: {question}")

    async def ask(self, prompt: Prompt, question: str) -> object:
        """One call; an object with one field is that field's value, text that breaks off is kept as it came."""
        reply = await self.model.chat(prompt.messages(question), schema=prompt.schema)
        try:
            found = json.loads(reply.text)
        except ValueError:
            return reply.text
        if not isinstance(found, dict) or len(found) != 1:
            return found
        value = next(iter(found.values()))
        return prompt.meanings.get(value, value) if isinstance(value, str) else value


class ToolsAgent(StructuredAgent):
    """Plans with the model, then uses a calculator or a document search, then answers from what they returned.

    The model writes a plan under a schema: an expression to calculate, words to look up, or neither. It is asked for
    one only where the question has two numbers, and a plan counts only where every number and word of it occurs in
    the question: a small model invents the rest. A question that the documents know the words of is looked up. Long
    inputs are searched for the paragraph that fits the question, earlier turns of a conversation are read as a text.
    """

    calculator: Callable[[str], float] = staticmethod(calculate)
    checks_plan = True
    enough_shared = ENOUGH_SHARED
    reads_excerpts = True
    remembers = True

    def __init__(
        self, base_url: str, model: str = MODEL, temperature: float = 0.0, max_tokens: int = 48, seed: int = 7
    ) -> None:
        super().__init__(base_url, model, temperature, max_tokens, seed)
        self.documents = Bm25(load_documents())

    async def run(self, case: Case) -> object:
        if case.turns:
            earlier = " ".join(case.turns[:-1]) if self.remembers else ""
            return await (self.read(earlier, case.turns[-1]) if earlier else self.solve(case, case.turns[-1]))
        question = str(case.input)
        if not question.strip() or isinstance(case.metadata.get("schema"), Mapping):
            return await self.answer(case, question)
        if len(question) > LONG_INPUT:
            return await self.search_input(question)
        return await self.solve(case, question)

    async def solve(self, case: Case, question: str) -> object:
        """Plan, tool, answer."""
        bare = _HINT.sub("", question)
        expression, query = await self.plan(bare)
        if expression:
            with tool_call("calculator", {"expression": expression}) as result:
                result.append(self.calculated(expression))
            return result[0]
        if query:
            with tool_call("search", {"query": query}) as result:
                hits = self.documents.search(query)
                result.append([hit.document.name for hit in hits])
            if hits:
                return await self.read(self.passage(hits[0].document.text, bare), bare)
        return await self.answer(case, question)

    async def plan(self, question: str) -> tuple[str, str]:
        """An expression and a query, each empty where that tool has no part in the answer."""
        given = _NUMBER.findall(question)
        expression, query = await self.written_plan(question) if len(given) > 1 else ("", "")
        if expression and (not self.checks_plan or _is_drawn_from(expression, given)):
            return expression, ""
        if self.documents.coverage(question) < self.enough_shared:
            return "", ""
        invented = self.checks_plan and set(words_of(query)) - set(words_of(question))
        return "", question if invented or not query else query

    async def written_plan(self, question: str) -> tuple[str, str]:
        """What the model wants to calculate and to look up."""
        written = await self.ask(PLAN, question)
        if not isinstance(written, dict):
            return "", ""
        return str(written.get("sum", "")).strip(), str(written.get("find", "")).strip()

    def passage(self, text: str, question: str) -> str:
        """What of a document the model gets to read."""
        return excerpt(text, question) if self.reads_excerpts else text

    def calculated(self, expression: str) -> str:
        try:
            return as_text(self.calculator(expression))
        except CannotCalculate:
            return NOT_CALCULABLE

    async def search_input(self, text: str) -> object:
        """Answers the question at the end of a long text from the paragraph that fits it best."""
        body, _, question = text.rpartition("\n\nQuestion: ")
        with tool_call("search", {"query": question, "in": "input"}) as result:
            hits: list[Hit] = Bm25(paragraphs_of(body)).search(question)
            result.append([hit.document.name for hit in hits])
        return await self.read(hits[0].document.text if hits else body[-LONG_INPUT:], question)


class FirstToolsAgent(ToolsAgent):
    """``smollm2-tools`` as it was first.

    It believes every plan, looks up whatever it cannot calculate and hands the model whole documents, calculates from
    left to right, and forgets what was said before.
    """

    calculator = staticmethod(calculate_left_to_right)
    checks_plan = False
    enough_shared = 0.0
    reads_excerpts = False
    remembers = False


def _is_drawn_from(expression: str, given: list[str]) -> bool:
    """Whether an expression has at least two numbers, and none but those given."""
    numbers = _NUMBER.findall(expression)
    return len(numbers) > 1 and set(numbers) <= set(given)
