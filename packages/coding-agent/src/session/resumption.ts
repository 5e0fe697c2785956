/** What is left to do of a session that was opened, until its first prompt. */
export interface Resumption {
  /** Its last run was cut off by a crash. */
  readonly wasInterrupted: boolean;
  /** Another conversation is in the store. `record` is done when it goes on: who only looks at a file leaves it as it is. */
  entered(wasInterrupted: boolean, record?: () => void): void;
  /** A run begins. */
  begin(): void;
}

export function createResumption(): Resumption {
  let wasInterrupted = false;
  let record: (() => void) | undefined;
  return {
    get wasInterrupted() {
      return wasInterrupted;
    },
    entered(isCutOff, toRecord) {
      wasInterrupted = isCutOff;
      record = toRecord;
    },
    begin() {
      record?.();
      record = undefined;
      wasInterrupted = false;
    },
  };
}
