import type { ReactElement } from "react";
import type { ChangeVerdict, Severity } from "../api/answers";

const KNOWN: Record<string, { sign: string; tone: ChangeVerdict }> = {
  worse: { sign: "▼", tone: "worse" },
  better: { sign: "▲", tone: "better" },
  same: { sign: "=", tone: "same" },
  inconclusive: { sign: "~", tone: "inconclusive" },
  "no-baseline": { sign: "○", tone: "no-baseline" },
  PASS: { sign: "✓", tone: "better" },
  WARN: { sign: "!", tone: "inconclusive" },
  BLOCK: { sign: "✕", tone: "worse" },
  INCONCLUSIVE: { sign: "~", tone: "inconclusive" },
  low: { sign: "·", tone: "same" },
  medium: { sign: "!", tone: "inconclusive" },
  high: { sign: "▼", tone: "worse" },
  critical: { sign: "▼▼", tone: "worse" },
};

const TEXTS: Record<string, string> = { "no-baseline": "no baseline" };

type GateVerdict = "PASS" | "WARN" | "BLOCK" | "INCONCLUSIVE";
export type Judged = ChangeVerdict | GateVerdict | Severity;

export function Sign({ verdict }: { verdict: Judged }): ReactElement {
  return <span aria-hidden="true">{KNOWN[verdict]?.sign ?? "○"}</span>;
}

/** A verdict, a gate's verdict or a severity: sign, word and colour say the same. Null shows a dash. */
export function VerdictBadge({ verdict }: { verdict: Judged | null }): ReactElement {
  if (verdict === null) return <span className="muted">not judged</span>;
  return (
    <span className={`badge verdict-${KNOWN[verdict]?.tone ?? "no-baseline"}`}>
      <Sign verdict={verdict} /> {TEXTS[verdict] ?? verdict.toLowerCase()}
    </span>
  );
}

const STATUSES: Record<string, { sign: string; tone: ChangeVerdict }> = {
  ok: { sign: "✓", tone: "better" },
  succeeded: { sign: "✓", tone: "better" },
  complete: { sign: "✓", tone: "better" },
  failed: { sign: "✕", tone: "worse" },
  error: { sign: "⚠", tone: "worse" },
  timeout: { sign: "◷", tone: "inconclusive" },
  limit: { sign: "⊘", tone: "inconclusive" },
  partial: { sign: "◐", tone: "inconclusive" },
  cancelled: { sign: "–", tone: "no-baseline" },
  queued: { sign: "○", tone: "no-baseline" },
  running: { sign: "▶", tone: "same" },
};

/** The status of a sample, a run or a job. */
export function StatusBadge({ status }: { status: string }): ReactElement {
  const known = STATUSES[status];
  return (
    <span className={`badge verdict-${known?.tone ?? "no-baseline"}`}>
      <span aria-hidden="true">{known?.sign ?? "○"}</span> {status}
    </span>
  );
}
