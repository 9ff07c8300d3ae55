/**
 * Long lists of steps in a saved page: the first part is there at once, the others are texts that the page makes
 * elements of when they come into sight, and otherwise one after the other when it has time. A browser needs seconds
 * for ten thousand steps at once.
 */

/** Steps of a part. */
export const PART = 100;

/** The one script of a saved page; its policy lets no other run. It takes nothing from the page but those texts. */
export const LATER_SCRIPT = `"use strict";
const waiting = new Map([...document.querySelectorAll("script.export-later")].map((later) => [later.previousElementSibling, later]));
const show = (part) => {
  const later = waiting.get(part);
  if (!later) return;
  waiting.delete(part);
  part.innerHTML = later.textContent.replaceAll("%3C", "<").replaceAll("%25", "%");
  later.remove();
};
const next = () => {
  const [part] = waiting.keys();
  if (part) { show(part); plan(); }
};
const plan = () => setTimeout(next, 30);
const near = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => show(one.target)), { rootMargin: "1000px" });
for (const part of waiting.keys()) near.observe(part);
addEventListener("beforeprint", () => [...waiting.keys()].forEach(show));
addEventListener("load", plan);
`;

/** SHA-256 of that script: pages that are served without TLS cannot compute it. `tests/exporting.test.ts` does. */
export const LATER_SCRIPT_HASH = "sha256-3rRMBxtwZFKW7gKA71J1BdVE4svOHu/+yH7IdSPyQLs=";

/** A text that a script element can hold, whatever is in it. */
export function laterText(html: string): string {
  return html.replaceAll("%", "%25").replaceAll("<", "%3C");
}

/** Divides a long list; a short one stays as it is. */
export function divided(list: HTMLOListElement): void {
  const steps = [...list.children];
  if (steps.length <= 2 * PART) return;
  const parts: Element[] = [];
  for (let start = 0; start < steps.length; start += PART) {
    const part = list.cloneNode(false) as HTMLOListElement;
    part.classList.add("export-part");
    part.start = start + 1;
    part.append(...steps.slice(start, start + PART));
    parts.push(part);
    if (start === 0) continue;
    const later = document.createElement("script");
    later.type = "text/plain";
    later.className = "export-later";
    later.textContent = laterText(part.innerHTML);
    part.replaceChildren();
    parts.push(later);
  }
  list.replaceWith(...parts);
}
