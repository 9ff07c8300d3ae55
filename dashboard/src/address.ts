/** Addresses as text: of the dashboard and of the API. */

export type QueryValue = string | number | boolean | null | undefined;

/** `address("/history", {subject: "a", days: 30})`: empty values are left out. Parts of the path are given encoded. */
export function address(path: string, query: Record<string, QueryValue> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/** The address of the page of a list that a cursor stands for; null is the first page. */
export function withCursor(path: string, cursor: string | null): string {
  return cursor === null ? path : `${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
}

/** A part of an address as it reads; what is not well encoded stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const BETWEEN = "~";

/** The keys of a list in the address. */
export function listedIn(text: string): Set<string> {
  return new Set(text.split(BETWEEN).filter(Boolean).map(decoded));
}

/** The list with a key more, or without it. */
export function turned(text: string, key: string, on: boolean): string {
  const keys = listedIn(text);
  if (on) keys.add(key);
  else keys.delete(key);
  return [...keys].map((item) => item.replaceAll("%", "%25").replaceAll(BETWEEN, "%7E")).join(BETWEEN);
}
