import type { CommandResults } from "@tiller/protocol/plain-types.generated";
import type { Frame } from "./events.ts";

/** `missed`: not everything is kept, or nobody knows; the session has to be read anew. `count` events were told behind it. */
export type Resumed = Pick<CommandResults["subscribe"], "missed" | "count">;

/**
 * Follows the numbers of events, so that another process that goes on with the session can be asked for those that never
 * came. Until it has answered, its own events wait: they come again behind the answer.
 */
export class MissedEvents {
  /** The number of the last event that was heard in this session. */
  #last: number | undefined;
  #held: Frame[] | undefined;
  #left = 0;

  /** A process starts. `goesOn`: with the session of the one before. */
  begin(goesOn: boolean): void {
    this.#left = 0;
    if (!goesOn) this.#last = undefined;
    this.#held = this.#last === undefined ? undefined : [];
  }

  /** Undefined: nobody has heard anything that the agent could go on from. */
  get after(): number | undefined {
    return this.#held && this.#last;
  }

  /** What is to be done with a frame: `hold` is kept from everybody, `again` was not meant for the prompts of now. */
  hear(frame: Frame): "hold" | "again" | "now" {
    const { seq } = frame;
    if (typeof seq !== "number") return "now";
    if (this.#held) {
      this.#held.push(frame);
      return "hold";
    }
    this.#last = seq;
    if (this.#left === 0) return "now";
    this.#left -= 1;
    return "again";
  }

  /** The answer to the question for missed events has come; what follows it is not held any more. */
  answered({ success, data }: Frame): void {
    if (!this.#held || success !== true) return;
    this.#held = undefined;
    this.#left = Number((data as Partial<Resumed> | undefined)?.count ?? 0);
  }

  /** It was not asked, or refused: gives back what waits. */
  release(): Frame[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    return held;
  }

  /** Another session has been entered, and its numbers are not those of the one before. */
  left(): void {
    this.#last = undefined;
  }

  /** No event above this number was told. */
  latest(seq: number): void {
    this.#last = Math.max(this.#last ?? 0, seq);
  }
}
