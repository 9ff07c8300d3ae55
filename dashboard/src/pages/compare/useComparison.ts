import { useCallback, useEffect, useState } from "react";
import { sendPatiently } from "../../api/client";
import { useKeyGeneration } from "../../api/key";
import type { CompareAnswer } from "../../api/answers";
import type { Resource } from "../../hooks/useResource";

interface State {
  question: string;
  data: CompareAnswer | undefined;
  error: unknown;
}

async function ask(question: string, signal: AbortSignal): Promise<CompareAnswer> {
  const headers = { "Content-Type": "application/json" };
  const response = await sendPatiently("/benchmarks/compare", { method: "POST", body: question, headers, signal });
  return (await response.json()) as CompareAnswer;
}

/** What the server says of these agents, the first being the baseline. With fewer than two nothing is asked. */
export function useComparison(agents: readonly string[], suite: string): Resource<CompareAnswer> {
  const body = {
    agent_ids: agents,
    ...(suite ? { suite_id: suite } : {}),
    comparison_type: agents.length === 2 ? "head_to_head" : "matrix",
  };
  const question = agents.length < 2 ? "" : JSON.stringify(body);
  const [state, setState] = useState<State>({ question: "", data: undefined, error: undefined });
  const [asked, setAsked] = useState(0);
  const key = useKeyGeneration();
  useEffect(() => {
    if (!question) return;
    const stop = new AbortController();
    ask(question, stop.signal).then(
      (data) => !stop.signal.aborted && setState({ question, data, error: undefined }),
      (error: unknown) => !stop.signal.aborted && setState({ question, data: undefined, error }),
    );
    return () => stop.abort();
  }, [question, asked, key]);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const current = state.question === question;
  return {
    data: current ? state.data : undefined,
    error: current ? state.error : undefined,
    loading: question !== "" && !current,
    refresh,
  };
}
