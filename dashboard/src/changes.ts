/** What changed, read once for the whole dashboard: the tab, the headline and the landing page show the same. */
import { createContext, useContext } from "react";
import type { Changes } from "./api/answers";
import type { Resource } from "./hooks/useResource";

export const ChangesContext = createContext<Resource<Changes> | null>(null);

export function useChanges(): Resource<Changes> {
  const changes = useContext(ChangesContext);
  if (changes === null) throw new Error("useChanges is for what stands inside App");
  return changes;
}
