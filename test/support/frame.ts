/** The player of transcripts, which is part of the product, looks at frames in the same way. */
export { at, brief, type Frame, isRecord, list, sameJson } from "../../packages/coding-agent/src/transcript/frame.ts";
