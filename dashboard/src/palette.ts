/** Colours and shapes of charts. */

/** The colours of the stylesheet, for charts. `series` differ in lightness too and go with SHAPES. */
export interface Palette {
  text: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  worse: string;
  better: string;
  same: string;
  inconclusive: string;
  series: string[];
}

export const SHAPES = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"] as const;

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    text: read("text"),
    muted: read("muted"),
    line: read("line"),
    surface: read("surface"),
    accent: read("accent"),
    worse: read("worse"),
    better: read("better"),
    same: read("same"),
    inconclusive: read("inconclusive"),
    series: [1, 2, 3, 4, 5, 6, 7].map((index) => read(`series-${index}`)),
  };
}
