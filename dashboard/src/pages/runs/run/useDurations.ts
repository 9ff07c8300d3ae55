import { useEffect, useMemo, useState } from "react";
import { get } from "../../../api/client";
import type { ArmResult, SamplePage, SampleRow } from "../../../api/answers";
import { address } from "../../../router";
import { api } from "../../../shared/paths";
import { usePages } from "../../../shared/usePages";

const MOST = 2000;
const MOST_ARMS = 60;
const PAGE = 500;

export interface Durations {
  items: SampleRow[];
  /** Whether the run has more samples than these. */
  more: boolean;
  loading: boolean;
  error: unknown;
}

/** The first samples of each arm: a long list holds them arm by arm, and its beginning would leave out whole agents. */
function useEachArm(runId: string, arms: readonly ArmResult[]): Durations {
  const wanted = arms.slice(0, MOST_ARMS).map((arm) => arm.arm_id);
  const key = JSON.stringify([runId, wanted]);
  const [state, setState] = useState<{ key: string; items: SampleRow[]; loading: boolean; error: unknown }>();
  useEffect(() => {
    const [run, list] = JSON.parse(key) as [string, typeof wanted];
    if (list.length === 0) return;
    const stop = new AbortController();
    const limit = Math.min(PAGE, Math.max(20, Math.floor(MOST / list.length)));
    const read = async (): Promise<void> => {
      let items: SampleRow[] = [];
      for (const arm of list) {
        const page = await get<SamplePage>(address(api("runs", run, "samples"), { arm, limit }), stop.signal);
        items = [...items, ...page.items];
      }
      setState({ key, items, loading: false, error: undefined });
    };
    read().catch((error: unknown) => !stop.signal.aborted && setState({ key, items: [], loading: false, error }));
    return () => stop.abort();
  }, [key]);
  const current = state?.key === key ? state : undefined;
  return { items: current?.items ?? [], more: true, loading: current === undefined, error: current?.error };
}

/** Samples to draw the durations from: all of a small run, and some of every arm of a large one. */
export function useDurations(runId: string, arms: readonly ArmResult[]): Durations {
  const total = arms.reduce((sum, arm) => sum + arm.samples_total, 0);
  const byArm = total > MOST;
  const none = useMemo(() => [], []);
  const each = useEachArm(runId, byArm ? arms : none);
  const whole = usePages<SampleRow>(byArm ? null : address(api("runs", runId, "samples"), { limit: PAGE }), MOST);
  return byArm ? each : whole;
}
