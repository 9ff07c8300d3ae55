import type { ReactElement } from "react";
import type { BandFinding } from "../../../api/answers";
import { Table } from "../../../components";
import type { Column } from "../../../components";
import { count } from "../../../format";

const MARKS: Record<BandFinding["level"], [sign: string, className: string]> = {
  good: ["✓", "badge verdict-better"],
  fair: ["·", "badge"],
  poor: ["✗", "badge verdict-worse"],
};

const COLUMNS: readonly Column<BandFinding>[] = [
  { key: "arm", label: "Arm", value: (row) => row.arm, render: (row) => row.arm },
  { key: "band", label: "Band", value: (row) => row.band, render: (row) => row.band.replaceAll("_", " ") },
  {
    key: "level",
    label: "Is",
    value: (row) => row.level,
    render: (row) => {
      const [sign, className] = MARKS[row.level];
      return (
        <span className={className}>
          {sign} {row.label}
        </span>
      );
    },
  },
  { key: "meaning", label: "Meaning", render: (row) => row.sentence },
  { key: "n", label: "n", align: "right", value: (row) => row.n, render: (row) => count(row.n) },
];

/** What single figures mean: good, or a red flag. */
export function Bands({ found }: { found: readonly BandFinding[] }): ReactElement {
  const flags = found.filter((row) => row.level === "poor").length;
  return (
    <section aria-labelledby="bands">
      <h2 id="bands">Bands</h2>
      <p className="muted">
        {flags === 0 ? "No red flag" : flags === 1 ? "1 red flag" : `${count(flags)} red flags`} among {count(found.length)} figures. The
        thresholds are under bands: in the file of the run.
      </p>
      <Table
        caption="What the figures mean"
        columns={COLUMNS}
        rows={found}
        rowKey={(row) => `${row.arm_id}/${row.band}`}
        sortParam="bands_sort"
      />
    </section>
  );
}
