import { useState } from "react";
import type { ReactElement, ReactNode } from "react";

/** The choices above a list. On a narrow screen they are folded away behind a button. */
export function Filters({ label, children }: { label: string; children: ReactNode }): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <div className={open ? "filters" : "filters folded"}>
      <button type="button" className="filters-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filter
      </button>
      <div className="fields" role="search" aria-label={label}>
        {children}
      </div>
    </div>
  );
}
