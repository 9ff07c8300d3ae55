import { useCallback, useEffect, useRef, useState } from "react";
import { withCursor } from "../address";
import { get } from "../api/client";
import { useKeyGeneration } from "../api/key";
import type { Page } from "../api/answers";

export interface Pages<T> {
  items: T[];
  /** Whether the server has more than `items`. */
  more: boolean;
  loading: boolean;
  error: unknown;
  readMore: () => void;
}

interface State<T> {
  path: string | null;
  items: T[];
  next: string | null;
  loading: boolean;
  error: unknown;
}

/** Reads a list page after page until `most` items are here; `readMore` goes on after that. A null path reads nothing. */
export function usePages<T>(path: string | null, most: number): Pages<T> {
  const [state, setState] = useState<State<T>>({ path, items: [], next: null, loading: path !== null, error: undefined });
  const [wanted, setWanted] = useState({ path, most });
  const key = useKeyGeneration();
  const limit = wanted.path === path ? wanted.most : most;
  const held = useRef<{ path: string | null; key: number; items: T[]; next: string | null } | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    const read = async (address: string): Promise<void> => {
      const before = held.current?.path === address && held.current.key === key ? held.current : null;
      let items: T[] = before?.items ?? [];
      let next: string | null = before?.next ?? null;
      if (before && next === null) return;
      do {
        const page: Page<T> = await get<Page<T>>(withCursor(address, next), stop.signal);
        items = [...items, ...page.items];
        next = page.next;
        if (stop.signal.aborted) return;
        held.current = { path: address, key, items, next };
        setState({ path: address, items, next, loading: next !== null && items.length < limit, error: undefined });
      } while (next !== null && items.length < limit);
    };
    if (path !== null) {
      read(path).catch((error: unknown) => {
        if (!stop.signal.aborted) setState((old) => ({ ...old, path, loading: false, error }));
      });
    }
    return () => stop.abort();
  }, [path, limit, key]);

  const readMore = useCallback(() => setWanted({ path, most: limit + most }), [path, limit, most]);
  const current = state.path === path;
  return {
    items: current ? state.items : [],
    more: current && state.next !== null,
    loading: current ? state.loading : path !== null,
    error: current ? state.error : undefined,
    readMore,
  };
}
