import type { ReactElement } from "react";
import { ApiError } from "../api/client";
import { asSentence } from "../shared/words";
import { Prose } from "./Prose";
import { SignIn } from "./SignIn";

/** What went wrong, what to do, and a way to try again. A refused key shows the box for another one. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }): ReactElement | null {
  if (error === null || error === undefined) return null;
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
    return <SignIn reason={asSentence(error.message)} />;
  }
  const problem = error instanceof ApiError ? error.problem : null;
  const title = problem?.title ?? "Something went wrong";
  const message = error instanceof Error ? error.message : String(error);
  // A field's error that is the whole problem has been said.
  const errors = (problem?.errors ?? []).filter((item) => item.message !== message);
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <div className="error-box" role="alert">
      <strong>{title}</strong>
      {message !== title && <p>{message}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map((item) => (
            <li key={`${item.field} ${item.message}`}>
              <code>{item.field}</code>: {item.message}
            </li>
          ))}
        </ul>
      )}
      {problem?.near && problem.near.length > 0 && !problem.remedy?.startsWith("Did you mean") && <p>Did you mean {problem.near.join(", ")}?</p>}
      {problem?.remedy && (
        <p>
          <Prose text={problem.remedy} />
        </p>
      )}
      {retry && !gone && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
