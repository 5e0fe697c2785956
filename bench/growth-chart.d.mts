import type { PeerRow } from "./report.mjs";

export function growthChart(rows: PeerRow[]): string;
