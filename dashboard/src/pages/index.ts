/** Every page and its address. A page is a folder with an index.tsx that exports `default` and `title`. */
import type { ComponentType } from "react";

export interface PageProps {
  params: Record<string, string>;
}

export interface PageModule {
  default: ComponentType<PageProps>;
  title: string | ((params: Record<string, string>) => string);
}

/** Pattern and folder. Where `runs/run` has no index.tsx of its own, the page of `runs` gets the parameters. */
const ROUTES: readonly (readonly [pattern: string, folder: string])[] = [
  ["/", "changes"],
  ["/leaderboard", "leaderboard"],
  ["/matrix", "matrix"],
  ["/coverage", "coverage"],
  ["/alerts", "alerts"],
  ["/history", "history"],
  ["/compare", "compare"],
  ["/divergence", "divergence"],
  ["/cost", "cost"],
  ["/stress", "stress"],
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
];

export interface NavGroup {
  label: string;
  links: readonly (readonly [address: string, label: string])[];
}

export const NAVIGATION: readonly NavGroup[] = [
  { label: "Now", links: [["/", "Changes"], ["/alerts", "Alerts"], ["/jobs", "Jobs"]] },
  { label: "Boards", links: [["/leaderboard", "Leaderboard"], ["/matrix", "Matrix"], ["/coverage", "Coverage"]] },
  {
    label: "Questions",
    links: [["/compare", "Compare"], ["/history", "History"], ["/cost", "Cost"], ["/stress", "Stress"]],
  },
  { label: "Things", links: [["/runs", "Runs"], ["/agents", "Agents"], ["/suites", "Suites"], ["/start", "Start"]] },
];

const modules = import.meta.glob<PageModule>("./**/index.tsx");

export function loadPage(folder: string): Promise<PageModule> {
  const load = modules[`./${folder}/index.tsx`] ?? modules[`./${folder.split("/")[0]}/index.tsx`];
  return load ? load() : Promise.reject(new Error(`The page ${folder} is not part of this build.`));
}

export interface Match {
  folder: string;
  params: Record<string, string>;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
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
      params[name.slice(1)] = decode(part);
      return true;
    });
    if (fits) return { folder, params };
  }
  return null;
}
