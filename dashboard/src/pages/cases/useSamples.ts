import { useMemo } from "react";
import type { SampleRow, SampleStatus } from "../../api/types";
import { address } from "../../router";
import { api } from "../runs/paths";
import { usePages } from "../runs/usePages";
import type { Pages } from "../runs/usePages";

export interface SampleFilter {
  /** A status, "all", or "failures": whatever was not passed. */
  status: string;
  agent: string;
  benchmark: string;
}

const BAD: readonly SampleStatus[] = ["failed", "error", "timeout", "limit"];
const MOST = 500;
const PER_PAGE = 500;

function place(sample: SampleRow): string {
  return [sample.benchmark, sample.case_id, sample.agent, String(sample.iteration).padStart(6, "0")].join("\u0000");
}

/** Samples of a run, case by case. Each kind of failure is a list of its own on the server. */
export function useSamples(runId: string, filter: SampleFilter): Pages<SampleRow> {
  const { status, agent, benchmark } = filter;
  const path = (wanted: string): string =>
    address(api("runs", runId, "samples"), { status: wanted === "all" ? "" : wanted, agent, benchmark, limit: PER_PAGE });
  const bad = status === "failures";
  const one = usePages<SampleRow>(bad ? null : path(status), MOST);
  const failed = usePages<SampleRow>(bad ? path(BAD[0] ?? "") : null, MOST);
  const error = usePages<SampleRow>(bad ? path(BAD[1] ?? "") : null, MOST);
  const timeout = usePages<SampleRow>(bad ? path(BAD[2] ?? "") : null, MOST);
  const limit = usePages<SampleRow>(bad ? path(BAD[3] ?? "") : null, MOST);
  const lists = bad ? [failed, error, timeout, limit] : [one];
  const items = useMemo(
    () =>
      lists
        .flatMap((list) => list.items)
        .toSorted((a, b) => (place(a) < place(b) ? -1 : 1)),
    // The lists are new objects each time; what they hold changes only with these.
    [one.items, failed.items, error.items, timeout.items, limit.items, bad],
  );
  return {
    items,
    more: lists.some((list) => list.more),
    loading: lists.some((list) => list.loading),
    error: lists.find((list) => list.error !== undefined)?.error,
    readMore: () => {
      for (const list of lists) if (list.more) list.readMore();
    },
  };
}

export interface FailedAt {
  benchmark: string;
  caseId: string;
}

/** The cases among samples, each once. */
export function casesOf(samples: readonly SampleRow[]): FailedAt[] {
  const found = new Map<string, FailedAt>();
  for (const { benchmark, case_id: caseId } of samples) {
    found.set(`${benchmark}\u0000${caseId}`, { benchmark, caseId });
  }
  return [...found.values()];
}
