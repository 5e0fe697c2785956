import { DISK_FAULTS } from "./disk-faults.ts";
import { EXTENSION_FAULTS } from "./extension-faults.ts";
import type { Fault } from "./fault.ts";
import { HOST_FAULTS } from "./host-faults.ts";
import { PROCESS_FAULTS } from "./process-faults.ts";
import { PROVIDER_FAULTS } from "./provider-faults.ts";
import { STATES, type State } from "./states.ts";

/** Every fault in every state. */

export const FAULTS: readonly Fault[] = [
  ...PROVIDER_FAULTS,
  ...DISK_FAULTS,
  ...HOST_FAULTS,
  ...PROCESS_FAULTS,
  ...EXTENSION_FAULTS,
];

export interface Cell {
  fault: Fault;
  state: State;
}

export const nameOf = ({ fault, state }: Cell): string => `${fault.group}: ${fault.name} · ${state.name}`;

/** Those that make sense. */
export const CELLS: readonly Cell[] = FAULTS.flatMap((fault) =>
  STATES.filter((state) => fault.leftOut?.(state) === undefined).map((state) => ({ fault, state })),
);
