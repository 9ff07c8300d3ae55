import type { ReactElement } from "react";

export function Loading({ what = "Loading…" }: { what?: string }): ReactElement {
  return (
    <p className="loading" role="status">
      {what}
    </p>
  );
}
