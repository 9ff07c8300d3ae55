import { useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { ApiError, forget } from "../api/client";
import { writeKey } from "../api/key";
import { rememberKey } from "../api/session";
import { CommandHint } from "./CommandHint";

/** Takes a key, for this tab or for this browser. What was refused is asked again with it. */
export function SignIn({ reason }: { reason?: string }): ReactElement {
  const [key, setKey] = useState("");
  const id = useId();
  const [remember, setRemember] = useState(false);
  const [refusal, setRefusal] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const given = key.trim();
    setRefusal("");
    if (remember && given) {
      const told = (error: unknown): void => setRefusal(error instanceof ApiError ? error.message : String(error));
      rememberKey(given).then(() => setKey(""), told);
      return;
    }
    forget();
    writeKey(given || null);
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
      <label className="row">
        <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
        <span>Stay signed in with this browser for 30 days</span>
      </label>
      {refusal && (
        <p className="verdict-worse" role="alert">
          {refusal}
        </p>
      )}
      <p className="muted">
        Otherwise it is kept until this tab is closed. <code>dyno serve</code> prints a link that signs in once; who may
        administer makes a key with:
      </p>
      <CommandHint command="dyno keys create NAME --scope run" />
    </form>
  );
}
