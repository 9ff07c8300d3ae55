import type { ReactElement } from "react";
import { exportPage } from "./exporting";

/** Saves the page as one HTML file that can be sent to anybody. */
export function ExportButton({ name }: { name: string }): ReactElement {
  return (
    <button type="button" onClick={() => void exportPage(name)} title="One HTML file that needs no server">
      Export
    </button>
  );
}
