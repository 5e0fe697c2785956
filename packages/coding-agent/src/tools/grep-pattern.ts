import type { GrepRequest } from "./grep-format.ts";
import { type LinePattern, readPattern } from "./rust-regex.ts";

/** The pattern of a search, with an error that helps. Both engines read it here, so that both refuse the same. */
export function patternOf(request: GrepRequest): LinePattern {
  try {
    return readPattern(request.pattern, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Invalid pattern "${request.pattern}": ${reason}. Use literal=true to search for the text itself.`,
      { cause: error },
    );
  }
}
