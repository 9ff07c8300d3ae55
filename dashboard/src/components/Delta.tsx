import type { ReactElement } from "react";
import type { Interval, PairedRow, Verdict } from "../api/answers";
import { UNKNOWN, number, percent, points, quantity, signed } from "../format";

interface DeltaProps {
  /** candidate / baseline - 1 where `relative`, else a difference of scores in 0..1. */
  change: number | null;
  interval?: Interval | null;
  relative: boolean;
  /** Of what is no score: a plain difference is then told in this unit. */
  unit?: string;
  verdict?: Verdict | null;
  title?: string;
}

/** A change with its 95 % interval, such as "+4.2 % [1.0, 7.5]"; differences of scores are points of a hundred. */
export function Delta({ change, interval, relative, unit = "ratio", verdict, title }: DeltaProps): ReactElement {
  if (change === null) {
    return (
      <span className="muted" title={title}>
        {UNKNOWN}
      </span>
    );
  }
  const plain = !relative && unit !== "ratio";
  // Twice as much and more is told as a factor: "+118 %" is 2.2×.
  const factor = relative && change > 1;
  const main = factor ? `${number(1 + change, 2)}×` : relative ? signed(percent(change)) : plain ? signed(quantity(change, unit)) : `${signed(points(change))} pt`;
  const end = (value: number): string => (factor ? `${number(1 + value, 2)}×` : plain ? quantity(value, unit) : points(value));
  return (
    <span className={`delta verdict-${verdict ?? "none"}`} title={title}>
      {main}
      {interval && (
        <span className="interval">
          <span className="visually-hidden"> 95 % interval </span> [{end(interval[0])}, {end(interval[1])}]
        </span>
      )}
    </span>
  );
}

/** The change of a row of a comparison. */
export function RowDelta({ row }: { row: PairedRow | null }): ReactElement {
  if (row === null) return <span className="muted">{UNKNOWN}</span>;
  const { change, interval, relative, unit, verdict, reason, cases } = row;
  return <Delta {...{ change, interval, relative, unit, verdict }} title={reason || `over ${cases} cases`} />;
}
