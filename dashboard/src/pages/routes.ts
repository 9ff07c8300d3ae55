/** Every page and its address. */
import { decoded } from "../address";

/** Pattern and folder. Where `runs/run` has no index.tsx of its own, the page of `runs` gets the parameters. */
const ROUTES: readonly (readonly [pattern: string, folder: string])[] = [
  ["/", "changes"],
  ["/leaderboard", "leaderboard"],
  ["/matrix", "matrix"],
  ["/coverage", "coverage"],
  ["/grid", "grid"],
  ["/alerts", "alerts"],
  ["/history", "history"],
  ["/compare", "compare"],
  ["/divergence", "divergence"],
  ["/cost", "cost"],
  ["/stress", "stress"],
  ["/profile", "profile"],
  ["/runs", "runs"],
  ["/runs/:run_id", "runs/run"],
  ["/runs/:run_id/cases", "cases"],
  ["/runs/:run_id/cases/:case_id", "cases/case"],
  ["/agents", "agents"],
  ["/agents/:agent_id", "agents/agent"],
  ["/suites", "suites"],
  ["/suites/:suite_id", "suites/suite"],
  ["/jobs", "jobs"],
  ["/jobs/:job_id", "jobs/job"],
  ["/start", "start"],
  ["/key", "key"],
  ["/sign-in", "sign-in"],
];

export interface Match {
  folder: string;
  params: Record<string, string>;
}

/** Which page an address belongs to. */
export function matchRoute(path: string): Match | null {
  const parts = path.split("/").filter(Boolean);
  for (const [pattern, folder] of ROUTES) {
    const wanted = pattern.split("/").filter(Boolean);
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((name, index) => {
      const part = parts[index] ?? "";
      if (!name.startsWith(":")) return name === part;
      params[name.slice(1)] = decoded(part);
      return true;
    });
    if (fits) return { folder, params };
  }
  return null;
}
