/** Numbers as people read them. Unknown is an em dash, never a zero. */

export const UNKNOWN = "—";
type Maybe = number | null | undefined;

const known = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

function significant(value: number, digits: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: digits, useGrouping: true });
}

/** Seconds as 820 µs, 12.3 ms, 4.56 s, 3 min 20 s or 2 h 5 min. */
export function duration(seconds: Maybe): string {
  if (!known(seconds)) return UNKNOWN;
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-6) return `${significant(seconds * 1e9, 3)} ns`;
  if (size < 1e-3) return `${significant(seconds * 1e6, 3)} µs`;
  if (size < 1) return `${significant(seconds * 1e3, 3)} ms`;
  if (size < 60) return `${significant(seconds, 3)} s`;
  const whole = Math.round(size);
  const sign = seconds < 0 ? "−" : "";
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${sign}${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function dollars(size: number): string {
  if (size >= 1000) return `$${size.toLocaleString("en", { maximumFractionDigits: 0 })}`;
  if (size >= 1 || size === 0) return `$${size.toFixed(2)}`;
  const text = size.toLocaleString("en", { maximumSignificantDigits: 3 });
  // Cents are two digits: $0.20.
  return `$${/\.\d$/.test(text) ? `${text}0` : text}`;
}

const CENT = 0.01;
const PER_THOUSAND = " per 1,000";
const PER_MILLION = " per 1,000,000";

/** What one task costs in US dollars: $0.0132, $1.20, $1,240; below a cent per 1,000 tasks or a million of them. */
export function money(usd: Maybe): string {
  if (!known(usd)) return UNKNOWN;
  const sign = usd < 0 ? "−" : "";
  const size = Math.abs(usd);
  if (size === 0 || size >= CENT) return `${sign}${dollars(size)}`;
  return 1000 * size >= CENT ? `${sign}${dollars(1000 * size)}${PER_THOUSAND}` : `${sign}${dollars(1_000_000 * size)}${PER_MILLION}`;
}

/** Two costs of a task beside each other; "per 1,000" is said once where it is that of both. */
export function moneyPair(before: Maybe, after: Maybe): [string, string] {
  const [first, second] = [money(before), money(after)];
  const per = [PER_THOUSAND, PER_MILLION].find((words) => first.endsWith(words) && second.endsWith(words)) ?? "";
  return [first.slice(0, first.length - per.length), second];
}

/** A cost of a task with the ends of its interval, all in the unit of the cost: "$0.27 [$0.20, $0.31] per 1,000". */
export function moneyRange(usd: Maybe, range: readonly [Maybe, Maybe] | null | undefined): string {
  const text = money(usd);
  if (!known(usd) || !range || !known(range[0]) || !known(range[1])) return text;
  const per = [PER_THOUSAND, PER_MILLION].find((words) => text.endsWith(words)) ?? "";
  const factor = per === PER_MILLION ? 1_000_000 : per === PER_THOUSAND ? 1000 : 1;
  return `${text.slice(0, text.length - per.length)} [${dollars(factor * range[0])}, ${dollars(factor * range[1])}]${per}`;
}

/** A column of costs, all of so many tasks, so that they can be read against each other. */
export interface MoneyColumn {
  /** "per task", "per 1,000 tasks": for the heading. */
  per: string;
  text: (usd: Maybe) => string;
  /** With the ends of an interval: "$0.27 [$0.20, $0.31]". */
  range: (usd: Maybe, interval: readonly [Maybe, Maybe] | null | undefined) => string;
}

/**
 * The fewest tasks of which the least of these costs is a cent at least; a million only where that of a thousand is below
 * a cent for all of them, so that one very cheap agent does not make thousands of dollars of everybody else's costs.
 */
export function moneyColumn(costs: readonly Maybe[], task = "task"): MoneyColumn {
  const sizes = costs.filter(known).map(Math.abs).filter((cost) => cost > 0);
  const factor = Math.min(...sizes) >= CENT ? 1 : 1000 * Math.max(...sizes) >= CENT ? 1000 : 1_000_000;
  const text = (usd: Maybe): string => (known(usd) ? `${usd < 0 ? "−" : ""}${dollars(factor * Math.abs(usd))}` : UNKNOWN);
  const range = (usd: Maybe, interval: readonly [Maybe, Maybe] | null | undefined): string =>
    known(usd) && interval && known(interval[0]) && known(interval[1]) ? `${text(usd)} [${text(interval[0])}, ${text(interval[1])}]` : text(usd);
  return { per: factor === 1 ? `per ${task}` : `per ${count(factor)} ${task === "success" ? "successes" : `${task}s`}`, text, range };
}

/** A sum that was spent, in US dollars; below a cent there is nothing to tell about it. */
export function moneySum(usd: Maybe): string {
  if (!known(usd)) return UNKNOWN;
  return usd > 0 && usd < CENT ? "< $0.01" : money(usd);
}

/** 0.123 as 12.3 %. */
export function percent(share: Maybe, digits = 1): string {
  return known(share) ? `${(100 * share).toFixed(digits).replace("-", "−")} %` : UNKNOWN;
}

/** A score of 0..1 as points of a hundred: 0.873 is 87.3. */
export function points(score: Maybe, digits = 1): string {
  return known(score) ? (100 * score).toFixed(digits).replace("-", "−") : UNKNOWN;
}

export function signed(text: string): string {
  return text === UNKNOWN || text.startsWith("−") || /^0(\.0+)?( |$)/.test(text) ? text : `+${text}`;
}

export function count(value: Maybe): string {
  return known(value) ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : UNKNOWN;
}

export function number(value: Maybe, digits = 3): string {
  return known(value) ? significant(value, digits).replace("-", "−") : UNKNOWN;
}

/** Bytes as 1.2 MiB. */
export function bytes(value: Maybe): string {
  if (!known(value)) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${significant(size, 3)} ${units[unit]}`;
}

/** A value in the unit that the API names: s, usd, bytes, score, tokens… */
export function quantity(value: Maybe, unit: string): string {
  if (!known(value)) return UNKNOWN;
  switch (unit.toLowerCase()) {
    case "s":
    case "seconds":
      return duration(value);
    case "usd":
    case "$":
      return money(value);
    case "b":
    case "bytes":
      return bytes(value);
    case "ratio":
    case "score":
    case "points":
      return points(value);
    case "":
      return number(value);
    default:
      return `${number(value)} ${unit}`;
  }
}

const two = (value: number): string => String(value).padStart(2, "0");

/** Local date and time, 2026-05-04 13:37. */
export function dateTime(ms: Maybe): string {
  if (!known(ms)) return UNKNOWN;
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function date(ms: Maybe): string {
  return dateTime(ms).slice(0, 10);
}

/** How long ago: "3 min ago". */
export function age(ms: Maybe, nowMs: number = Date.now()): string {
  if (!known(ms)) return UNKNOWN;
  const seconds = Math.max(0, (nowMs - ms) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Whatever an agent was asked or answered, as text. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
