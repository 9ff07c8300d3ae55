/** Addresses are the state of the dashboard: what a page shows follows from its path and its query, and nothing else. */
import { createElement, useCallback, useMemo, useSyncExternalStore } from "react";
import type { AnchorHTMLAttributes, MouseEvent, ReactElement, ReactNode } from "react";
import { address } from "./address";
import type { QueryValue } from "./address";
import { matchRoute } from "./pages/routes";

export { address };
export type { QueryValue };

const listeners = new Set<() => void>();

function announce(): void {
  for (const listener of listeners) listener();
}

window.addEventListener("popstate", announce);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const here = (): string => window.location.pathname + window.location.search;

export interface Route {
  path: string;
  /** What the named parts of the pattern stand for, decoded. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The folder of the page below src/pages; null where no pattern fits. */
  page: string | null;
}

export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, here);
  return useMemo(() => {
    const url = new URL(address, window.location.origin);
    const match = matchRoute(url.pathname);
    return { path: url.pathname, query: url.searchParams, params: match?.params ?? {}, page: match?.folder ?? null };
  }, [address]);
}

/** Goes to an address of the dashboard. With `replace` the browser's Back does not return here. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === here()) return;
  const samePage = new URL(to, window.location.origin).pathname === window.location.pathname;
  if (options.replace) window.history.replaceState(null, "", to);
  else window.history.pushState(null, "", to);
  if (!samePage) window.scrollTo(0, 0);
  announce();
}

/** One value of the query. Setting it to "" or to the fallback takes it out of the address. */
export function useQueryParam(name: string, fallback = ""): [string, (value: string) => void] {
  const { query } = useRoute();
  const set = useCallback(
    (value: string) => setQuery({ [name]: value === fallback ? "" : value }),
    [name, fallback],
  );
  return [query.get(name) ?? fallback, set];
}

/** Several values at once, as one step; "" takes one out. Replaces the current entry of the history by default. */
export function setQuery(values: Record<string, QueryValue>, options: { replace?: boolean } = { replace: true }): void {
  const merged: Record<string, QueryValue> = Object.fromEntries(new URLSearchParams(window.location.search));
  navigate(address(window.location.pathname, { ...merged, ...values }), options);
}

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  to: string;
  children: ReactNode;
}

/** A real link: opening it in a new tab works as everywhere. */
export function Link({ to, onClick, ...rest }: LinkProps): ReactElement {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain || rest.target === "_blank") return;
    event.preventDefault();
    navigate(to);
  };
  return createElement("a", { ...rest, href: to, onClick: follow });
}
