"""``dyno try``: one question, the answer with what it took, and an exit code that tells whether there was one."""

from __future__ import annotations

from ...chat_server import Asked, Reply, serving
from ...command import Bench

AGENT = """
from agentdyno import tool_call

def answer(text, style="plain"):
    with tool_call("lookup", {"query": text}) as result:
        result.append("found")
    return {"output": f"{style}: {text}", "usage": {"input_tokens": 11, "output_tokens": 7}, "cost": 0.002}

def broken(text):
    raise ValueError("cannot think")

def endless(text):
    while True:
        pass
"""


def test_an_answer_comes_with_its_tokens_cost_time_and_tool_calls(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    done = bench.dyno("try", "agent.py@answer", "What is 17 * 23?")
    assert done.code == 0, done.err
    assert done.out.startswith("plain: What is 17 * 23?\n")
    for word in ("11", "7", "$2.00 per 1,000 (reported)", "lookup"):
        assert word in done.out
    as_json = bench.dyno("try", "agent.py@answer", "Hi", "-c", "style=loud", "--json").json
    assert (as_json["agent"], as_json["sample"]["output"]) == ("answer", "loud: Hi")
    assert as_json["sample"]["usage"] == {"input_tokens": 11, "output_tokens": 7}
    assert as_json["sample"]["details"]["cost"] == {"usd": None, "source": "reported"}
    assert as_json["sample"]["readings"]["reported.cost_usd"] == 0.002
    assert "lookup" in [event["name"] for event in as_json["sample"]["details"]["events"]]
    assert bench.dyno("list", "runs", "--json").json == [], "nothing is stored"


def test_no_answer_is_exit_code_5_with_the_reason(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    broken = bench.dyno("try", "agent.py@broken", "Hi")
    assert broken.code == 5
    assert "broken did not answer (error, exception): ValueError: cannot think" in broken.err
    late = bench.dyno("try", "agent.py@endless", "Hi", "--timeout", "0.3", "--json")
    assert late.code == 5
    assert late.json["sample"]["status"] == "timeout"


def test_an_agent_that_cannot_work_at_all_is_exit_code_2(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    unknown = bench.dyno("try", "agent.py@nobody", "Hi")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no agent called 'nobody'" in unknown.err
    with serving(lambda _: Reply("who are you", 401)) as server:
        refused = bench.dyno("try", "openai:small", "Hi", "-c", f"base_url={server.url}")
    assert refused.code == 2
    assert "401 Unauthorized: who are you" in refused.err
    assert "Traceback" not in refused.err


def test_a_model_is_asked_at_any_address_and_what_it_reports_is_shown(bench: Bench) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(f"you said {asked.text}", output_tokens=4)

    with serving(answer) as server:
        done = bench.dyno(
            "try", "openai:small", "hello", "-c", f"base_url={server.url}", "-c", "temperature=0.5", "--json"
        )
    assert done.code == 0, done.err
    sample = done.json["sample"]
    assert sample["output"] == "you said hello"
    assert sample["details"]["model"] == "small"
    assert {"ttft_s", "input_tokens", "output_tokens"} <= sample["readings"].keys()
    assert server.asked[0].body["temperature"] == 0.5


def test_a_program_is_put_through_the_protocol(bench: Bench) -> None:
    bench.write("agent.sh", 'while read -r line; do echo \'{"ok": {"protocol": 1, "output": 1}}\'; done\n')
    done = bench.dyno("try", "stdio:sh agent.sh", "--conformance")
    assert done.code == 1, done.err
    assert "unknown key 'protocol'" in done.out
    checks = bench.dyno("try", "stdio:sh agent.sh", "--conformance", "--json").json
    assert checks[0] == {"name": "answers hello", "problem": None}


def test_only_a_program_can_be_put_through_the_protocol_and_others_need_a_question(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    done = bench.dyno("try", "agent.py@answer", "--conformance")
    assert (done.code, "stdio:PROGRAM" in done.err) == (2, True)
    done = bench.dyno("try", "agent.py@answer")
    assert (done.code, "Missing argument 'TEXT'" in done.err) == (2, True)


def test_what_goes_wrong_shows_the_frames_of_the_agents_own_code(bench: Bench) -> None:
    bench.write("agent.py", "def inner():\n    return 1 / 0\n\n\ndef answer(text):\n    return inner()\n")
    done = bench.dyno("try", "agent.py@answer", "Hi")
    assert 'agent.py", line 6, in answer' in done.err
    assert 'agent.py", line 2, in inner' in done.err
    assert "agentdyno/" not in done.err


def test_no_byte_of_an_answer_moves_the_terminal(bench: Bench) -> None:
    bench.write("agent.py", "def answer(text):\n    return 'a\\x1b[2Jb\\x07c'\n")
    done = bench.dyno("try", "agent.py@answer", "Hi")
    assert done.out.startswith("a�[2Jb�c\n")
