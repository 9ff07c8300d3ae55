import type { ReactElement } from "react";
import type { FailedCase, SuiteStanding } from "../../../api/answers";
import { StatusBadge, Table } from "../../../components";
import type { Column } from "../../../components";
import { plural } from "../../../format";
import { Link } from "../../../router";
import { ShortText } from "../../../shared/TextFold";
import { caseAddress, casesAddress, profileAddress } from "../../../shared/paths";

function columns(runId: string): Column<FailedCase>[] {
  return [
    {
      key: "case",
      label: "Case",
      value: (row) => row.case_id,
      render: (row) => (
        <span>
          <Link to={caseAddress(runId, row.benchmark, row.case_id, row.agent)}>{row.case_id}</Link>{" "}
          <span className="muted">{row.benchmark}</span>
        </span>
      ),
    },
    { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => row.agent },
    {
      key: "ended",
      label: "Ended",
      value: (row) => row.status,
      render: (row) => (
        <span>
          <StatusBadge status={row.status} />{" "}
          <span className="muted score-cell">
            {row.bad} of {row.tries}
          </span>
        </span>
      ),
    },
    { key: "want", label: "Wanted", render: (row) => <ShortText value={row.want} /> },
    { key: "got", label: "Got", render: (row) => <ShortText value={row.got} /> },
    { key: "why", label: "Why", render: (row) => <ShortText value={row.why} /> },
  ];
}

const SHOWN = 12;

/** What did not pass comes before the figures: it is what a reader came for. */
export function FailedCases({ standing }: { standing: SuiteStanding }): ReactElement {
  const shown = standing.failed.slice(0, SHOWN);
  const more = standing.failed_total - shown.length;
  return (
    <section aria-labelledby="failed">
      <h2 id="failed">Cases that were not passed ({standing.failed_total})</h2>
      <Table
        caption="Cases that were not passed"
        compact={["case", "ended"]}
        columns={columns(standing.run_id)}
        rows={shown}
        rowKey={(row) => `${row.benchmark} ${row.case_id} ${row.agent}`}
        sortParam="failed"
        empty={<p>Every case was passed.</p>}
      />
      <p>
        {more > 0 && `${plural(more, "more case")} not listed here. `}
        <Link to={casesAddress(standing.run_id)}>All failures with their answers</Link> ·{" "}
        <Link to={profileAddress(standing.run_id)}>Profile</Link> ·{" "}
        <Link to={casesAddress(standing.run_id, { status: "all" })}>All samples</Link>
      </p>
    </section>
  );
}
