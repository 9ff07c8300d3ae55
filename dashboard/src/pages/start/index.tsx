import { useEffect, useMemo, useRef, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { ApiError, post } from "../../api/client";
import type { Accepted, AgentItems, AgentRow, RunBody, RunEstimate, SuiteItems, SuiteRow } from "../../api/answers";
import { CommandHint, Empty, ErrorBox, Loading, Prose, Show, SignIn, shellWord } from "../../components";
import { duration, moneySum, plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address, navigate, setQuery, useRoute } from "../../router";
import { jobAddress } from "../../shared/paths";
import { useMayRun } from "../../shared/useMayRun";
import { CostQuestion } from "./CostQuestion";
import { HowMuch, SETTING, Settings } from "./Fields";
import { SelectRow } from "./FormRow";
import { newKey, problemsOf, read } from "./request";
import { useEstimate } from "./useEstimate";
import type { Problems, Typed } from "./request";
import "./page.css";

export const title = "Start a run";

/** The form is its address: a link to it opens it filled in. */
function typedFrom(query: URLSearchParams): Typed {
  const text = (name: string): string => query.get(name) ?? "";
  const settings = [...query].filter(([name]) => name.startsWith(SETTING)).map(([name, value]) => [name.slice(SETTING.length), value]);
  return {
    agent: text("agent"),
    suite: text("suite"),
    epochs: text("epochs"),
    limit: text("limit"),
    quick: text("quick") === "1",
    maxCost: text("max_cost"),
    settings: Object.fromEntries(settings) as Record<string, string>,
  };
}

function commandOf(typed: Typed): string {
  const parts = ["dyno run", shellWord(typed.suite || "SUITE"), "--agent", shellWord(typed.agent || "AGENT")];
  if (typed.epochs) parts.push("--epochs", shellWord(typed.epochs));
  if (typed.limit) parts.push("--limit", shellWord(typed.limit));
  if (typed.quick) parts.push("--quick");
  if (typed.maxCost) parts.push("--max-cost", shellWord(typed.maxCost));
  return [...parts, "--server", window.location.origin].join(" ");
}

function useSubmit(known: readonly string[]): {
  busy: boolean;
  refused: Problems;
  error: unknown;
  send: (request: RunBody) => void;
} {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Problems>({});
  const [error, setError] = useState<unknown>();
  const sent = useRef({ body: "", key: "" });
  const send = (request: RunBody): void => {
    const body = JSON.stringify(request);
    // Sent again after a lost answer it is the same request; changed, it is another.
    if (sent.current.body !== body) sent.current = { body, key: newKey() };
    setBusy(true);
    setError(undefined);
    setRefused({});
    post<Accepted>("/benchmarks/run", request, { "Idempotency-Key": sent.current.key })
      .then(
        ({ job }) => navigate(address(jobAddress(job.job_id), { then: "run" })),
        (failure: unknown) => {
          const problems = failure instanceof ApiError ? problemsOf(failure, known) : {};
          setRefused(problems);
          if (Object.keys(problems).length === 0) setError(failure);
        },
      )
      .finally(() => setBusy(false));
  };
  return { busy, refused, error, send };
}

/** How much the run is, in one line, before anybody starts it. */
function Amount({ estimate, refusal, asked }: { estimate: RunEstimate | undefined; refusal: string; asked: boolean }): ReactElement {
  if (refusal) {
    return (
      <p className="start-amount verdict-worse">
        <Prose text={refusal} />
      </p>
    );
  }
  if (!estimate) return <p className="start-amount muted">{asked ? "Working out how much it is…" : "Choose an agent and a suite to see how much it is."}</p>;
  const { calls, cases, epochs, usd, seconds } = estimate;
  const cost = usd === null ? "what it costs is not known" : usd === 0 ? "no charge known beforehand" : `about ${moneySum(usd)}`;
  return (
    <p className="start-amount">
      <strong>{estimate.agent}</strong>: {plural(calls, "call")} ({plural(cases, "case")}, {epochs === 1 ? "each once" : `each ${epochs} times`}
      {calls > cases * epochs && ", and warm-ups"}), {cost},{" "}
      {seconds === null ? "how long it takes is not known before its first run" : `about ${duration(seconds)}`}.
    </p>
  );
}

/** The chosen version: that of the address, else the newest that is registered here. */
function versionOf(agent: AgentRow | undefined, asked: string): string {
  if (!agent) return "";
  const named = asked.slice(agent.name.length + 1);
  return named || (agent.registered_versions[0] ?? "");
}

interface FormProps {
  agents: readonly AgentRow[];
  suites: readonly SuiteRow[];
}

function StartForm({ agents, suites }: FormProps): ReactElement {
  const { query } = useRoute();
  const typed = useMemo(() => typedFrom(query), [query]);
  const agent = agents.find((row) => row.name === typed.agent || typed.agent.startsWith(`${row.name}@`));
  const suite = suites.find((row) => row.suite_id === typed.suite);
  const [tried, setTried] = useState(false);
  const [agreed, setAgreed] = useState("");
  const version = versionOf(agent, typed.agent);
  const label = agent && version ? `${agent.name}@${version}` : typed.agent;
  const { request, problems } = useMemo(() => read({ ...typed, agent: label }, agent), [typed, label, agent]);
  const estimated = useEstimate(Object.keys(problems).length === 0 ? request : null);
  const fields = ["agent_id", "suite_id", "options.epochs", "options.limit", "options.quick", "options.max_cost_usd"];
  const known = [...fields, ...Object.keys(agent?.settings ?? {}).map((name) => `configuration.${name}`)];
  const { busy, refused, error, send } = useSubmit(known);
  const shown: Problems = tried ? { ...refused, ...problems } : refused;
  // Agreeing concerns this agent and this amount; another one is asked about again.
  const question = JSON.stringify(request);
  const asks = agent?.paid === true && suite !== undefined;
  const mayGo = !asks || agreed === question;
  const form = useRef<HTMLFormElement>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    // Who sent the form goes on at the first field that was not accepted.
    form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [refused, tries]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    setTries((count) => count + 1);
    if (Object.keys(problems).length === 0 && mayGo) send(request);
  };
  const pick = (name: string) => (value: string) => setQuery({ [name]: value });
  const pickAgent = (value: string): void => {
    const gone = Object.keys(typed.settings).map((name) => [`${SETTING}${name}`, ""]);
    setQuery({ ...(Object.fromEntries(gone) as Record<string, string>), agent: value });
  };
  return (
    <form ref={form} className="start-form" onSubmit={submit} noValidate>
      <CommandHint command={commandOf({ ...typed, agent: label })} />
      {Object.values(typed.settings).some(Boolean) && (
        <p className="muted">The command runs the agent as it is registered: settings can be changed from here and through the API.</p>
      )}
      <fieldset>
        <legend>What</legend>
        <SelectRow
          label="Agent"
          value={agent?.name ?? typed.agent}
          note={agent?.description}
          problem={shown["agent_id"]}
          options={[["", "choose…"], ...agents.map((row) => [row.name, row.paid ? `${row.name} (costs money)` : row.name] as const)]}
          onChange={pickAgent}
        />
        {agent && agent.registered_versions.length > 1 && (
          <SelectRow
            label="Version"
            value={version}
            note={`${plural(agent.registered_versions.length, "version")} can be run here; the newest is first`}
            options={agent.registered_versions.map((item, index) => [item, index === 0 ? `${item} (newest)` : item] as const)}
            onChange={(value) => setQuery({ agent: `${agent.name}@${value}` })}
          />
        )}
        <SelectRow
          label="Suite"
          value={typed.suite}
          note={suite && `${plural(suite.cases, "case")} in ${plural(suite.benchmarks, "benchmark")}. ${suite.description}`}
          problem={shown["suite_id"]}
          options={[["", "choose…"], ...suites.map((row) => [row.suite_id, row.name] as const)]}
          onChange={pick("suite")}
        />
      </fieldset>
      <HowMuch typed={typed} problems={shown} />
      {agent && <Settings key={agent.name} agent={agent} typed={typed} problems={shown} />}
      {asks && (
        <CostQuestion
          agent={agent}
          typed={typed}
          estimate={estimated.estimate}
          agreed={agreed === question}
          onAgree={(yes) => setAgreed(yes ? question : "")}
        />
      )}
      <Amount {...estimated} asked={Object.keys(problems).length === 0} />
      {tried && !mayGo && <p className="verdict-worse" role="alert">Say that it may spend money, above.</p>}
      <ErrorBox error={error} />
      <button type="submit" disabled={busy}>
        {busy ? "Asking…" : "Start the run"}
      </button>
    </form>
  );
}

function WithKey(): ReactElement {
  const agents = useResource<AgentItems>("/api/agents");
  const suites = useResource<SuiteItems>("/api/suites");
  return (
    <Show of={agents}>
      {(allAgents) => (
        <Show of={suites}>
          {(allSuites) => {
            const own = { agents: allAgents.items.filter((row) => row.registered), suites: allSuites.items.filter((row) => row.registered) };
            if (own.agents.length > 0 && own.suites.length > 0) return <StartForm {...own} />;
            const missing = own.agents.length === 0 ? "agent" : "suite";
            return <Empty title={`No ${missing} is registered where the service runs. In its folder:`} command="dyno init" />;
          }}
        </Show>
      )}
    </Show>
  );
}

export default function Start(): ReactElement {
  const mayRun = useMayRun();
  return (
    <>
      <h1>Start a run</h1>
      {mayRun === undefined && <Loading />}
      {mayRun === false && <SignIn reason="Starting a run needs a key that may run." />}
      {mayRun === true && <WithKey />}
    </>
  );
}
