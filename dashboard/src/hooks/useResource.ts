import { useCallback, useEffect, useState } from "react";
import { ApiError, get } from "../api/client";
import { useKeyGeneration } from "../api/key";

export interface Resource<T> {
  /** The newest answer; it stays while the next one is asked for, and goes when the address or the key changes. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  refresh: () => void;
}

interface State<T> {
  path: string | null;
  key: number;
  data: T | undefined;
  error: unknown;
  loading: boolean;
}

/** Whether the key is not taken (any more): what it was given before is not shown, and nothing is asked until there is another. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Reads an address of the API; null reads nothing. With `everyMs` it is asked again while the tab is visible. */
export function useResource<T>(path: string | null, options: { everyMs?: number } = {}): Resource<T> {
  const key = useKeyGeneration();
  const [state, setState] = useState<State<T>>({ path, key, data: undefined, error: undefined, loading: path !== null });
  const [asked, setAsked] = useState(0);

  useEffect(() => {
    if (path === null) {
      setState({ path, key, data: undefined, error: undefined, loading: false });
      return;
    }
    const stop = new AbortController();
    const kept = (old: State<T>): T | undefined => (old.path === path && old.key === key ? old.data : undefined);
    setState((old) => ({ path, key, data: kept(old), error: undefined, loading: true }));
    get<T>(path, stop.signal).then(
      (data) => !stop.signal.aborted && setState({ path, key, data, error: undefined, loading: false }),
      (error: unknown) =>
        !stop.signal.aborted && setState((old) => ({ path, key, data: isRefused(error) ? undefined : kept(old), error, loading: false })),
    );
    return () => stop.abort();
  }, [path, asked, key]);

  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const { everyMs } = options;
  const refused = state.path === path && state.key === key && isRefused(state.error);
  useEffect(() => {
    if (!everyMs || path === null || refused) return;
    const timer = setInterval(() => document.visibilityState === "visible" && refresh(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, path, refresh, refused]);

  const current = state.path === path && state.key === key;
  return {
    data: current ? state.data : undefined,
    error: current ? state.error : undefined,
    loading: current ? state.loading : path !== null,
    refresh,
  };
}
