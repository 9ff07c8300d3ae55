import { useEffect, useId, useRef, useState } from "react";
import type { ReactElement } from "react";

interface SearchFieldProps {
  label: string;
  value: string;
  placeholder?: string;
  onChange: (value: string) => void;
}

const WAIT_MS = 250;

/** A text to filter by. It takes effect when the typing pauses, so that not every letter asks the server. */
export function SearchField({ label, value, placeholder, onChange }: SearchFieldProps): ReactElement {
  const [text, setText] = useState(value);
  const id = useId();
  const told = useRef(value);
  const tell = useRef(onChange);
  tell.current = onChange;

  useEffect(() => {
    // The browser's Back changes the address, and the field follows.
    if (value !== told.current) {
      told.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = setTimeout(() => {
      told.current = text;
      tell.current(text);
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);

  return (
    <span className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="search" value={text} placeholder={placeholder} onChange={(event) => setText(event.target.value)} />
    </span>
  );
}
