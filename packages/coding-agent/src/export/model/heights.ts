/** Heights of rows, with their sums: a Fenwick tree. Finding a row by its position takes as long as the logarithm. Pure. */

export interface Heights {
  readonly count: number;
  get(row: number): number;
  set(row: number, height: number): void;
  /** Of all rows before this one. */
  before(row: number): number;
  total(): number;
  /** The row at this position; the last one for a position behind all. */
  rowAt(position: number): number;
}

export function createHeights(initial: Float64Array): Heights {
  const count = initial.length;
  const own = Float64Array.from(initial);
  const sums = new Float64Array(count + 1);
  for (let i = 1; i <= count; i += 1) {
    sums[i] = (sums[i] as number) + (own[i - 1] as number);
    const parent = i + (i & -i);
    if (parent <= count) sums[parent] = (sums[parent] as number) + (sums[i] as number);
  }
  let top = 1;
  while (top * 2 <= count) top *= 2;

  const before = (row: number): number => {
    let sum = 0;
    for (let i = Math.min(row, count); i > 0; i -= i & -i) sum += sums[i] as number;
    return sum;
  };

  return {
    count,
    get: (row) => own[row] ?? 0,
    set(row, height) {
      const change = height - (own[row] as number);
      if (change === 0) return;
      own[row] = height;
      for (let i = row + 1; i <= count; i += i & -i) sums[i] = (sums[i] as number) + change;
    },
    before,
    total: () => before(count),
    rowAt(position) {
      let row = 0;
      let left = position;
      for (let step = top; step > 0; step = Math.floor(step / 2)) {
        const next = row + step;
        if (next <= count && (sums[next] as number) <= left) {
          row = next;
          left -= sums[next] as number;
        }
      }
      return Math.max(0, Math.min(row, count - 1));
    },
  };
}
