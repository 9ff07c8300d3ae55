import { useEffect, useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import { ApiError, del, post } from "../../api/client";
import { useKeyGeneration } from "../../api/key";
import type { Alert } from "../../api/answers";
import { ErrorBox } from "../../components";
import { dateTime } from "../../format";
import { asSentence } from "../../shared/words";
import { isKnown } from "./groups";
import type { AlertGroup } from "./groups";

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
  group: AlertGroup;
  /** Called with each alert as it now is. */
  onChange: (alert: Alert) => void;
}

const path = (alert: Alert): string => `/api/alerts/${encodeURIComponent(alert.alert_id)}/acknowledge`;

/** Takes a note and marks all alerts of a group as seen, or takes the marks back. A missing key is asked for on the spot. */
export function Acknowledge({ group, onChange }: AcknowledgeProps): ReactElement {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const key = useKeyGeneration();
  useEffect(() => setError(null), [key]);
  const open = group.alerts.filter((alert) => !isKnown(alert));
  const known = group.alerts.find(isKnown);
  // One after the other: what was marked before something failed is shown as marked.
  const send = async (alerts: readonly Alert[], request: (alert: Alert) => Promise<Alert | null>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      for (const alert of alerts) {
        onChange((await request(alert)) ?? { ...alert, acknowledged_by: "", acknowledged_at: null, note: "" });
      }
      setNote("");
    } catch (failure) {
      setError(refusal(failure));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void send(open, (alert) => post<Alert>(path(alert), { note: note.trim() }));
  };
  return (
    <div className="alerts-acknowledge">
      {known && open.length === 0 ? (
        <p className="row">
          <span>
            ✓ Acknowledged by {known.acknowledged_by || "somebody"} on {dateTime(known.acknowledged_at)}
            {known.note && <>: “{known.note}”</>}
          </span>
          <button type="button" disabled={busy} onClick={() => void send(group.alerts, (alert) => del<Alert | null>(path(alert)))}>
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
              {group.agent} {group.version} in {group.suite}
            </span>
          </button>
        </form>
      )}
      <ErrorBox error={error} />
    </div>
  );
}
