import type { ReactElement } from "react";
import type { RunWarning } from "../api/answers";
import { Prose, Sign } from "../components";
import "./warnings.css";
import { asSentence } from "./words";

/** What the reader has to know before trusting the numbers, each with its remedy. */
export function Warnings({ warnings }: { warnings: readonly RunWarning[] }): ReactElement | null {
  if (warnings.length === 0) return null;
  return (
    <ul className="warnings">
      {warnings.map((warning) => (
        <li key={`${warning.code} ${warning.message}`}>
          <span className="verdict-inconclusive">
            <Sign verdict="WARN" />
          </span>{" "}
          <Prose text={asSentence(warning.message)} />{" "}
          {warning.remedy && (
            <span className="muted">
              <Prose text={warning.remedy} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
