import type { ReactElement } from "react";
import { nameOf } from "./paths";
import "./shared.css";

/** So many letters stay on one line everywhere. */
const SHORT = 20;

/** `helper@2.1` that breaks before its version and never within it; where there is no room the name is cut, not the version. */
export function AgentLabel({ label, cut = false }: { label: string; cut?: boolean }): ReactElement {
  const name = nameOf(label);
  return (
    <span className={cut ? "agent-cut" : label.length <= SHORT ? "agent-short" : undefined} title={cut ? label : undefined}>
      <span className="agent-name">{name}</span>
      {name !== label && (
        <>
          <wbr />
          <span className="agent-version">{label.slice(name.length)}</span>
        </>
      )}
    </span>
  );
}
