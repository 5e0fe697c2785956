/** The options of a run as they were given, and what follows from them. */
export function readOptions(args: string[]): { only: string[]; withPeers: boolean; isWhole: boolean };
