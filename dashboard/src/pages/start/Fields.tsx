import { useRef } from "react";
import type { ReactElement } from "react";
import type { AgentRow } from "../../api/answers";
import { plural } from "../../format";
import { setQuery } from "../../router";
import { FormRow, SelectRow, TextRow } from "./FormRow";
import type { Problems, Typed } from "./request";

/** Settings stand in the address under this prefix, so that none is taken for a field of the form. */
export const SETTING = "set.";

const pick = (name: string) => (value: string) => setQuery({ [name]: value });

/** What of the suite is run, and what it may cost. */
export function HowMuch({ typed, problems }: { typed: Typed; problems: Problems }): ReactElement {
  return (
    <fieldset>
      <legend>How much</legend>
      <FormRow label="Quick" note="The few cases that the suite marks for a first look" problem={problems["options.quick"]}>
        {(links) => (
          <input {...links} type="checkbox" checked={typed.quick} onChange={(event) => setQuery({ quick: event.target.checked ? "1" : "" })} />
        )}
      </FormRow>
      <TextRow
        label="Epochs"
        value={typed.epochs}
        note="How often each case is asked"
        placeholder="as the suite says"
        numeric
        problem={problems["options.epochs"]}
        onChange={pick("epochs")}
      />
      <TextRow
        label="Cases"
        value={typed.limit}
        note="Spread over the benchmarks"
        placeholder="all"
        numeric
        problem={problems["options.limit"]}
        onChange={pick("limit")}
      />
      <TextRow
        label="Spend at most, $"
        value={typed.maxCost}
        note="The run stops there and keeps what it has"
        placeholder="no limit"
        numeric
        problem={problems["options.max_cost_usd"]}
        onChange={pick("max_cost")}
      />
    </fieldset>
  );
}

interface SettingsProps {
  agent: AgentRow;
  typed: Typed;
  problems: Problems;
}

/** Only what the agent lets a caller change; places, commands and secrets are never among it. */
export function Settings({ agent, typed, problems }: SettingsProps): ReactElement | null {
  const names = Object.entries(agent.settings);
  const given = names.some(([name]) => (typed.settings[name] ?? "") !== "" || problems[`configuration.${name}`] !== undefined);
  // Once open it stays so: a field that is emptied must not vanish under the cursor.
  const opened = useRef(names.length <= 4);
  if (given) opened.current = true;
  if (names.length === 0) return null;
  return (
    <fieldset>
      <legend>Settings of {agent.name}</legend>
      <details open={opened.current}>
        <summary>{plural(names.length, "setting")}; what is left empty stays as it is</summary>
        {names.map(([name, type]) => {
          const shared = {
            label: name,
            value: typed.settings[name] ?? "",
            problem: problems[`configuration.${name}`],
            onChange: (value: string) => setQuery({ [`${SETTING}${name}`]: value }),
          };
          return type === "boolean" ? (
            <SelectRow key={name} {...shared} options={[["", "as it is"], ["true", "true"], ["false", "false"]]} />
          ) : (
            <TextRow key={name} {...shared} placeholder={type.replaceAll("|", " or ")} numeric={type === "number"} />
          );
        })}
      </details>
    </fieldset>
  );
}
