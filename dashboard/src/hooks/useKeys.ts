import { useEffect } from "react";

/** Whether a key is a letter of something, or meant for a window that is open in front of the page. */
function isTaken({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) return true;
  return target instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable);
}

/** Keys that act on the whole page; `onKey` should stay the same between two pictures of it. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!isTaken(event)) onKey(event);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [onKey]);
}
