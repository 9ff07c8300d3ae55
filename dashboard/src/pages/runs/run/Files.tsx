import { useState } from "react";
import type { ReactElement } from "react";
import { download } from "../../../api/client";
import type { Artifact, ArtifactItems } from "../../../api/answers";
import { ErrorBox, Show } from "../../../components";
import { bytes } from "../../../format";
import { useResource } from "../../../hooks/useResource";
import { address } from "../../../router";
import { api, shortId } from "../../../shared/paths";

/** Format, what it is called, and the ending of the file. */
const FORMATS = [
  ["html", "HTML page", "html"],
  ["md", "Markdown", "md"],
  ["csv", "CSV tables", "csv.zip"],
  ["json", "JSON", "json"],
  ["png", "Pictures", "png.zip"],
  ["junit", "JUnit XML", "xml"],
] as const;

function useDownload(): { busy: string; error: unknown; start: (path: string, name: string) => void } {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState<unknown>();
  const start = (path: string, name: string): void => {
    setBusy(name);
    setError(undefined);
    download(path, name)
      .catch(setError)
      .finally(() => setBusy(""));
  };
  return { busy, error, start };
}

/** Reports of a run, made when somebody asks for one. */
export function Reports({ runId }: { runId: string }): ReactElement {
  const { busy, error, start } = useDownload();
  return (
    <section className="live-only" aria-labelledby="reports">
      <h2 id="reports">Reports</h2>
      <ul className="downloads">
        {FORMATS.map(([format, label, ending]) => {
          const name = `run-${shortId(runId)}.${ending}`;
          return (
            <li key={format}>
              <button
                type="button"
                disabled={busy === name}
                onClick={() => start(address(api("runs", runId, "report"), { format }), name)}
              >
                {busy === name ? "Writing…" : label}
              </button>
            </li>
          );
        })}
      </ul>
      <ErrorBox error={error} />
    </section>
  );
}

/** The parts of a path are names of folders and files, each of which may hold any character. */
function artifactAddress(runId: string, artifact: Artifact): string {
  return api("runs", runId, "artifacts", ...artifact.path.split("/"));
}

export function Artifacts({ runId }: { runId: string }): ReactElement {
  const list = useResource<ArtifactItems>(api("runs", runId, "artifacts"));
  const { busy, error, start } = useDownload();
  return (
    <Show of={list}>
      {({ items }) => {
        if (items.length === 0) return null;
        return (
          <section className="live-only" aria-labelledby="artifacts">
            <h2 id="artifacts">Files of the run</h2>
            <ul className="downloads">
              {items.map((artifact) => (
                <li key={artifact.path}>
                  <button
                    type="button"
                    disabled={busy === artifact.path}
                    title={artifact.media_type}
                    onClick={() => start(artifactAddress(runId, artifact), artifact.path.split("/").at(-1) ?? artifact.name)}
                  >
                    {artifact.name} <span className="muted">{bytes(artifact.size_bytes)}</span>
                  </button>
                </li>
              ))}
            </ul>
            <ErrorBox error={error} />
          </section>
        );
      }}
    </Show>
  );
}
