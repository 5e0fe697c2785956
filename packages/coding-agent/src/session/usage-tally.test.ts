import fc from "fast-check";
import { expect, it } from "vitest";
import { sumOfMoney } from "./usage-tally.ts";

/** What an answer costs: tokens by a price for a million of them. */
const costs = fc.array(
  fc
    .tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 200_0000 }))
    .map(([tokens, price]) => (tokens * (price / 1e4)) / 1e6),
  { maxLength: 30 },
);
const sum = (parts: readonly number[]): number => parts.reduce(sumOfMoney, 0);

it("money adds up to the same sum in whatever order and groups it is counted", () => {
  expect(0.1 + 0.2 + 0.3 === 0.3 + 0.2 + 0.1).toBe(false);
  fc.assert(
    fc.property(costs, fc.nat(30), (parts, at) => {
      const [some, others] = [parts.slice(0, at), parts.slice(at)];
      expect(sum([sum(others), ...some])).toBe(sum(parts));
      expect(sum(parts.toReversed())).toBe(sum(parts));
    }),
  );
});

it("a sum beyond all sense is still a sum", () => {
  expect(sumOfMoney(1e300, 1)).toBe(1e300);
});
