import { useCallback, useMemo } from "react";
import { setQuery, useQueryParam } from "../router";
import { listedIn, turned } from "../address";

/** The keys that the address lists under a name, such as the rows that are open, and a way to put one there or take it out. */
export function useListed(name: string): [ReadonlySet<string>, (key: string, on: boolean) => void] {
  const [text] = useQueryParam(name);
  const listed = useMemo(() => listedIn(text), [text]);
  const turn = useCallback(
    (key: string, on: boolean) => {
      // What the address says by now: several may turn in one go.
      const now = new URLSearchParams(window.location.search).get(name) ?? "";
      if (listedIn(now).has(key) !== on) setQuery({ [name]: turned(now, key, on) });
    },
    [name],
  );
  return [listed, turn];
}
