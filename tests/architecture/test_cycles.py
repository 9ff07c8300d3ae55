"""No module imports itself through others, lazily or for type checking either.

Names that are loaded from strings are not seen here; who may do that is listed in ``test_layers``.
"""

from __future__ import annotations

from .source import by_name, our_imports


def _components(graph: dict[str, frozenset[str]]) -> list[list[str]]:
    """The groups of modules that import each other (Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for root in graph:
        if root in order:
            continue
        work = [(root, iter(sorted(graph[root])))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    found.append(sorted(group))
    return [group for group in found if len(group) > 1]


def test_a_cycle_would_be_found() -> None:
    graph = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"a"}), "d": frozenset({"a"})}
    assert _components(graph) == [["a", "b", "c"]]


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: our_imports(module) for name, module in by_name().items()}
    cycles = _components(graph)
    assert not cycles, "\n".join(", ".join(group) for group in cycles)
