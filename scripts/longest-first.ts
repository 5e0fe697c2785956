// The order of the test files. A long one that begins last keeps a single worker busy while the others have nothing to do.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those of more than ten seconds. A file that is missing here costs time, nothing else. */
const LONGEST = [
  "test/transcripts.test.ts",
  "test/run/state-machine.test.ts",
  "test/sessions/two-processes.test.ts",
  "test/conformance/extensions.test.ts",
  "test/conformance/session-commands.test.ts",
  "test/run/sequences.test.ts",
  "test/conformance/ways-to-a-model.test.ts",
  "test/export/page.test.ts",
  "packages/coding-agent/src/session/store/session-store.property.test.ts",
  "test/extensions/bad-answers.test.ts",
  "test/conformance/dialogs.test.ts",
  "test/conformance/sessions.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? LONGEST.length : at;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
