import type { ReactElement } from "react";
import { forget } from "../../api/client";
import { readKey, useKeyGeneration, writeKey } from "../../api/key";
import type { Session } from "../../api/answers";
import { Show, SignIn } from "../../components";
import { useResource } from "../../hooks/useResource";
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
  const leave = (): void => {
    forget();
    writeKey(null);
  };
  return (
    <>
      <h1>Key</h1>
      <Show of={session}>{(data) => <Who session={data} />}</Show>
      {readKey() !== null && (
        <p>
          <button type="button" onClick={leave}>
            Sign out
          </button>
        </p>
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
