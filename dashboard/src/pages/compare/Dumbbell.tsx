import type { ReactElement } from "react";
import type { Duel } from "../../api/answers";
import { UNKNOWN, number, signed } from "../../format";
import { axisFor, effectOf } from "./effects";
import type { Effect } from "./effects";
import { sideValue } from "../../shared/units";

const WIDTH = 540;
const LEFT = 96;
const RIGHT = 76;
const ROW = 34;
const TOP = 30;

function effectText({ change, low, high, kind }: Effect): string {
  if (change === null) return UNKNOWN;
  const unit = kind === "%" ? " %" : " pt";
  const range = low === null || high === null ? "" : ` [${number(low, 2)}, ${number(high, 2)}]`;
  return `${signed(number(change, 2))}${unit}${range}`;
}

function sentence(effect: Effect, duel: Duel): string {
  const { row } = effect;
  if (effect.change === null) return `${row.metric}: not compared. ${row.reason}`;
  const sides = `${duel.baseline} ${sideValue(row.baseline, row)}, ${duel.candidate} ${sideValue(row.candidate, row)}`;
  return `${row.metric}: ${row.verdict ?? "not judged"}, ${effectText(effect)} for the candidate. ${sides}.`;
}

function Bell({ effect, y, x }: { effect: Effect; y: number; x: (value: number) => number }): ReactElement {
  const { change, low, high, row } = effect;
  if (change === null) {
    return (
      <text x={x(0) + 10} y={y + 4} className="compare-muted">
        {row.change === null ? "not compared" : "in its own unit: see the table"}
      </text>
    );
  }
  return (
    <g className={`compare-bell verdict-${row.verdict ?? "none"}`}>
      {low !== null && high !== null && (
        <path
          className="compare-whisker"
          d={`M${x(low)} ${y - 6}v12M${x(low)} ${y}H${x(high)}M${x(high)} ${y - 6}v12`}
        />
      )}
      <line className="compare-bar" x1={x(0)} x2={x(change)} y1={y} y2={y} />
      <circle className="compare-baseline" cx={x(0)} cy={y} r={5} />
      <circle className="compare-candidate" cx={x(change)} cy={y} r={6.5} />
    </g>
  );
}

/**
 * Each metric as a dumbbell: the baseline in the middle, the candidate where the change puts it, with the 95 % interval
 * as a whisker. Right is better, whatever the direction of the metric.
 */
export function Dumbbell({ duel }: { duel: Duel }): ReactElement {
  const effects = duel.rows.map(effectOf);
  const { reach, ticks } = axisFor(effects);
  const height = TOP + effects.length * ROW + 30;
  const x = (value: number): number => LEFT + ((value + reach) / (2 * reach)) * (WIDTH - LEFT - RIGHT);
  const bottom = TOP + effects.length * ROW;
  return (
    <figure className="chart compare-dumbbell" aria-labelledby="compare-dumbbell-title">
      <figcaption>
        <span id="compare-dumbbell-title" className="chart-title">
          Effects with 95 % intervals
        </span>
        <span className="muted">
          ○ {duel.baseline} &nbsp; ● {duel.candidate}
        </span>
      </figcaption>
      <div className="compare-scroll" role="region" aria-label="Effects with 95 % intervals, as a picture" tabIndex={0}>
        <svg
          viewBox={`0 0 ${WIDTH} ${height}`}
          role="img"
          aria-label={effects.map((item) => sentence(item, duel)).join(" ")}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line
                className={tick === 0 ? "compare-zero" : "compare-grid"}
                x1={x(tick)}
                x2={x(tick)}
                y1={TOP - 6}
                y2={bottom}
              />
              <text className="compare-tick" x={x(tick)} y={bottom + 18} textAnchor="middle">
                {signed(number(tick))}
              </text>
            </g>
          ))}
          <text className="compare-tick" x={x(0) - 10} y={14} textAnchor="end">
            ← baseline better
          </text>
          <text className="compare-tick" x={x(0) + 10} y={14}>
            candidate better →
          </text>
          {effects.map((effect, index) => {
            const y = TOP + index * ROW + ROW / 2;
            return (
              <g key={effect.row.metric}>
                <title>{sentence(effect, duel)}</title>
                <text className="compare-metric" x={LEFT - 12} y={y + 5} textAnchor="end">
                  {effect.row.metric}
                </text>
                <Bell effect={effect} y={y} x={x} />
                <text className="compare-tick" x={WIDTH - 4} y={y + 4} textAnchor="end">
                  {effect.change === null
                    ? UNKNOWN
                    : `${signed(number(effect.change, 2))} ${effect.kind === "%" ? "%" : "pt"}`}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <p className="muted">
        Per cent of the baseline, or points (pt) of a hundred for scores. The table below has the numbers.
      </p>
    </figure>
  );
}
