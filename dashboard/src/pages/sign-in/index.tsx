import { useEffect, useState } from "react";
import type { ReactElement } from "react";
import { followLink } from "../../api/session";
import { ErrorBox, Loading } from "../../components";
import { Link, navigate } from "../../router";

export const title = "Sign in";

/** The page of the link that `dyno serve` prints. Its token stands behind the #, which no server and no log sees. */
export default function SignInPage(): ReactElement {
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    const token = window.location.hash.slice(1);
    // Out of the address bar and of the browser's history before anything else.
    window.history.replaceState(null, "", "/sign-in");
    if (token) followLink(token).then(() => navigate("/", { replace: true }), setFailure);
    else navigate("/key", { replace: true });
  }, []);
  return (
    <>
      <h1>Sign in</h1>
      {failure === null ? <Loading /> : <ErrorBox error={failure} />}
      {failure !== null && (
        <p>
          <Link to="/">To the dashboard</Link>
        </p>
      )}
    </>
  );
}
