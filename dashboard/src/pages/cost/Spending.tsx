import { useCallback } from "react";
import type { ReactElement } from "react";
import type { SpendItem, SpendItems } from "../../api/answers";
import { Chart, Empty, Select, Show, Tabs } from "../../components";
import { plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import type { Palette } from "../../palette";
import { address, useQueryParam } from "../../router";
import { dayText, daysOf, knownText, namesOf, spendingOption, spentText } from "./spending";
import type { By, Spent } from "./spending";

const DAYS = ["7", "30", "90", "365"];

function SpendingChart({ items, by, spent }: { items: readonly SpendItem[]; by: By; spent: Spent }): ReactElement {
  const option = useCallback((colours: Palette) => spendingOption(items, by, spent, colours), [items, by, spent]);
  const names = namesOf(items, by, spent);
  const days = daysOf(items, by, spent);
  const total = days.reduce((sum, { sums }) => sum + [...sums.values()].reduce((one, other) => one + other, 0), 0);
  const rows = days
    .toReversed()
    .map((day) => [dayText(day.day), ...names.map((name) => spentText(day.sums.get(name), spent)), knownText(day)]);
  return (
    <Chart
      title={`Spent per day by ${by}`}
      description={`${spentText(total, spent)} in ${plural(days.length, "day")}, most of it by ${names[0] ?? "nobody"}.`}
      option={option}
      table={{ columns: ["Day (UTC)", ...names, "Known of executions"], rows }}
      height={300}
    />
  );
}

/** What all suites together spent per day, by agent and by model. */
export function Spending(): ReactElement {
  const [by, setBy] = useQueryParam("by", "agent");
  const [spent, setSpent] = useQueryParam("spent", "dollars");
  const [days, setDays] = useQueryParam("spend_days", "30");
  const spending = useResource<SpendItems>(address("/api/spend", { days }));
  const what: Spent = spent === "tokens" ? "tokens" : "dollars";
  return (
    <section aria-label="Spent per day">
      <h2>Spent per day, over all suites</h2>
      <div className="fields">
        <Tabs label="Split by" tabs={[["agent", "By agent"], ["model", "By model"]]} value={by === "model" ? "model" : "agent"} onChange={setBy} />
        <Tabs label="Count" tabs={[["dollars", "Dollars"], ["tokens", "Tokens"]]} value={what} onChange={setSpent} />
        <Select label="Days" value={days} options={DAYS} onChange={setDays} />
      </div>
      <Show of={spending}>
        {({ items }) =>
          namesOf(items, "agent", what).length === 0 ? (
            <Empty title={what === "dollars" ? "Nothing that ran in these days has a known price." : "Nothing that ran in these days told how many tokens it took."} />
          ) : (
            <SpendingChart items={items} by={by === "model" ? "model" : "agent"} spent={what} />
          )
        }
      </Show>
    </section>
  );
}
