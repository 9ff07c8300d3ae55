import type { ReactElement, ReactNode } from "react";
import { CommandHint } from "./CommandHint";

interface EmptyProps {
  title: string;
  /** What to type so that the page has something to show. */
  command?: string;
  children?: ReactNode;
}

export function Empty({ title, command, children }: EmptyProps): ReactElement {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
      {command && <CommandHint command={command} />}
    </div>
  );
}
