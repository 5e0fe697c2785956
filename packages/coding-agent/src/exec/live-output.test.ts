import { expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { createLiveOutput } from "./live-output.ts";
import { createOutputBuffer } from "./output-buffer.ts";

function create(keepBytes = 1000) {
  const clock = new FakeClock();
  const output = createOutputBuffer({ keepBytes, spillAfterBytes: keepBytes });
  const told: string[] = [];
  let taken: undefined | Promise<void>;
  const live = createLiveOutput({
    output,
    clock,
    tell(text) {
      told.push(text);
      return taken;
    },
  });
  return {
    clock,
    told,
    live,
    write(text: string | Buffer) {
      output.write(Buffer.from(text));
      live.touch();
    },
    /** From now on the listener is slow; the function that comes back lets it go on. */
    slow(): () => Promise<void> {
      let go: () => void = () => undefined;
      taken = new Promise((resolve) => {
        go = resolve;
      });
      return async () => {
        const done = taken;
        taken = undefined;
        go();
        await done;
      };
    },
    end() {
      live.finish();
      output.close("remove-file");
    },
  };
}

it("tells the first words at once, and what follows together", () => {
  const { clock, told, write, end } = create();
  write("one\n");
  write("two\n");
  write("three\n");
  expect(told).toEqual(["one\n"]);
  clock.advanceSync(50);
  expect(told).toEqual(["one\n", "two\nthree\n"]);
  clock.advanceSync(500);
  write("four\n");
  expect(told).toEqual(["one\n", "two\nthree\n", "four\n"]);
  end();
  expect(clock.pending).toBe(0);
});

it("tells the rest at the end, and nothing when there is none", () => {
  const { told, write, end } = create();
  write("one\n");
  write("two");
  end();
  expect(told).toEqual(["one\n", "two"]);
});

it("never tells half a character or half a colour", () => {
  const { clock, told, write, end } = create();
  for (const byte of Buffer.from("grün \u001b[31mrot\u001b[0m 😀")) {
    write(Buffer.from([byte]));
    clock.advanceSync(50);
  }
  end();
  expect(told.join("")).toBe("grün rot 😀");
  expect(told).toContain("ü");
  expect(told).toContain("😀");
});

it("waits for a listener that is slow, and leaves out what the memory has lost", async () => {
  const { clock, told, write, end, slow } = create(10);
  const go = slow();
  write("1\n");
  for (let i = 0; i < 20; i++) {
    write("0123456\n");
    clock.advanceSync(50);
  }
  expect(told).toEqual(["1\n"]);
  await go();
  clock.advanceSync(50);
  expect(told).toEqual(["1\n", "\n[150 bytes skipped]\n0123456\n"]);
  end();
});
