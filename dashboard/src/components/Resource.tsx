import type { ReactElement, ReactNode } from "react";
import type { Resource } from "../hooks/useResource";
import { ErrorBox } from "./ErrorBox";
import { Loading } from "./Loading";

/** Shows what a resource holds; until then that it loads, or why it cannot. */
export function Show<T>({ of, children }: { of: Resource<T>; children: (data: T) => ReactNode }): ReactElement {
  return (
    <>
      {of.error !== undefined && <ErrorBox error={of.error} retry={of.refresh} />}
      {of.data === undefined ? of.loading && <Loading /> : children(of.data)}
    </>
  );
}
