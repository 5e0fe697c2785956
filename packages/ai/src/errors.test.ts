import { expect, test } from "vitest";
import { ProviderError } from "./errors.ts";

test.each([
  [429, 429],
  [1.5, undefined],
  [Number.NaN, undefined],
  [undefined, undefined],
])("of a status %s the error has %s", (given, kept) => {
  expect(new ProviderError("server", "no", { status: given }).status).toBe(kept);
});
