import type { ReactElement } from "react";
import type { ProfiledSpan, SpanTree } from "../../api/answers";
import { Fold, Table, Tabs } from "../../components";
import type { Column } from "../../components";
import { count, duration } from "../../format";
import { useQueryParam } from "../../router";
import { PHASES, bars, lines, phaseWords } from "./spans";
import type { View } from "./spans";

const LINE_PX = 22;

function told(span: ProfiledSpan): string {
  const parts = [
    `${span.name || span.kind}: ${phaseWords(span.phase)}`,
    `${duration(span.end_s - span.start_s)} from ${duration(span.start_s)} on`,
    `self ${duration(span.self_s)}`,
    `critical path ${duration(span.critical_s)}`,
  ];
  return parts.join(", ");
}

function Legend({ tree }: { tree: SpanTree }): ReactElement {
  const seen = new Set<string>(tree.spans.map((span) => span.phase));
  return (
    <ul className="span-legend" aria-label="Colours">
      {PHASES.filter(([phase]) => seen.has(phase)).map(([phase, words]) => (
        <li key={phase}>
          <span className={`span-mark phase-${phase}`} /> {words}
        </li>
      ))}
    </ul>
  );
}

function Drawn({ tree, view }: { tree: SpanTree; view: View }): ReactElement {
  const drawn = bars(tree, view);
  const description = `${view === "flame" ? "Flame view" : "Waterfall"} of ${count(tree.spans.length)} spans in ${duration(tree.wall_s)}`;
  return (
    <div className={`spans spans-${view}`} role="img" aria-label={description} style={{ height: lines(drawn) * LINE_PX }}>
      {drawn.map(({ span, left, width, line }) => (
        <div
          key={span.index}
          className={`span-bar phase-${span.phase}${span.critical_s > 0 ? " critical" : ""}${span.failed ? " failed" : ""}`}
          style={{ left: `${left}%`, width: `${width}%`, top: line * LINE_PX }}
          title={told(span)}
        >
          <span className="span-name">
            {span.name || span.kind} {duration(span.end_s - span.start_s)}
          </span>
        </div>
      ))}
    </div>
  );
}

const COLUMNS: readonly Column<ProfiledSpan>[] = [
  {
    key: "span",
    label: "Span",
    render: (span) => (
      <span className="span-indent" style={{ paddingLeft: `${span.depth * 1.2}em` }}>
        {span.name || span.kind}
        {span.failed && <span className="badge">failed</span>}
      </span>
    ),
  },
  { key: "phase", label: "Phase", value: (span) => span.phase, render: (span) => phaseWords(span.phase) },
  { key: "at", label: "At", align: "right", value: (span) => span.start_s, render: (span) => duration(span.start_s) },
  { key: "took", label: "Took", align: "right", first: "descending", value: (span) => span.end_s - span.start_s, render: (span) => duration(span.end_s - span.start_s) },
  { key: "self", label: "Self", align: "right", first: "descending", value: (span) => span.self_s, render: (span) => duration(span.self_s) },
  { key: "critical", label: "Critical path", align: "right", first: "descending", value: (span) => span.critical_s, render: (span) => duration(span.critical_s) },
  {
    key: "tokens",
    label: "Tokens in, out",
    align: "right",
    render: (span) => (span.input_tokens === null && span.output_tokens === null ? "" : `${count(span.input_tokens)}, ${count(span.output_tokens)}`),
  },
];

/** One execution: its spans in time or by depth, and as a tree in a table. */
export function Execution({ tree }: { tree: SpanTree }): ReactElement {
  const [chosen, choose] = useQueryParam("view", "waterfall");
  const view: View = chosen === "flame" ? "flame" : "waterfall";
  const heading = `Epoch ${tree.iteration + 1}`;
  return (
    <section aria-label={heading}>
      <h2>
        {heading} <span className="muted">{duration(tree.wall_s)}</span>
      </h2>
      <Tabs
        label="View of the spans"
        tabs={[
          ["waterfall", "Waterfall"],
          ["flame", "Flame"],
        ]}
        value={view}
        onChange={choose}
      />
      <Drawn tree={tree} view={view} />
      <Legend tree={tree} />
      <Fold name="spans" summary={`Span tree (${count(tree.spans.length)} spans)`}>
        <Table caption={`Spans of ${heading}`} columns={COLUMNS} rows={tree.spans} rowKey={(span) => String(span.index)} sortParam="spans" />
      </Fold>
      <p className="muted">
        {duration(tree.outside_s)} in no span. Framed bars are on the critical path.
        {tree.traced && " Made in a pass with tracing on: times include what tracing takes."}
      </p>
    </section>
  );
}
