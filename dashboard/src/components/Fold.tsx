import type { ReactElement, ReactNode } from "react";
import { useListed } from "../hooks/useListed";

interface FoldProps {
  /** Under which the address keeps that it was opened or closed; one page has no two of a name. */
  name: string;
  summary: ReactNode;
  children: ReactNode;
  /** How it is at first. */
  open?: boolean;
  className?: string;
}

/** A part of a page behind its title. Whether it is open is part of the address, so that a link shows the same. */
export function Fold({ name, summary, children, open: first = false, className }: FoldProps): ReactElement {
  const [folds, turn] = useListed("folds");
  return (
    <details className={className} open={folds.has(name) !== first} onToggle={(event) => turn(name, event.currentTarget.open !== first)}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
