/** Round times for the axis, from 0 on: three to eight of them. */
export function ticksOf(span: number): number[] {
  const rough = span / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough) ?? rough;
  return Array.from({ length: Math.floor(span / step + 1e-9) + 1 }, (_, index) => index * step);
}
