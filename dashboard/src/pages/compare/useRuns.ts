import { useMemo } from "react";
import type { Page } from "../../api/types";
import { useResource } from "../../hooks/useResource";
import { address } from "../../router";

/** The part of an execution that says where its answers are. */
interface Whereabouts {
  benchmark: string;
  run_id: string;
  status: string;
}

/** The run with an agent's newest results, by benchmark; empty until it is known. */
export function useRuns(agent: string, suite: string): ReadonlyMap<string, string> {
  const path = address(`/benchmarks/agents/${encodeURIComponent(agent)}/results`, {
    suite_id: suite,
    timeframe: "latest",
    limit: 500,
  });
  const { data } = useResource<Page<Whereabouts>>(path);
  return useMemo(() => {
    const runs = new Map<string, string>();
    for (const row of data?.items ?? []) {
      if (row.run_id && row.status !== "failed" && !runs.has(row.benchmark)) runs.set(row.benchmark, row.run_id);
    }
    return runs;
  }, [data]);
}
