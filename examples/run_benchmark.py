"""Runs one workflow prompt with several models.

    python examples/run_benchmark.py --models gpt-3.5-turbo gpt-4-turbo --repetitions 2

Models are those of OpenAI's protocol (OPENAI_API_KEY, and OPENAI_BASE_URL for another server), or any agent of the
bench: workflow-reference, ollama:llama3, file.py@function.
"""

import argparse
import asyncio

from agentdyno.workflows import BenchmarkRunner

PROMPT = "Please analyze my RNA-seq data with Kallisto for transcript quantification."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["workflow-reference"], help="names of models or agents")
    parser.add_argument("--repetitions", type=int, default=1, help="executions of each model")
    parser.add_argument("--prompt", default=PROMPT, help="the name of a task, or free text")
    parser.add_argument("--description", default="", help="kept with the results")
    parser.add_argument("--output-dir", default="benchmarks", help="where the folder of this benchmark goes")
    given = parser.parse_args()
    runner = BenchmarkRunner(given.output_dir)
    results = asyncio.run(
        runner.run_benchmark(
            prompt=given.prompt,
            models=given.models,
            repetitions=given.repetitions,
            description=given.description,
        )
    )
    for note in [*results["notes"], *results["refused"]]:
        print(note)
    for model, row in results["summary"].items():
        rate, took = row["success_rate"], row["execution_time_s"]["median"]
        print(f"{model}: success {'unknown' if rate is None else f'{rate:.0%}'}, {took:.2f} s")
    print(f"Benchmark completed: {results['benchmark_id']}")
    print(f"Results saved to: {results['benchmark_dir']}")


if __name__ == "__main__":
    main()
