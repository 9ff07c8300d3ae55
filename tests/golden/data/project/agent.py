"""Answers questions about orders."""

from agentdyno import Case, Response, Usage, tool_call


def answer(case: Case, misses: int = 0, price: float = 0.001) -> Response:
    """Looks the order up, then its price; the first `misses` orders go without the second step."""
    number = int(case.id.partition("-")[2] or 3)
    with tool_call("find_order", {"order": number}) as result:
        result.append({"order": number, "items": number + 1})
    said = 0
    if number >= misses or case.id.startswith("quote"):
        with tool_call("price_of", {"items": number + 1}) as result:
            result.append(3 * (number + 1))
        said = 3 * (number + 1)
    return Response(str(said), usage=Usage(input_tokens=40 + number, output_tokens=8), cost=price, model="clerk-1")
