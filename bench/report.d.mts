/** One number: `ours` are the samples, the limit is one for the ratio when there is somebody to compare with. */
export interface Row {
  what: string;
  unit: string;
  ours: number[];
  against?: { name: string; samples: number[] } | undefined;
  limit?: number | undefined;
  goal?: number | undefined;
}

/** One number of all programs: their samples, none where there is no number. */
export interface PeerRow {
  what: string;
  unit: string;
  limit?: number | undefined;
  goal?: number | undefined;
  floorName: string;
  floor: number[];
  ours: number[];
  peers: Record<string, number[]>;
}

/** A sample that could not be taken: of what, whose, and why. */
export interface Failure {
  doing: string;
  name: string;
  why: string;
}

export function verdict(row: Row): string;

export function markdown(
  facts: [name: string, value: string][],
  results: { title: string; rows: Row[] }[],
  peers?: { rows: PeerRow[]; failures: Failure[] },
): string;
