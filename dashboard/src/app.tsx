import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { ReactElement } from "react";
import { sendPatiently } from "./api/client";
import { useTrouble } from "./api/connection";
import type { Changes, Session } from "./api/answers";
import { ChangesContext, useChanges } from "./changes";
import { Boundary } from "./components/Boundary";
import { Loading } from "./components/Loading";
import { Sign } from "./components/VerdictBadge";
import { Finder } from "./finding/Finder";
import { useResource } from "./hooks/useResource";
import { useRowKeys } from "./hooks/useRowKeys";
import { NAVIGATION, loadPage } from "./pages";
import type { PageModule } from "./pages";
import { Link, useRoute } from "./router";
import { headline, useTabState } from "./tab";
import { useTheme } from "./theme";

function Navigation(): ReactElement {
  const { path } = useRoute();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const isHere = (target: string): boolean => (target === "/" ? path === "/" : path === target || path.startsWith(`${target}/`));
  return (
    <nav className="nav" aria-label="Pages">
      <button type="button" className="nav-button" aria-expanded={open} aria-controls="nav-links" onClick={() => setOpen(!open)}>
        Menu
      </button>
      <div id="nav-links" className={open ? "nav-links nav-open" : "nav-links"}>
        {NAVIGATION.map((group) => (
          <ul key={group.label} aria-label={group.label}>
            {group.links.map(([target, label]) => (
              <li key={target}>
                <Link to={target} aria-current={isHere(target) ? "page" : undefined}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </div>
    </nav>
  );
}

function ThemeToggle(): ReactElement {
  const [theme, toggle] = useTheme();
  return (
    <button type="button" className="quiet" onClick={toggle} aria-pressed={theme === "dark"} aria-label="Dark colours">
      <span aria-hidden="true">{theme === "dark" ? "☾" : "☀"}</span>
    </button>
  );
}

function KeyLink(): ReactElement {
  const { data } = useResource<Session>("/api/session");
  return (
    <Link to="/key" className="key-link" title="The key of this tab">
      {data && !data.keyless ? (
        <>
          {data.who}
          <span className="key-scope"> ({data.scope})</span>
        </>
      ) : (
        "Sign in"
      )}
    </Link>
  );
}

function ConnectionBanner(): ReactElement {
  const trouble = useTrouble();
  return (
    <div role="status" aria-live="polite">
      {trouble && <p className="banner">{trouble} Trying again…</p>}
    </div>
  );
}

function CurrentPage(): ReactElement {
  const { page, params, path } = useRoute();
  const [loaded, setLoaded] = useState<{ page: string; module: PageModule } | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (page === null) return;
    let wanted = true;
    setFailure(null);
    const stop = new AbortController();
    loadPage(page)
      // The server may be down: the page is asked for again once it answers.
      .catch(() => sendPatiently("/health", { signal: stop.signal }).then(() => loadPage(page)))
      .then(
        (module) => wanted && setLoaded({ page, module }),
        (error: unknown) => wanted && setFailure(error),
      );
    return () => {
      wanted = false;
      stop.abort();
    };
  }, [page]);
  useEffect(() => {
    // A screen reader goes on with the new page after a link, and stays where it is when the dashboard opens.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [path]);

  const ready = loaded !== null && loaded.page === page;
  const title = page === null ? "No such page" : ready ? loaded.module.title : "";
  useTabState({ title: typeof title === "function" ? title(params) : title });
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {page === null && (
        <>
          <h1>No such page</h1>
          <p>
            There is nothing at <code>{path}</code>. <Link to="/">What changed?</Link>
          </p>
        </>
      )}
      {failure !== null && (
        <p className="error-box" role="alert">
          This page could not be loaded; the dashboard may have been updated.{" "}
          <button type="button" onClick={() => window.location.reload()}>
            Load it again
          </button>
        </p>
      )}
      {page !== null && failure === null && !ready && <Loading />}
      {ready && (
        <Boundary key={path}>
          <Suspense fallback={<Loading />}>
            <loaded.module.default params={params} />
          </Suspense>
        </Boundary>
      )}
    </main>
  );
}

function Headline(): ReactElement | null {
  const { data } = useChanges();
  const { path } = useRoute();
  const line = useMemo(() => headline(data), [data]);
  useTabState({ verdict: line?.verdict, note: line?.text });
  if (!line || path === "/") return null;
  return (
    <Link to="/" className={`headline verdict-${line.verdict}`}>
      <Sign verdict={line.verdict} /> {line.text}
    </Link>
  );
}

export function App(): ReactElement {
  useRowKeys();
  const { path } = useRoute();
  // Whoever looks at the changes sees a run that has ended within two seconds; an answer that is known costs little.
  const changes = useResource<Changes>("/api/changes", { everyMs: path === "/" ? 1_500 : 30_000 });
  return (
    <ChangesContext value={changes}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <Link to="/" className="brand">
          agentdyno
        </Link>
        <Navigation />
        <div className="top-end">
          <Headline />
          <Finder />
          <KeyLink />
          <ThemeToggle />
        </div>
      </header>
      <ConnectionBanner />
      <CurrentPage />
    </ChangesContext>
  );
}
