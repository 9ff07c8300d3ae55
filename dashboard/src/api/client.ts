/** Asks the server. Reading goes on trying while the server is down; writing fails at once and says so. */
import { asSentence } from "../shared/words";
import { setTrouble } from "./connection";
import { readKey } from "./key";
import type { Problem } from "./answers";

/** What the server refused, as it said it; `status` 0 where it did not answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ApiError";
    this.status = problem.status;
    this.problem = problem;
  }
}

const DOWN = new Set([0, 502, 503, 504]);
const LONGEST_WAIT_MS = 10_000;

const NO_ANSWER: Problem = {
  type: "about:blank",
  title: "The server does not answer",
  status: 0,
  detail: "The server does not answer.",
  remedy: "Is `dyno serve` running?",
};

interface Remembered {
  etag: string;
  data: unknown;
}

const remembered = new Map<string, Remembered>();
const MOST_REMEMBERED = 100;

function remember(path: string, etag: string, data: unknown): void {
  remembered.delete(path);
  remembered.set(path, { etag, data });
  const oldest = remembered.keys().next();
  if (remembered.size > MOST_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
}

/** Answers that were read with another key are not shown to this one. */
export function forget(): void {
  remembered.clear();
}

function headers(extra: Record<string, string> = {}): Record<string, string> {
  const key = readKey();
  // The server takes a cookie for a changing request only together with this, which no page of another site can send.
  return { Accept: "application/json", "X-Dyno-Request": "dashboard", ...(key ? { Authorization: `Bearer ${key}` } : {}), ...extra };
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = {
    type: "about:blank",
    title: response.statusText || "Refused",
    status: response.status,
    detail: `The server answered ${response.status}.`,
  };
  try {
    return { ...fallback, ...((await response.json()) as Partial<Problem>), status: response.status };
  } catch {
    return fallback;
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException("no longer wanted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** One request; throws an `ApiError` unless the answer is a success or "not modified". */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: headers(init.headers as Record<string, string>), cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(NO_ANSWER);
  }
  if (!response.ok && response.status !== 304) {
    const wait = Number(response.headers.get("Retry-After"));
    throw new ApiError({ ...(await problemOf(response)), retry_after_s: wait > 0 ? wait : undefined });
  }
  return response;
}

/** A server that answers 503 says what it lacks, which may be its store. */
function troubleOf({ status, message }: ApiError): string {
  return status === 503 ? asSentence(message) : NO_ANSWER.detail;
}

/** Reads until the server answers, however long it is down. 429 is waited for as well. */
export async function sendPatiently(path: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await send(path, init);
      setTrouble("");
      return response;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const down = DOWN.has(error.status);
      setTrouble(down ? troubleOf(error) : "");
      if (!down && error.status !== 429) throw error;
      const asked = (error.problem.retry_after_s ?? 0) * 1000;
      await pause(Math.min(Math.max(asked, 1000 * 2 ** Math.min(attempt, 4)), LONGEST_WAIT_MS), init.signal ?? undefined);
    }
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const known = remembered.get(path);
  const extra: Record<string, string> = known ? { "If-None-Match": known.etag } : {};
  const response = await sendPatiently(path, { signal, headers: extra });
  if (response.status === 304 && known) return known.data as T;
  const data = (await response.json()) as T;
  const etag = response.headers.get("ETag");
  if (etag) remember(path, etag, data);
  return data;
}

async function change<T>(method: string, path: string, body: unknown, extra: Record<string, string>): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await send(path, { method, headers: { ...type, ...extra }, ...sent });
  const text = await response.text();
  return (text ? JSON.parse(text) : null) as T;
}

export function post<T>(path: string, body?: unknown, extra: Record<string, string> = {}): Promise<T> {
  return change<T>("POST", path, body, extra);
}

export function put<T>(path: string, body?: unknown): Promise<T> {
  return change<T>("PUT", path, body, {});
}

export function del<T>(path: string): Promise<T> {
  return change<T>("DELETE", path, undefined, {});
}

/** Saves an answer as a file; a plain link cannot carry the key. */
export async function download(path: string, name: string): Promise<void> {
  const response = await send(path, { headers: { Accept: "*/*" } });
  const url = URL.createObjectURL(await response.blob());
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
