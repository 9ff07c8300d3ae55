import { useEffect, useState } from "react";
import type { ReactElement } from "react";

/** The command that prints the same as the page shows. */
export function CommandHint({ command }: { command: string }): ReactElement {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    // The clipboard is refused on a page that came over plain HTTP from another machine; the text can be selected.
    navigator.clipboard?.writeText(command).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div className="command">
      <code>{command}</code>
      <button type="button" className="quiet" onClick={copy} aria-label={`Copy the command ${command}`}>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
