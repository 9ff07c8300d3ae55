/** A table as it is shown, to be opened elsewhere. */

/** One field. What a spreadsheet would take for a formula is made text; numbers with a sign stay numbers. */
export function csvField(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  const safe = /^[=@]|^[+-](?![\d.])/.test(plain) ? `'${plain}` : plain;
  return /[",\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

/** The name of a file, from a caption. */
export function fileName(caption: string): string {
  return `${caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table"}.csv`;
}

/** The box that a text stands in: texts of one box follow each other without a gap, those of two are apart on the screen. */
function boxOf(element: HTMLElement): HTMLElement {
  let box = element;
  while (box.parentElement && /^(inline|contents)$/.test(getComputedStyle(box).display)) box = box.parentElement;
  return box;
}

/** Parts of a cell that are there for another width, or for screen readers alone. A cell behind "More" is shown all the same. */
function isHidden(element: HTMLElement, cell: HTMLElement): boolean {
  for (let part: HTMLElement | null = element; part && part !== cell; part = part.parentElement) {
    if (part.matches("[aria-hidden=true], .visually-hidden") || getComputedStyle(part).display === "none") return true;
  }
  return false;
}

function shownText(cell: HTMLElement): string {
  let text = "";
  let last: HTMLElement | null = null;
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const around = walker.currentNode.parentElement;
    if (walker.currentNode.nodeName === "BR") text += " ";
    if (walker.currentNode.nodeType !== Node.TEXT_NODE || !around || isHidden(around, cell)) continue;
    const box = boxOf(around);
    text += `${last === null || last === box ? "" : " "}${walker.currentNode.textContent ?? ""}`;
    last = box;
  }
  return text;
}

/** Saves what the table shows: its columns and rows, in their order. */
export function saveTable(table: HTMLTableElement | null, caption: string): void {
  if (!table) return;
  const shown = [...table.querySelectorAll<HTMLTableRowElement>("thead tr, tbody tr:not(.below)")];
  const rows = shown.map((row) => [...row.cells].filter((cell) => !cell.classList.contains("more")).map(shownText));
  const url = URL.createObjectURL(new Blob(["\ufeff", csvText(rows)], { type: "text/csv;charset=utf-8" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = fileName(caption);
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
