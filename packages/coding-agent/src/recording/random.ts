/** Numbers from 0 to 1 that look random and are the same for the same seed: sfc32, after 12 rounds to mix the seed in. */
export function seededRandom(seed: string): () => number {
  const part = (index: number): number => Number.parseInt(seed.slice(index * 8, index * 8 + 8) || "0", 16) | 0;
  let [a, b, c, counter] = [part(0), part(1), part(2), part(3)];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  for (let round = 0; round < 12; round++) next();
  return next;
}
