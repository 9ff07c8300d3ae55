import { useEffect, useState } from "react";
import { ApiError, post } from "../../api/client";
import { useKeyGeneration } from "../../api/key";
import type { RunBody, RunEstimate } from "../../api/answers";

export interface Estimated {
  estimate: RunEstimate | undefined;
  /** Why there is none, as the server says it. */
  refusal: string;
}

const WAIT_MS = 300;

/** What the server expects of a run, asked anew when the typing pauses; nothing where the form is not filled in. */
export function useEstimate(request: RunBody | null): Estimated {
  const [state, setState] = useState<{ question: string } & Estimated>({ question: "", estimate: undefined, refusal: "" });
  const question = request === null ? "" : JSON.stringify(request);
  const key = useKeyGeneration();
  useEffect(() => {
    if (!question) return;
    let wanted = true;
    const told = (estimate: RunEstimate | undefined, refusal: string): void => {
      if (wanted) setState({ question, estimate, refusal });
    };
    const timer = setTimeout(() => {
      post<RunEstimate>("/benchmarks/estimate", JSON.parse(question)).then(
        (estimate) => told(estimate, ""),
        (error: unknown) => {
          const refused = error instanceof ApiError && error.status !== 401;
          told(undefined, refused ? [error.message, error.problem.remedy].filter(Boolean).join(". ") : "");
        },
      );
    }, WAIT_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [question, key]);
  return state.question === question ? state : { estimate: undefined, refusal: "" };
}
