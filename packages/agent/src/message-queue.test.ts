import type { UserMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageQueue } from "./message-queue.ts";

const message: UserMessage = { role: "user", content: "", timestamp: 0 };
const modes = { steeringMode: "one-at-a-time", followUpMode: "one-at-a-time", interruptMode: "wait" } as const;

type Action = { do: "add" | "take"; queue: "steering" | "followUp" } | { do: "clear" } | { do: "mode"; all: boolean };

describe("the message queue", () => {
  it("gives out every message once, in order, as two plain arrays would", () => {
    const queue = fc.constantFrom("steering" as const, "followUp" as const);
    const action: fc.Arbitrary<Action> = fc.oneof(
      fc.record({ do: fc.constantFrom("add" as const, "take" as const), queue }),
      fc.record({ do: fc.constant("clear" as const) }),
      fc.record({ do: fc.constant("mode" as const), all: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const subject = createMessageQueue(modes);
        const model = { steering: [] as string[], followUp: [] as string[] };
        let all = false;
        let n = 0;
        for (const act of actions) {
          if (act.do === "mode") {
            all = act.all;
            subject.steeringMode = subject.followUpMode = all ? "all" : "one-at-a-time";
          } else if (act.do === "add") {
            const id = `m${++n}`;
            subject.add(act.queue, { id, message });
            model[act.queue].push(id);
          } else if (act.do === "take") {
            const taken = subject.take(act.queue).map((item) => item.id);
            expect(taken).toEqual(model[act.queue].splice(0, all ? Number.POSITIVE_INFINITY : 1));
          } else {
            const dropped = subject.clear();
            expect(dropped.steering.map((item) => item.id)).toEqual(model.steering.splice(0));
            expect(dropped.followUp.map((item) => item.id)).toEqual(model.followUp.splice(0));
          }
          expect(subject.steering.map((item) => item.id)).toEqual(model.steering);
          expect(subject.followUp.map((item) => item.id)).toEqual(model.followUp);
        }
      }),
    );
  });
});
