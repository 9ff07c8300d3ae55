import type { Session } from "../api/answers";
import { useResource } from "../hooks/useResource";

/** Whether the key of this tab may run and cancel. */
export function useMayRun(): boolean | undefined {
  const session = useResource<Session>("/api/session");
  if (!session.data) return session.error === undefined ? undefined : false;
  return session.data.scope !== "read";
}
