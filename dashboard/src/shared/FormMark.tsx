import type { ReactElement } from "react";
import "./shared.css";

const WHOLE = ["", "full", "unknown"];

const MEANING: Record<string, string> = {
  quick: "A quick run: the few cases that the suite marks for a first look",
  limited: "Only some of the suite's cases",
  cancelled: "Somebody ended it before its plan was done",
  capped: "It came to its limit of money or tokens before its plan was done",
  decided: "It stopped when the question was decided",
};

/** Marks a run that was not a whole one of its suite; nothing for a whole one. */
export function FormMark({ form }: { form: string }): ReactElement | null {
  if (WHOLE.includes(form)) return null;
  return (
    <span className="form-mark" title={`${MEANING[form] ?? "Not a whole run of its suite"}. On no board unless asked for.`}>
      {form}
    </span>
  );
}
