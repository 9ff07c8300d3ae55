import type { ReactElement } from "react";

/** A sentence of the server; what it quotes as `dyno show last` is set as code. */
export function Prose({ text }: { text: string }): ReactElement {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
