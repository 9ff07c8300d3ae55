import { useEffect, useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { ApiError, del, post } from "../../api/client";
import { useKeyGeneration } from "../../api/key";
import type { Alert } from "../../api/answers";
import { ErrorBox } from "../../components";
import { dateTime } from "../../format";
import { asSentence } from "../../shared/words";

const NEEDS_KEY = "Acknowledging needs a key of scope run.";

/** A missing key is said in words of this page; what is wrong with a given one is the server's to say. */
function refusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return error;
  const { detail } = error.problem;
  return new ApiError({
    ...error.problem,
    detail: /scope/.test(detail) ? NEEDS_KEY : `${NEEDS_KEY} ${asSentence(detail)}`,
  });
}

interface AcknowledgeProps {
  alert: Alert;
  /** Called with the alert as it now is. */
  onChange: (alert: Alert) => void;
}

/** Takes a note and marks the alert as seen, or takes the mark back. A missing key is asked for on the spot. */
export function Acknowledge({ alert, onChange }: AcknowledgeProps): ReactElement {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const key = useKeyGeneration();
  useEffect(() => setError(null), [key]);
  const path = `/api/alerts/${encodeURIComponent(alert.alert_id)}/acknowledge`;
  const send = (request: Promise<Alert | null>): void => {
    setBusy(true);
    setError(null);
    request
      .then(
        (changed) => {
          setNote("");
          onChange(changed ?? { ...alert, acknowledged_by: "", acknowledged_at: null, note: "" });
        },
        (failure: unknown) => setError(refusal(failure)),
      )
      .finally(() => setBusy(false));
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send(post<Alert>(path, { note: note.trim() }));
  };
  return (
    <div className="alerts-acknowledge">
      {alert.acknowledged_by || alert.acknowledged_at !== null ? (
        <p className="row">
          <span>
            ✓ Acknowledged by {alert.acknowledged_by || "somebody"} on {dateTime(alert.acknowledged_at)}
            {alert.note && <>: “{alert.note}”</>}
          </span>
          <button type="button" disabled={busy} onClick={() => send(del<Alert | null>(path))}>
            Undo
          </button>
        </p>
      ) : (
        <form className="row" onSubmit={submit}>
          <label htmlFor={id} className="muted">
            Note
          </label>
          <input
            id={id}
            value={note}
            maxLength={500}
            placeholder="why it is known, or who looks at it"
            onChange={(event) => setNote(event.target.value)}
          />
          <button type="submit" disabled={busy}>
            Acknowledge
            <span className="visually-hidden">
              {" "}
              {alert.regression.metric} of {alert.agent}
            </span>
          </button>
        </form>
      )}
      <ErrorBox error={error} />
    </div>
  );
}
