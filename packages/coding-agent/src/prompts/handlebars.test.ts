// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these placeholders are those of prompt templates
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillIn, splitArguments } from "./arguments.ts";
import { expandInput } from "./expand.ts";
import { countTags, renderTags } from "./handlebars.ts";

const rendered = (template: string, given: string): string => renderTags(template, splitArguments(given));

describe("templates with Handlebars", () => {
  test.each([
    ["Fix {{ARGUMENTS}}.", "a b", "Fix a b."],
    ["{{ arguments }}, {{args}}", '"a b" c', "a b c, a b c"],
    ["{{args.[0]}} and {{args.1}}, not {{args.[7]}}", "x y", "x and y, not "],
    ["{{#if ARGUMENTS}}About {{ARGUMENTS}}{{else}}About all{{/if}}", "x", "About x"],
    ["{{#if ARGUMENTS}}About {{ARGUMENTS}}{{else}}About all{{/if}}", "", "About all"],
    ["{{#if args}}yes{{/if}}", "", ""],
    ["{{#unless args.[1]}}one{{else}}two{{/unless}}", "x", "one"],
    ["{{#unless args.[1]}}one{{else}}two{{/unless}}", "x y", "two"],
    ["{{#each args}}- {{this}}\n{{/each}}", "x y", "- x\n- y\n"],
    ["{{#each args}}x{{else}}nothing{{/each}}", "", "nothing"],
    ["{{#if args}}{{#each args}}{{#if this}}<{{this}}>{{/if}}{{/each}}{{/if}}", "x y", "<x><y>"],
    ["$1: {{args.[1]}}", "x y", "x: y"],
    // Of another language, or broken: as it is.
    ["{{ user.name }} {{> part}} {{ARGUMENTS}}", "x", "{{ user.name }} {{> part}} x"],
    ["{{#if ARGUMENTS}}open $1", "x", "{{#if ARGUMENTS}}open x"],
    ["{{/if}}$1{{else}}", "x", "{{/if}}x{{else}}"],
    ["{{#if args}}a{{/each}}", "x", "{{#if args}}a{{/each}}"],
    ["{{#each args}}{{#each args}}x{{/each}}{{/each}}", "x y", "{{#each args}}{{#each args}}x{{/each}}{{/each}}"],
    // What comes from an argument is not looked at.
    ["{{ARGUMENTS}} $1", "{{args}}$2 y", "{{args}}$2 y {{args}}$2"],
  ])("%j with %j is %j", (template, given, expected) => expect(rendered(template, given)).toBe(expected));

  test("are those of omp and xcsh alone", () => {
    const templates = [
      { name: "pi", path: "/pi.md", appendsArguments: false },
      { name: "omp", path: "/omp.md", appendsArguments: true },
    ];
    const readFile = () => "Fix {{ARGUMENTS}}";
    const of = (text: string, family: "pi" | "omp" | "union") =>
      expandInput(text, { skills: [], templates, readFile, family });
    expect(of("/omp it", "union")).toMatchObject({ text: "Fix it" });
    expect(of("/pi it", "union")).toMatchObject({ text: "Fix {{ARGUMENTS}}" });
    expect(of("/pi it", "omp")).toMatchObject({ text: "Fix it" });
    expect(of("/omp it", "pi")).toMatchObject({ text: "Fix {{ARGUMENTS}}" });
  });

  test("whatever they are, nothing is thrown, and without a tag nothing changes", () => {
    const pieces = [
      "{{#if args}}",
      "{{else}}",
      "{{/if}}",
      "{{#each args}}",
      "{{/each}}",
      "{{this}}",
      "{{args.[0]}}",
      "{{",
      "$1",
      "x",
    ];
    const template = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((list) => list.join(""));
    fc.assert(
      fc.property(template, fc.string(), (text, given) => {
        const result = rendered(text, given);
        if (countTags(text) === 0) expect(result).toBe(fillIn(text, splitArguments(given)));
      }),
    );
  });
});
