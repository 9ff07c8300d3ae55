/** The pages. A page is a folder with an index.tsx that exports `default` and `title`. */
import type { ComponentType } from "react";

export interface PageProps {
  params: Record<string, string>;
}

export interface PageModule {
  default: ComponentType<PageProps>;
  title: string | ((params: Record<string, string>) => string);
}

export interface NavGroup {
  label: string;
  links: readonly (readonly [address: string, label: string])[];
}

export const NAVIGATION: readonly NavGroup[] = [
  { label: "Now", links: [["/", "Changes"], ["/alerts", "Alerts"], ["/jobs", "Jobs"]] },
  { label: "Boards", links: [["/leaderboard", "Leaderboard"], ["/matrix", "Matrix"], ["/coverage", "Coverage"], ["/grid", "Cases"]] },
  {
    label: "Questions",
    links: [["/compare", "Compare"], ["/history", "History"], ["/cost", "Cost"], ["/stress", "Stress"], ["/profile", "Profile"]],
  },
  { label: "Things", links: [["/runs", "Runs"], ["/agents", "Agents"], ["/suites", "Suites"], ["/start", "Start"]] },
];

const modules = import.meta.glob<PageModule>("./**/index.tsx");

export function loadPage(folder: string): Promise<PageModule> {
  const load = modules[`./${folder}/index.tsx`] ?? modules[`./${folder.split("/")[0]}/index.tsx`];
  return load ? load() : Promise.reject(new Error(`The page ${folder} is not part of this build.`));
}
