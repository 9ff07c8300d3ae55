import { useState } from "react";
import type { ReactElement, ReactNode } from "react";

interface FiltersProps {
  label: string;
  children: ReactNode;
  /** Not folded at first: where nothing is on the page before something is chosen. */
  open?: boolean;
}

/** The choices above a list. On a narrow screen they are folded away behind a button. */
export function Filters({ label, children, open: first = false }: FiltersProps): ReactElement {
  const [open, setOpen] = useState(first);
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
