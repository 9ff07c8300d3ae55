import { useId } from "react";
import type { ReactElement } from "react";
import type { Duel } from "../../api/answers";
import { sideValue } from "../../shared/units";
import { axisFor, changeText, effectOf } from "./effects";
import type { Axis, Effect, Scale } from "./effects";

const WIDTH = 540;
/** On a phone: the same letters, and less between them. */
const NARROW_WIDTH = 360;
const LEFT = 96;
const RIGHT = 84;
const ROW = 34;
const TOP = 22;
const BOTTOM = 30;

function sentence({ row, at }: Effect, duel: Duel): string {
  if (at === null) return `${row.metric}: not judged. ${row.reason}`;
  const sides = `${duel.baseline} ${sideValue(row.baseline, row)}, ${duel.candidate} ${sideValue(row.candidate, row)}`;
  return `${row.metric}: ${row.verdict ?? "not judged"}, ${changeText(row)}. ${sides}.`;
}

function Bell({ effect, y, x }: { effect: Effect; y: number; x: (value: number) => number }): ReactElement {
  const { at, low, high, row } = effect;
  if (at === null) {
    return (
      <text x={x(0) + 10} y={y + 4} className="compare-muted">
        not judged
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
      <line className="compare-bar" x1={x(0)} x2={x(at)} y1={y} y2={y} />
      <circle className="compare-baseline" cx={x(0)} cy={y} r={5} />
      <circle className="compare-candidate" cx={x(at)} cy={y} r={6.5} />
    </g>
  );
}

interface TicksProps {
  axis: Axis;
  x: (value: number) => number;
  bottom: number;
  /** Names every second line only, from the middle on. */
  sparse: boolean;
}

function Ticks({ axis, x, bottom, sparse }: TicksProps): ReactElement {
  const middle = (axis.ticks.length - 1) / 2;
  return (
    <>
      {axis.ticks.map(({ at, label }, index) => (
        <g key={at}>
          <line className={at === 0 ? "compare-zero" : "compare-grid"} x1={x(at)} x2={x(at)} y1={TOP - 6} y2={bottom} />
          <text className="compare-tick" x={x(at)} y={bottom + 16} textAnchor="middle">
            {sparse && (index - middle) % 2 !== 0 ? "" : label}
          </text>
        </g>
      ))}
    </>
  );
}

const TITLES: Record<Scale, string> = {
  points: "Scores, in points of a hundred",
  factor: "Time, tokens and money, as multiples of the baseline's",
};

/** The rows of one unit on one axis: worse is left, better is right. */
function Group({ duel, effects, scale }: { duel: Duel; effects: readonly Effect[]; scale: Scale }): ReactElement | null {
  const own = effects.filter((effect) => effect.scale === scale);
  if (own.length === 0) return null;
  const axis = axisFor(own, scale);
  const bottom = TOP + own.length * ROW;
  const width = window.innerWidth < 500 ? NARROW_WIDTH : WIDTH;
  const x = (value: number): number => {
    const inside = Math.max(-axis.reach, Math.min(axis.reach, value));
    return LEFT + ((inside + axis.reach) / (2 * axis.reach)) * (width - LEFT - RIGHT);
  };
  return (
    <>
      <p className="compare-scale">{TITLES[scale]}</p>
      <div className="compare-scroll" role="region" aria-label={`${TITLES[scale]}, as a picture`} tabIndex={0}>
        <svg
          viewBox={`0 0 ${width} ${bottom + BOTTOM}`}
          role="img"
          aria-label={own.map((item) => sentence(item, duel)).join(" ")}
        >
          <Ticks axis={axis} x={x} bottom={bottom} sparse={width === NARROW_WIDTH && axis.ticks.length > 3} />
          <text className="compare-tick" x={x(0) - 10} y={12} textAnchor="end">
            ← worse
          </text>
          <text className="compare-tick" x={x(0) + 10} y={12}>
            better →
          </text>
          {own.map((effect, index) => {
            const y = TOP + index * ROW + ROW / 2;
            return (
              <g key={effect.row.metric}>
                <title>{sentence(effect, duel)}</title>
                <text className="compare-metric" x={LEFT - 12} y={y + 5} textAnchor="end">
                  {effect.row.metric}
                </text>
                <Bell effect={effect} y={y} x={x} />
                <text className="compare-tick" x={width - 4} y={y + 4} textAnchor="end">
                  {effect.at === null ? "" : changeText(effect.row)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
    </>
  );
}

/**
 * Each metric as a dumbbell: the baseline in the middle, the candidate where the change puts it, with the 95 % interval
 * as a whisker. Scores and multiples have an axis each; the numbers are those of the table.
 */
export function Dumbbell({ duel }: { duel: Duel }): ReactElement {
  const id = useId();
  const effects = duel.rows.map(effectOf);
  const elsewhere = effects.filter((effect) => effect.scale === null).map((effect) => effect.row.metric);
  return (
    <figure className="chart compare-dumbbell" aria-labelledby={id}>
      <figcaption>
        <span id={id} className="chart-title">
          Effects with 95 % intervals
        </span>
        <span className="muted">
          ○ {duel.baseline} &nbsp; ● {duel.candidate}
        </span>
      </figcaption>
      <Group duel={duel} effects={effects} scale="points" />
      <Group duel={duel} effects={effects} scale="factor" />
      {elsewhere.length > 0 && <p className="muted">In a unit of their own, in the table below: {elsewhere.join(", ")}.</p>}
    </figure>
  );
}
