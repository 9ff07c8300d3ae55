/** The address of two answers side by side, and the list of cases that j and k walk through. */
import { address, decoded } from "../address";
import type { CaseKey } from "../api/answers";

/** Cases that an address carries at most; addresses of a few thousand characters pass every proxy. */
const MOST = 60;

export interface Place {
  first_run: string;
  second_run: string;
  benchmark: string;
  case_id: string;
  first_agent: string;
  second_agent: string;
  cases: CaseKey[];
}

function written(key: CaseKey): string {
  return `${encodeURIComponent(key.benchmark)}/${encodeURIComponent(key.case_id)}`;
}

function casesFrom(text: string, benchmark: string): CaseKey[] {
  return text
    .split(",")
    .filter(Boolean)
    .map((item) => {
      const [name = "", id] = item.split("/");
      // An item without a benchmark is a case of the one in the address.
      return id === undefined
        ? { benchmark, case_id: decoded(name) }
        : { benchmark: decoded(name), case_id: decoded(id) };
    });
}

export function placeFrom(query: URLSearchParams): Place {
  const read = (name: string): string => query.get(name) ?? "";
  const benchmark = read("benchmark");
  return {
    first_run: read("first_run"),
    second_run: read("second_run"),
    benchmark,
    case_id: read("case_id") || read("case"),
    first_agent: read("first_agent"),
    second_agent: read("second_agent"),
    cases: casesFrom(read("cases"), benchmark),
  };
}

/** ``/divergence?…`` of one case; ``cases`` are those of the same two runs, and those around this one are kept. */
export function divergenceAddress(place: Place): string {
  const { cases, ...rest } = place;
  const at = Math.max(0, indexIn(place));
  const start = Math.max(0, Math.min(at - MOST / 2, cases.length - MOST));
  const list = cases.slice(start, start + MOST).map(written);
  return address("/divergence", { ...rest, cases: list.length > 1 ? list.join(",") : "" });
}

export function indexIn({ cases, benchmark, case_id }: Place): number {
  return cases.findIndex((key) => key.case_id === case_id && key.benchmark === benchmark);
}

/** The same place at another case of the list; null past its ends. */
export function neighbour(place: Place, step: 1 | -1): string | null {
  const at = indexIn(place);
  const key = at < 0 ? undefined : place.cases[at + step];
  return key ? divergenceAddress({ ...place, ...key }) : null;
}
