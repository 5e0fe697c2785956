import { it, type TestFunction } from "vitest";
import type { RequirementId } from "./requirements.ts";

/**
 * A test that proves requirements: `it` with the ids in front. The ids must be written out as string literals, because
 * coverage.test.ts finds them by reading the source. Tables of cases use a `proves: ["id"]` column with plain `it`, typed
 * as `Proves`; transcripts have a `proves: id, id` line.
 */
export function proves(ids: Proves, name: string, test: TestFunction, timeout?: number): void {
  it(`${name} [${[ids].flat().join(", ")}]`, test, timeout);
}

export type Proves = RequirementId | readonly RequirementId[];
