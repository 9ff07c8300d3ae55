import { useMemo } from "react";
import type { ReactElement } from "react";
import type { Leaderboard, LeaderboardEntry, SuiteItems } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, shellWord } from "../../components";
import { dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, useQueryParam } from "../../router";
import { BoardScope, suiteOptions } from "../../shared/BoardScope";
import { DimensionBars } from "./DimensionBars";
import { EACH, LeaderboardTable } from "./LeaderboardTable";
import { PerformanceRadarChart } from "./PerformanceRadarChart";
import "./page.css";

export const title = "Leaderboard";

const CATEGORIES = ["overall", [EACH, "each by itself"], "speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"] as const;
const METRICS = [["all", "overall score"], "accuracy", "speed", "efficiency", "cost", "reliability"] as const;
const DAYS = [["1", "1 day"], ["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["365", "1 year"]] as const;
const RUNS = [["", "whole runs"], ["yes", "quick and limited, too"]] as const;
const LIMITS = ["10", "20", "50", "100"];
const ON_RADAR = 3;

/** The suite that the board is of, "" where it is of several. */
function onlySuite(board: Leaderboard): string {
  const [first = "", ...others] = board.scope.suites;
  return others.length === 0 ? first : "";
}

interface PicturesProps {
  entries: readonly LeaderboardEntry[];
  chosen: readonly string[];
  suite: string;
}

/** The chosen agents as bars, and as the radar. The table's checkboxes choose them; the address keeps them. */
function Pictures({ entries, chosen, suite }: PicturesProps): ReactElement {
  const shown = entries.filter((entry) => chosen.includes(entry.agent));
  if (shown.length === 0) return <p className="muted">Tick agents in the column Show to see their dimensions side by side.</p>;
  return (
    <>
      {shown.length > 1 && (
        <p>
          <Link to={address("/compare", { agents: shown.map((entry) => entry.agent).join(","), suite: suite === "all" ? "" : suite })}>
            Compare these {shown.length} case by case
          </Link>
        </p>
      )}
      <DimensionBars entries={shown} />
      <PerformanceRadarChart entries={shown} />
    </>
  );
}

export default function LeaderboardPage(): ReactElement {
  const [category, setCategory] = useQueryParam("category", "overall");
  const [metric, setMetric] = useQueryParam("metric", "all");
  const [days, setDays] = useQueryParam("days", "30");
  const [limit, setLimit] = useQueryParam("limit", "20");
  const [asked, setSuite] = useQueryParam("suite");
  const suite = category === EACH ? "" : asked;
  const [agents, setAgents] = useQueryParam("agents");
  const [partial, setPartial] = useQueryParam("partial");
  const board = useResource<Leaderboard>(address("/benchmarks/leaderboard", { category, metric, days, limit, suite_id: suite, include_partial: partial === "yes" ? "true" : "" }));
  const suites = useResource<SuiteItems>("/api/suites");

  const entries = board.data?.entries;
  const chosen = useMemo(() => {
    if (agents) return agents === "none" ? [] : agents.split(",");
    return (entries ?? []).slice(0, ON_RADAR).map((entry) => entry.agent);
  }, [agents, entries]);
  const toggle = (agent: string): void => {
    const next = chosen.includes(agent) ? chosen.filter((item) => item !== agent) : [...chosen, agent];
    setAgents(next.length > 0 ? next.join(",") : "none");
  };
  const options = [
    category !== "overall" && `--category ${shellWord(category)}`,
    metric !== "all" && `--metric ${shellWord(metric)}`,
    days !== "30" && `--days ${shellWord(days)}`,
    limit !== "20" && `--limit ${shellWord(limit)}`,
    suite && `--suite ${shellWord(suite)}`,
    partial === "yes" && "--include-partial",
  ];
  return (
    <>
      <div className="page-head">
        <h1>Leaderboard</h1>
        <CommandHint command={["dyno board", ...options.filter(Boolean)].join(" ")} />
      </div>
      <Filters label="Filter the leaderboard">
        <Select label="Category" value={category} options={CATEGORIES} onChange={setCategory} />
        <Select label="Ordered by" value={metric} options={METRICS} onChange={setMetric} />
        <Select label="Of the last" value={days} options={DAYS} onChange={setDays} />
        {category !== EACH && <Select label="Suite" value={suite} options={suiteOptions(suites.data)} onChange={setSuite} />}
        <Select label="Runs" value={partial} options={RUNS} onChange={setPartial} />
        <Select label="Rows" value={limit} options={LIMITS} onChange={setLimit} />
      </Filters>
      <Show of={board}>
        {(data) =>
          data.entries.length === 0 ? (
            <Empty
              title={
                suites.data?.items.length === 0 || (!suite && category === "overall" && data.scope.suites.length === 0)
                  ? "Agents are ranked here by how right, fast, cheap and reliable they are. To put the first one on the board:"
                  : "No agent succeeded in a benchmark of this kind in these days. To put one on the board:"
              }
              command="dyno init && dyno run suites/first.yaml"
            >
              <p>
                {data.scope.left_out > 0 && <>There are quick, limited or cut short runs, which do not count. </>}
                Simulated results are not on the board. <Link to="/coverage">Who was not benchmarked?</Link>
              </p>
            </Empty>
          ) : (
            <>
              <LeaderboardTable board={data} chosen={chosen} onToggle={toggle} />
              <p className="muted">
                {data.entries.length} of {data.total} agents, as of {dateTime(data.until)}. Scores are points of a hundred, brackets
                are 95 % intervals; where those of two ranks overlap, their order may be chance. Accuracy says of how many cases
                it is, n/N where only n of N have a score. Trend is against the {data.days} days
                before.
              </p>
              <BoardScope scope={data.scope} />
              {data.category !== EACH && <Pictures entries={data.entries} chosen={chosen} suite={suite || onlySuite(data)} />}
            </>
          )
        }
      </Show>
    </>
  );
}
