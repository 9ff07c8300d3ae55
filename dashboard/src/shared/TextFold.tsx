import { useState } from "react";
import type { ReactElement } from "react";
import { asText, plural } from "../format";
import { useExporting } from "./exporting";
import "./shared.css";

const SHOWN = 1200;

/** Text of a case or an answer, as it is. What is long is folded until somebody asks for it. */
export function TextFold({ value, label, most = SHOWN }: { value: unknown; label: string; most?: number }): ReactElement {
  const [open, setOpen] = useState(false);
  const exporting = useExporting();
  const text = asText(value);
  if (text === "") return <p className="muted">nothing</p>;
  const folded = text.length > most && !open && !exporting;
  return (
    <>
      <pre className="run-text" tabIndex={0} role="region" aria-label={label}>
        {folded ? `${text.slice(0, most)}…` : text}
      </pre>
      {text.length > most && (
        <button type="button" className="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${plural(text.length, "character")}`}
        </button>
      )}
    </>
  );
}

/** One line of it, for tables. */
export function ShortText({ value, most = 140 }: { value: unknown; most?: number }): ReactElement {
  const text = asText(value).replace(/\s+/g, " ").trim();
  return <span className="run-text-short">{text.length > most ? `${text.slice(0, most)}…` : text}</span>;
}
