import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAMILIES, readStream, STREAM_NAMES } from "../../../../test/support/streams/expected.ts";
import { decode, READERS } from "../../../../test/support/streams/read.ts";
import { problemsWith } from "../../../../test/support/streams/sound-message.ts";

/** Whatever comes over the wire: nothing throws, there is one end, and the message is one that we can keep and send. */

type Damage = { at: number; length: number; how: "flip" | "delete" | "double" };

const anyDamage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(20_000),
  length: fc.integer({ min: 1, max: 60 }),
  how: fc.constantFrom("flip", "delete", "double"),
});

function damaged(bytes: Buffer, { at, length, how }: Damage): Buffer {
  const start = at % bytes.length;
  const [head, part, tail] = [
    bytes.subarray(0, start),
    bytes.subarray(start, start + length),
    bytes.subarray(start + length),
  ];
  if (how === "delete") return Buffer.concat([head, tail]);
  if (how === "double") return Buffer.concat([head, part, part, tail]);
  const flipped = Buffer.from(part);
  flipped[0] = part[0]! ^ (1 << (length % 8));
  return Buffer.concat([head, flipped, tail]);
}

type Path = readonly string[];

/** The ways to all values inside a value, itself included. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

interface Place {
  at: number;
  path: Path;
  whole: unknown;
}

/** Every place in every kind of event: where it comes first, second (which may take a shorter way) and last. */
function placesIn(events: readonly string[]): Place[] {
  const byKind = new Map<string, Place[]>();
  for (const [at, event] of events.entries()) {
    if (!event.startsWith("{")) continue;
    const whole = JSON.parse(event) as { type?: unknown };
    for (const path of pathsIn(whole)) {
      const kind = `${whole.type} ${path.join(".")}`;
      byKind.set(kind, [...(byKind.get(kind) ?? []), { at, path, whole }]);
    }
  }
  return [...byKind.values()].flatMap((places) => [...places.slice(0, 2), ...places.slice(2).slice(-1)]);
}

function withValue(whole: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy = Array.isArray(whole) ? [...whole] : { ...(whole as object) };
  return Object.assign(copy, { [key]: withValue((whole as Record<string, unknown>)[key], rest, value) });
}

const OTHER_VALUES = [null, {}, 7, "x"];

describe.each(FAMILIES)("nothing that comes over the wire breaks %s", (family) => {
  const { read } = READERS[family];
  const streams = new Map(STREAM_NAMES.map((name) => [name, readStream(family, name)]));
  const anyName = fc.constantFrom(...STREAM_NAMES);

  test("garbage", () => {
    const anyEvent = fc.oneof(fc.json(), fc.string(), fc.constantFrom("[DONE]", "null", "[]", "{}", '""', "0"));
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 8 }), (events) => {
        expect(problemsWith(read, events)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test("damaged bytes", () => {
    fc.assert(
      fc.property(anyName, fc.array(anyDamage, { minLength: 1, maxLength: 4 }), (name, damages) => {
        expect(problemsWith(read, decode(damages.reduce(damaged, streams.get(name)!)))).toEqual([]);
      }),
      { numRuns: 75 },
    );
  });

  test("events twice, missing and in another order", () => {
    fc.assert(
      fc.property(anyName, fc.array(fc.nat(1000), { maxLength: 40 }), (name, order) => {
        const events = decode(streams.get(name)!);
        const shuffled = order.map((place) => events[place % events.length]!);
        expect(problemsWith(read, shuffled)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test("any value of an event with another in its place", () => {
    const problems = new Map<string, string>();
    for (const [name, bytes] of streams) {
      const events = decode(bytes);
      for (const { at, path, whole } of placesIn(events)) {
        for (const value of OTHER_VALUES) {
          const event = JSON.stringify(withValue(whole, path, value));
          const [problem] = problemsWith(read, events.with(at, event));
          if (problem) problems.set(path.join("."), `${problem}, from event ${at} of ${name}: ${event.slice(0, 300)}`);
        }
      }
    }
    expect(Object.fromEntries(problems)).toEqual({});
  });
});
