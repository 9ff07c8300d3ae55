import { useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { forget } from "../api/client";
import { writeKey } from "../api/key";
import { CommandHint } from "./CommandHint";

/** Takes a key for this tab. What was refused is asked again with it. */
export function SignIn({ reason }: { reason?: string }): ReactElement {
  const [key, setKey] = useState("");
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    forget();
    writeKey(key.trim() || null);
    setKey("");
  };
  return (
    <form className="panel sign-in" onSubmit={submit}>
      {reason && <p role="alert">{reason}</p>}
      <label htmlFor={id}>Key</label>
      <div className="row">
        <input
          id={id}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={key}
          placeholder="dyno_…"
          onChange={(event) => setKey(event.target.value)}
        />
        <button type="submit" disabled={!key.trim()}>
          Use this key
        </button>
      </div>
      <p className="muted">It is kept until this tab is closed. Who may administer makes one with:</p>
      <CommandHint command="dyno keys create NAME --scope run" />
    </form>
  );
}
