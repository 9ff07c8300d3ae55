import type { ReactElement } from "react";
import { VerdictBadge } from "../../components";
import { useChanges } from "../../changes";
import { Link, address } from "../../router";

/** What the newest version is against its baseline: few runs may show no change of level while two versions differ case by case. */
export function Against({ subject, suite }: { subject: string; suite: string }): ReactElement | null {
  const { data } = useChanges();
  const rows = (data?.rows ?? []).filter((row) => row.name === subject && (suite === "" || row.suite_id === suite) && row.evidence === "cases" && row.baseline !== "");
  if (rows.length === 0) return null;
  return (
    <section aria-label="Against the baseline">
      {rows.map((row) => (
        <p key={row.suite_id}>
          <VerdictBadge verdict={row.verdict} />{" "}
          <Link to={address("/", { open: `${row.name} ${row.suite_id}` })}>
            {row.agent} against {row.baseline}
          </Link>{" "}
          <span className="muted">on {row.suite_name || row.suite_id}, case by case</span>
        </p>
      ))}
    </section>
  );
}
