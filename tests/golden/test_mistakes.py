"""What a user is told about a mistake, and the exit code."""

from __future__ import annotations

import pytest

from .asking import Project
from .golden import check

MISTAKES: dict[str, tuple[str, ...]] = {
    "no-command": ("rnu", "spec.yaml"),
    "no-option": ("run", "spec.yaml", "--iteratoins", "3"),
    "option-value": ("run", "spec.yaml", "--order", "shuffled"),
    "option-number": ("run", "support.yaml", "--epochs", "0"),
    "option-of-another-kind": ("run", "support.yaml", "--iterations", "3"),
    "nothing-to-run": ("run", "--store", "elsewhere.db", "--gate"),
    "file-missing": ("run", "specc.yaml"),
    "code-without-a-name": ("run", "sorting.py"),
    "experiment-unknown": ("run", "retreival"),
    "param-unknown": ("run", "sorting.py@sorting", "-p", "szie=3"),
    "param-type": ("run", "sorting.py@sorting", "-p", "size=large"),
    "param-form": ("run", "sorting.py@sorting", "-p", "size"),
    "format-unknown": ("run", "support.yaml", "--format", "pdf"),
    "agent-unknown": ("run", "support.yaml", "--agent", "helpr", "--dry-run"),
    "agent-file-missing": ("run", "support.yaml", "--agent", "agnet.py@answer", "--dry-run"),
    "agent-attribute-missing": ("run", "support.yaml", "--agent", "agent.py@anwser"),
    "case-unknown": ("run", "support.yaml", "--case", "ordre-00", "--dry-run"),
    "benchmark-unknown": ("run", "support.yaml", "--benchmark", "order", "--dry-run"),
    "spec-key": ("run", "bad/key.yaml"),
    "spec-type": ("run", "bad/type.yaml"),
    "spec-yaml": ("run", "bad/yaml.yaml"),
    "spec-empty": ("run", "bad/empty.yaml"),
    "suite-key": ("run", "bad/suite.yaml"),
    "suite-scorer": ("run", "bad/scorer.yaml", "--dry-run"),
    "suite-twice": ("run", "bad/twice.yaml"),
    "load-key": ("run", "bad/load.yaml"),
    "load-objective": ("load", "http://127.0.0.1:9/v1", "--slo", "speed>3"),
    "load-scenario": ("load", "http://127.0.0.1:9/v1", "--scenario", "spike"),
    "load-public": ("load", "http://93.184.216.34/v1", "--rate", "1"),
    "run-unknown": ("show", "0000"),
    "case-of-another-run": ("show", "019b95c0", "--case", "nothing"),
    "result-missing": ("compare", "a.json", "b.json"),
    "result-of-something-else": ("show", "dyno.yaml"),
    "not-comparable": ("compare", "019b9b1e", "019b95c0"),
    "agent-without-results": ("compare", "helper", "stranger"),
    "metric-unknown": ("board", "--metric", "beauty"),
    "history-unknown": ("history", "nobody"),
    "two-questions": ("board", "--matrix", "--stale"),
    "baseline-of-nobody": ("baseline", "set", "nobody"),
    "baseline-file": ("check", "--against", "nothing.json", "--agent", "helper"),
    "resume-unknown": ("resume", "0000"),
    "resume-complete": ("resume", "019b9b1e"),
    "store-missing": ("board", "--store", "nowhere.db"),
    "store-url": ("board", "--store", "oracle://host/db"),
    "import-format": ("import", "dyno.yaml"),
    "import-missing": ("import", "nothing.json"),
    "job-unknown": ("jobs", "follow", "0000"),
    "key-unknown": ("keys", "revoke", "nobody"),
    "key-twice": ("keys", "create", "ci"),
    "server-without-a-key": ("jobs", "list", "--server", "http://127.0.0.1:9", "--store", "a.db"),
    "rescore-scorer": ("rescore", "019b95c0", "--scorer", "exactly"),
}
FILES = {
    "spec.yaml": "experiment: sorting.py@sorting\n",
    "bad/key.yaml": "experiment: sorting.py@sorting\niteratons: 3\n",
    "bad/type.yaml": "experiment: sorting.py@sorting\niterations: {measured: many}\nseed: -1\n",
    "bad/yaml.yaml": "experiment: [sorting\n",
    "bad/empty.yaml": "",
    "bad/suite.yaml": "name: x\nbenchmarks: [{name: a, datasett: [], scorer: exact}]\n",
    "bad/scorer.yaml": "name: x\nscorer: exactly\ndataset: [{input: a, target: b}]\nagents: [../agent.py@answer]\n",
    "bad/twice.yaml": "name: x\ndataset: [{id: a, input: a, target: b}, {id: a, input: c, target: d}]\n",
    "bad/load.yaml": "load: {target: http://127.0.0.1:9, rate: -3, tpyo: 1}\n",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained_as_before(name: str, seeded: Project) -> None:
    for file, text in FILES.items():
        seeded.write(file, text)
    done = seeded.ask(*MISTAKES[name])
    assert done.out == ""
    check(f"mistakes/{name}.txt", f"$ dyno {' '.join(MISTAKES[name])}\n{done.err}exit code {done.code}")
