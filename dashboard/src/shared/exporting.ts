/** A page as one file that needs no server: what is shown, with everything that is folded. */
import { useSyncExternalStore } from "react";
import { LATER_SCRIPT, LATER_SCRIPT_HASH, PART, divided } from "./laterParts";

let exporting = false;
const listeners = new Set<() => void>();

function setExporting(value: boolean): void {
  exporting = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the page is being written to a file: then nothing is cut and every step is there. */
export function useExporting(): boolean {
  return useSyncExternalStore(subscribe, () => exporting);
}

/** Rules of all style sheets of the page; they are of this origin. */
function styleText(): string {
  return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join("\n");
}

/** What stays of a button in a file: the heading that it sorts by, or what it tells about a row. */
const TELLING = "button.sort, button[data-open]";
/** What is there to be pressed, typed or downloaded. */
const CONTROLS = "button, input, .fields, .tabs, .live-only, .table-tools, script, .command, th.more, td.more";

/** Takes out what does something only where a server is. */
function withoutControls(copy: HTMLElement): void {
  for (const button of copy.querySelectorAll(TELLING)) {
    const text = document.createElement("span");
    text.append(...button.childNodes);
    button.replaceWith(text);
  }
  for (const control of copy.querySelectorAll(CONTROLS)) control.remove();
  // Rows of one line hide their other columns behind a button that is not there any more.
  for (const table of copy.querySelectorAll("table.compact")) table.classList.remove("compact");
}

/** The main part of the page as it stands: pictures for charts, links to where it was shown, nothing to press. */
function snapshot(main: HTMLElement): HTMLElement {
  const pictures = [...main.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL("image/png"));
  const copy = main.cloneNode(true) as HTMLElement;
  copy.querySelectorAll("canvas").forEach((canvas, index) => {
    const image = document.createElement("img");
    image.src = pictures[index] ?? "";
    image.alt = canvas.closest("[role=img]")?.getAttribute("aria-label") ?? "chart";
    image.className = "export-picture";
    canvas.replaceWith(image);
  });
  for (const link of copy.querySelectorAll("a")) link.href = new URL(link.getAttribute("href") ?? "", window.location.href).href;
  withoutControls(copy);
  copy.querySelectorAll<HTMLOListElement>("ol.steps").forEach(divided);
  return copy;
}

const OWN_STYLES = `.export-picture { max-width: 100%; }
.steps > li { content-visibility: auto; contain-intrinsic-size: auto 28px; }
.export-part { content-visibility: auto; contain-intrinsic-size: auto ${28 * PART}px; margin-block: 0; }`;

function documentOf(main: HTMLElement): string {
  const made = document.implementation.createHTMLDocument(document.title);
  const policy = made.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '${LATER_SCRIPT_HASH}'`;
  const charset = made.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  const size = made.createElement("meta");
  size.name = "viewport";
  size.content = "width=device-width, initial-scale=1";
  made.head.prepend(charset, policy, size);
  made.documentElement.lang = "en";
  made.documentElement.dataset["theme"] = document.documentElement.dataset["theme"] ?? "";
  const from = made.createElement("p");
  from.className = "muted";
  from.textContent = `Saved from ${window.location.href} on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  const copy = made.importNode(snapshot(main), true);
  copy.append(from);
  made.body.append(copy);
  // As text, since the policy of this page lets no script add styles. What closes the element cannot be in it.
  const styles = `${styleText()}\n${OWN_STYLES}`.replaceAll("</", "<\\/");
  const script = copy.querySelector(".export-later") === null ? "" : `<script>${LATER_SCRIPT}</script>`;
  const whole = made.documentElement.outerHTML
    .replace("</head>", () => `<style>${styles}</style></head>`)
    .replace(/<\/body>(?![\s\S]*<\/body>)/, () => `${script}</body>`);
  return `<!doctype html>\n${whole}\n`;
}

const drawn = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));

/** Saves the page that is shown as `name`.html. */
export async function exportPage(name: string): Promise<void> {
  const main = document.getElementById("main");
  if (!main) return;
  setExporting(true);
  try {
    await drawn();
    const url = URL.createObjectURL(new Blob([documentOf(main)], { type: "text/html;charset=utf-8" }));
    const anchor = document.createElement("a");
    anchor.href = url;
    anchor.download = `${name.replace(/[^\w.@-]+/g, "-").slice(0, 80) || "page"}.html`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } finally {
    setExporting(false);
  }
}
