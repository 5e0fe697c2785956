import type { Dialect } from "./dialect.ts";
import { omp } from "./omp.ts";

/** A descendant of omp: only what it changed stands here. */
export const xcsh: Dialect = {
  ...omp,
  name: "xcsh",
  sendsTitle: false,
  defaults: { interruptMode: "wait", thinkingLevel: "high" },
};
