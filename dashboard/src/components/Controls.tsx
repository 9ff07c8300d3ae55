import { useId } from "react";
import type { KeyboardEvent, ReactElement, ReactNode } from "react";

export type Option = string | readonly [value: string, label: string];

interface SelectProps {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}

export function Select({ label, value, options, onChange }: SelectProps): ReactElement {
  const id = useId();
  const pairs = options.map((option) => (typeof option === "string" ? ([option, option] as const) : option));
  // A value that came with the address and is not on the list stays visible.
  const known = pairs.some(([item]) => item === value);
  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {!known && <option value={value}>{value || "—"}</option>}
        {pairs.map(([item, text]) => (
          <option key={item} value={item}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}

interface TabsProps {
  label: string;
  tabs: readonly (readonly [value: string, label: ReactNode])[];
  value: string;
  onChange: (value: string) => void;
}

/** A row of choices of which one is taken; the arrows move between them. What they show stands below, by the caller. */
export function Tabs({ label, tabs, value, onChange }: TabsProps): ReactElement {
  const move = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(([item]) => item === value);
    const next = (at + step + tabs.length) % tabs.length;
    const target = tabs[next];
    if (!target) return;
    onChange(target[0]);
    event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]")[next]?.focus();
  };
  return (
    <div className="tabs" role="radiogroup" aria-label={label} onKeyDown={move}>
      {tabs.map(([item, text]) => (
        <button
          key={item}
          type="button"
          role="radio"
          aria-checked={item === value}
          tabIndex={item === value ? 0 : -1}
          onClick={() => onChange(item)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

interface PagerProps {
  /** The cursor of the page that is shown, "" for the first. */
  cursor: string;
  next: string | null | undefined;
  onMove: (cursor: string) => void;
}

/** Forward through a list with cursors; back is the browser's Back, and a way to the start. */
export function Pager({ cursor, next, onMove }: PagerProps): ReactElement | null {
  if (!cursor && !next) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <button type="button" disabled={!cursor} onClick={() => onMove("")}>
        Newest
      </button>
      <button type="button" disabled={!next} onClick={() => next && onMove(next)}>
        Older
      </button>
    </nav>
  );
}
