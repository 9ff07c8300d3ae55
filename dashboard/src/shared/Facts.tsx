import { Fragment } from "react";
import type { ReactElement, ReactNode } from "react";
import "./shared.css";

export type Fact = readonly [label: string, value: ReactNode];

/** Labels and values; what is null, undefined, false or empty text is left out. */
export function Facts({ facts }: { facts: readonly (Fact | false)[] }): ReactElement | null {
  const shown = facts.filter(
    (fact): fact is Fact => fact !== false && fact[1] !== null && fact[1] !== undefined && fact[1] !== "" && fact[1] !== false,
  );
  if (shown.length === 0) return null;
  return (
    <dl className="facts">
      {shown.map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** The fields of a mapping as facts, nested values as JSON. */
export function factsOf(fields: Readonly<Record<string, unknown>>): Fact[] {
  return Object.entries(fields).map(([name, value]) => [
    name,
    <code key={name}>{typeof value === "string" ? value : JSON.stringify(value)}</code>,
  ]);
}
