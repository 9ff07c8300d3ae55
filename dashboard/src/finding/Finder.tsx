import { useCallback, useEffect, useRef, useState } from "react";
import type { KeyboardEvent as Pressed, ReactElement } from "react";
import type { FoundThings } from "../api/answers";
import { ErrorBox } from "../components";
import { useResource } from "../hooks/useResource";
import { Link, address, navigate, useRoute } from "../router";
import { SearchField } from "../shared/SearchField";
import { KEYS, MOST_OF_KIND, isWriting, targetOf } from "./targets";
import "./finder.css";

type Opened = "search" | "help" | null;

/** Opens by / and ?, anywhere but in a field. */
function useFinderKeys(open: (what: Opened) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (event.key !== "/" && event.key !== "?") return;
      event.preventDefault();
      open(event.key === "/" ? "search" : "help");
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open]);
}

interface ResultsProps {
  text: string;
  /** For what Enter was pressed in the field: the first of its results is opened, also where they are still to come. */
  entered: string | null;
  /** Somebody goes where a result leads, which may be where they are. */
  onLeave: () => void;
}

function Results({ text, entered, onLeave }: ResultsProps): ReactElement {
  const found = useResource<FoundThings>(text.trim() === "" ? null : address("/api/search", { text: text.trim() }));
  const items = found.data?.items ?? [];
  const first = found.data?.items[0];
  useEffect(() => {
    if (!first || entered === null || entered.trim() !== text.trim()) return;
    navigate(targetOf(first));
    onLeave();
  }, [first, entered, text, onLeave]);
  const cut = ["agent", "suite", "run", "case", "tag"].filter((kind) => items.filter((item) => item.kind === kind).length >= MOST_OF_KIND).map((kind) => `${kind}s`);
  return (
    <>
      <p className="muted" role="status">
        {text.trim() === "" ? "Agents, suites, runs, cases and tags." : found.loading ? "Searching…" : found.data && items.length === 0 ? `Nothing holds “${text.trim()}”.` : ""}
      </p>
      <ErrorBox error={found.error} retry={found.refresh} />
      {cut.length > 0 && <p className="muted">At most {MOST_OF_KIND} {cut.join(" and ")} are shown; a longer part of a name finds fewer.</p>}
      <ul className="finder-list" aria-label="Found">
        {items.map((item) => (
          <li key={`${item.kind} ${item.name} ${item.note}`}>
            <Link to={targetOf(item)} onClick={onLeave}>
              <span className="badge">{item.kind}</span> {item.name} <span className="muted">{item.note}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The arrows move through the results. */
function onArrows(event: Pressed<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".finder-list a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || links.length === 0) return;
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
}

function Help(): ReactElement {
  return (
    <dl className="facts">
      {KEYS.map(([key, what]) => (
        <div key={key} className="finder-key">
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Search over everything, and the keys: buttons of the header that open a window. */
export function Finder(): ReactElement {
  const [opened, setOpened] = useState<Opened>(null);
  const [text, setText] = useState("");
  const [entered, setEntered] = useState<string | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const { path, query } = useRoute();
  const place = `${path}?${query.toString()}`;
  const open = useCallback((what: Opened) => setOpened(what), []);
  const close = useCallback(() => setOpened(null), []);
  useFinderKeys(open);
  useEffect(() => {
    if (opened !== null && dialog.current?.open === false) dialog.current.showModal();
    if (opened === null) dialog.current?.close();
    setEntered(null);
  }, [opened]);
  const onKeyDown = (event: Pressed<HTMLElement>): void => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) setEntered(event.target.value);
    else onArrows(event);
  };
  // Whoever followed a result is there.
  useEffect(close, [place, close]);
  return (
    <>
      <button type="button" className="quiet" onClick={() => setOpened("search")} aria-label="Search" aria-keyshortcuts="/">
        <span aria-hidden="true">⌕</span>
        <span className="finder-word"> Search</span>
      </button>
      <button type="button" className="quiet finder-help" onClick={() => setOpened("help")} aria-label="Keys" aria-keyshortcuts="?">
        ?
      </button>
      <dialog ref={dialog} className="finder" aria-label={opened === "help" ? "Keys" : "Search"} onClose={close} onKeyDown={onKeyDown}>
        {opened === "search" && (
          <>
            <SearchField label="Search" value={text} onChange={setText} />
            <Results text={text} entered={entered} onLeave={close} />
          </>
        )}
        {opened === "help" && <Help />}
        <button type="button" className="quiet" onClick={close}>
          Close
        </button>
      </dialog>
    </>
  );
}
