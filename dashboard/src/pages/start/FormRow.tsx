import { useId } from "react";
import type { ReactElement } from "react";

/** What an input needs so that its label, its explanation and its problem belong to it. */
export interface InputLinks {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FormRowProps {
  label: string;
  note?: string | undefined;
  problem?: string | undefined;
  children: (links: InputLinks) => ReactElement;
}

export function FormRow({ label, note, problem, children }: FormRowProps): ReactElement {
  const id = useId();
  const described = [note && `${id}-note`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div className="form-row">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": problem ? true : undefined })}
      {note && (
        <p id={`${id}-note`} className="form-note muted">
          {note}
        </p>
      )}
      {problem && (
        <p id={`${id}-problem`} className="form-note verdict-worse" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface TextRowProps {
  label: string;
  value: string;
  note?: string | undefined;
  problem?: string | undefined;
  placeholder?: string;
  /** Shows the digits on a phone. */
  numeric?: boolean;
  onChange: (value: string) => void;
}

export function TextRow({ label, value, note, problem, placeholder, numeric, onChange }: TextRowProps): ReactElement {
  return (
    <FormRow label={label} note={note} problem={problem}>
      {(links) => (
        <input
          {...links}
          type="text"
          inputMode={numeric ? "decimal" : "text"}
          autoComplete="off"
          value={value}
          placeholder={placeholder}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FormRow>
  );
}

interface SelectRowProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  note?: string | undefined;
  problem?: string | undefined;
  onChange: (value: string) => void;
}

export function SelectRow({ label, value, options, note, problem, onChange }: SelectRowProps): ReactElement {
  const known = options.some(([item]) => item === value);
  return (
    <FormRow label={label} note={note} problem={problem}>
      {(links) => (
        <select {...links} value={value} onChange={(event) => onChange(event.target.value)}>
          {!known && <option value={value}>{value}</option>}
          {options.map(([item, text]) => (
            <option key={item} value={item}>
              {text}
            </option>
          ))}
        </select>
      )}
    </FormRow>
  );
}
