import { COMMANDS } from "@tiller/protocol/commands/index";
import type { System } from "@tiller/protocol/define";
import { EVENTS } from "@tiller/protocol/events";
import { describe, expect, it } from "vitest";
import type { SeedName } from "./requirements/row.ts";
import { REQUIREMENTS, type Requirement } from "./requirements.ts";

/** The protocol tables say who has a command or event and whether it works; the requirements must say the same. */

interface TableRow {
  type: string;
  systems: readonly System[];
  opens?: string;
}

const SEEDS: readonly SeedName[] = ["pi", "omp", "xcsh"];
const rows: TableRow[] = [...Object.values(COMMANDS), ...Object.values(EVENTS)];

function mentions(type: string, seed: SeedName): Requirement[] {
  return REQUIREMENTS.filter(({ source, text }) => source.seed === seed && text.includes(`\`${type}\``));
}

describe("the protocol tables and the requirements agree", () => {
  for (const seed of SEEDS) {
    const ofSeed = rows.filter(({ systems }) => systems.includes(seed));

    it(`${seed}: every command and event of the tables is a requirement`, () => {
      expect(ofSeed.filter(({ type }) => mentions(type, seed).length === 0).map(({ type }) => type)).toEqual([]);
    });

    it(`${seed}: what works has a requirement to prove, what is missing an open one`, () => {
      const wrong = ofSeed.filter(({ type, opens }) => {
        const open = mentions(type, seed).map((requirement) => requirement.open !== undefined);
        return opens === undefined ? !open.includes(false) : !open.includes(true);
      });
      expect(wrong.map(({ type }) => type)).toEqual([]);
    });
  }
});
