import { useMemo } from "react";
import type { SampleRow } from "../../api/answers";
import { usePages } from "../../shared/usePages";
import type { Pages } from "../../shared/usePages";
import { placeOf, samplesPath } from "./samples";
import type { SampleFilter } from "./samples";

const MOST = 500;

/** Samples of a run, case by case. */
export function useSamples(runId: string, filter: SampleFilter): Pages<SampleRow> {
  const pages = usePages<SampleRow>(samplesPath(runId, filter), MOST);
  const items = useMemo(() => pages.items.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)), [pages.items]);
  return { ...pages, items };
}
