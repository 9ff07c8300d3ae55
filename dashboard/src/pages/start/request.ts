/** The request that a form stands for, and whom the server's objections concern. */
import type { ApiError } from "../../api/client";
import type { AgentRow, RunBody } from "../../api/answers";

/** What somebody typed, as the address holds it; "" is left to the suite or to the agent. */
export interface Typed {
  agent: string;
  suite: string;
  epochs: string;
  limit: string;
  quick: boolean;
  maxCost: string;
  settings: Record<string, string>;
}

type Options = NonNullable<RunBody["options"]>;
type Configuration = NonNullable<RunBody["configuration"]>;

/** By field, as the server names it without `body.`: agent_id, options.epochs, configuration.temperature. */
export type Problems = Record<string, string>;

function readNumber(text: string, whole: boolean): number | string {
  const value = Number(text);
  if (!Number.isFinite(value) || text.trim() === "") return "a number is expected";
  if (whole && (!Number.isInteger(value) || value < 1)) return "a whole number from 1 on is expected";
  return value;
}

/** A setting as the JSON type that the agent declares for it; a text where several are possible stays one. */
function readSetting(text: string, type: string): { value: Configuration[string] } | { problem: string } {
  const types = type.split("|");
  if (types.includes("string")) return { value: text };
  if (types.includes("boolean")) return { value: text === "true" };
  if (types.includes("number") || types.includes("integer")) {
    const value = readNumber(text, false);
    return typeof value === "number" ? { value } : { problem: value };
  }
  return { value: text.split("\n") };
}

export function read(typed: Typed, agent: AgentRow | undefined): { request: RunBody; problems: Problems } {
  const problems: Problems = {};
  const options: Options = {};
  const take = (field: "epochs" | "limit" | "max_cost_usd", text: string, whole: boolean): void => {
    if (text === "") return;
    const value = readNumber(text, whole);
    if (typeof value === "string") problems[`options.${field}`] = value;
    else if (value <= 0) problems[`options.${field}`] = "more than 0 is expected";
    else options[field] = value;
  };
  if (!typed.agent) problems["agent_id"] = "choose an agent";
  if (!typed.suite) problems["suite_id"] = "choose a suite";
  take("epochs", typed.epochs, true);
  take("limit", typed.limit, true);
  take("max_cost_usd", typed.maxCost, false);
  if (typed.quick) options.quick = true;
  const configuration: Configuration = {};
  for (const [name, text] of Object.entries(typed.settings)) {
    const type = agent?.settings[name];
    if (text === "" || type === undefined) continue;
    const found = readSetting(text, type);
    if ("problem" in found) problems[`configuration.${name}`] = found.problem;
    else configuration[name] = found.value;
  }
  return {
    request: { agent_id: typed.agent, suite_id: typed.suite, configuration, async_execution: true, options },
    problems,
  };
}

/** What the server objects to, at its fields; `configuration.stop.2` belongs to `configuration.stop`. */
export function problemsOf(error: ApiError, known: readonly string[]): Problems {
  const found: Problems = {};
  for (const { field, message } of error.problem.errors ?? []) {
    const name = field.replace(/^body\./, "");
    const own = known.find((item) => name === item || name.startsWith(`${item}.`));
    if (own) found[own] = [message, error.problem.remedy].filter(Boolean).join(". ");
  }
  return found;
}

/** A name for this very request, so that sending it twice starts one run. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
