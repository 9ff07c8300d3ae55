import type { ReactElement } from "react";
import { useKeyGeneration } from "../../api/key";
import { signOut } from "../../api/session";
import type { Session } from "../../api/answers";
import { Show, SignIn } from "../../components";
import { useResource } from "../../hooks/useResource";
import { useQueryParam } from "../../router";
import { Audit } from "./Audit";
import { Keys } from "./Keys";

export const title = "Key";

const MAY: Record<string, string> = {
  read: "read everything",
  run: "read everything, start and cancel runs, acknowledge alerts",
  admin: "do everything: runs, baselines, imports and keys",
};

function Who({ session }: { session: Session }): ReactElement {
  return (
    <div className="panel">
      <p>
        {session.keyless ? "No key is in use: this machine may read." : `Signed in as ${session.who}. This key may ${MAY[session.scope] ?? session.scope}.`}
      </p>
      <p className="muted">
        agentdyno {session.version}
        {session.store === null ? "" : `, store ${session.store}`}, workspace {session.workspace}
      </p>
    </div>
  );
}

export default function KeyPage(): ReactElement {
  const session = useResource<Session>("/api/session");
  useKeyGeneration();
  const [then] = useQueryParam("then");
  const leave = (): void => void signOut().catch(() => undefined);
  return (
    <>
      <h1>Key</h1>
      <Show of={session}>{(data) => <Who session={data} />}</Show>
      {session.data && (
        <p className="row">
          {/* A page of the server, and not of the dashboard. */}
          <a href="/docs">Documentation of the API</a>
          {!session.data.keyless && (
            <button type="button" onClick={leave}>
              Sign out
            </button>
          )}
        </p>
      )}
      {then === "/docs" && (
        <p className="muted">The documentation opens for who stays signed in with this browser: tick the box below.</p>
      )}
      {session.error === undefined && <SignIn />}
      {session.data?.scope === "admin" && (
        <>
          <Keys />
          <Audit />
        </>
      )}
    </>
  );
}
