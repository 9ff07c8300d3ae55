"""Arithmetic from text, without running it: the text is parsed, and only numbers and operators are accepted."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

LONGEST_EXPRESSION = 200
"""Characters."""
LARGEST_EXPONENT = 64

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[-+*/]")


class CannotCalculate(ValueError):
    """The text is no arithmetic, or its result is no number."""


def calculate(expression: str) -> float:
    """The value of ``+ - * / % **``, parentheses and numbers, with the usual precedence."""
    if len(expression) > LONGEST_EXPRESSION:
        raise CannotCalculate(
            f"the expression has {len(expression)} characters, at most {LONGEST_EXPRESSION} are read"
        )
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
        raise CannotCalculate(f"cannot calculate {expression!r}: {error}") from error
    return value


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and (abs(right) > LARGEST_EXPONENT or (left < 0 and right != int(right))):
            raise CannotCalculate(f"the exponent {right:g} is out of reach")
        return _BINARY[type(node.op)](left, right)
    raise CannotCalculate(f"{type(node).__name__} is no arithmetic")


def calculate_left_to_right(expression: str) -> float:
    """The calculator of the first release: it reads operators in the order they stand, and no parentheses.

    ``3 + 4 * 5`` gives 35.
    """
    tokens = _TOKEN.findall(expression)
    if not tokens or not tokens[0][0].isdigit():
        raise CannotCalculate(f"cannot calculate {expression!r}")
    total = float(tokens[0])
    for sign, number in zip(tokens[1::2], tokens[2::2], strict=False):
        if sign not in "+-*/" or not number[0].isdigit() or (sign == "/" and float(number) == 0):
            raise CannotCalculate(f"cannot calculate {expression!r}")
        amount = float(number)
        total = {"+": total + amount, "-": total - amount, "*": total * amount}.get(sign, total / (amount or 1.0))
    return total


def as_text(value: float) -> str:
    """``391`` rather than ``391.0``; six decimals at most."""
    return str(int(value)) if value == int(value) else f"{value:.6f}".rstrip("0")
