import type { PeerRow } from "./report.mjs";

export function chart(rows: PeerRow[]): string;
