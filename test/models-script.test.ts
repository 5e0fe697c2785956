import { readFileSync } from "node:fs";
import type { CatalogueEntry, CatalogueFile } from "@tiller/ai/catalogue";
import type { ProviderRow } from "@tiller/ai/providers/provider-row";
import { describe, expect, test } from "vitest";
import { providersTable, renderModelsDoc } from "../scripts/generate/models-doc.ts";
import { buildCatalogue, type Inputs, renderCatalogue, type Wanted } from "../scripts/models/build.ts";
import { currentPrices, findPriced, type PricedModel, pricesOf } from "../scripts/models/prices.ts";

/** The pure part of scripts/models.ts, with small inputs. */

const row = (id: string): ProviderRow => ({ id, name: id, api: "a", baseUrl: `https://${id}`, keyVariables: ["K"] });
const priced = (id: string, fields: Partial<PricedModel> = {}): PricedModel => ({
  ...{ id, match: { equals: id }, context_window: 1000, prices: { input_mtok: 1, output_mtok: 2 } },
  ...fields,
});
const chat = { toolCalling: true, maxInputTokens: 800, maxOutputTokens: 100 };

function inputs(models: readonly Wanted[], fields: Partial<Inputs> = {}): Inputs {
  return {
    sources: ["prices@1 sha512-x"],
    prices: new Map([["acme-prices", { id: "acme-prices", models: [priced("one"), priced("two", { name: "Two" })] }]]),
    profiles: { acme: { one: { ...chat, imageInputs: true }, two: { ...chat, reasoningOutput: true } } },
    overlay: { acme: { prices: "acme-prices", models, alsoProfiled: { except: [] } } },
    rows: [row("acme"), row("shop")],
    asOf: "2026-06-01",
    ...fields,
  };
}

const listed = (given: Inputs, provider = "acme"): readonly CatalogueEntry[] =>
  buildCatalogue(given).providers[provider] ?? [];

describe("what is listed", () => {
  test("what we want comes first, in our order; then what both sources know, by id", () => {
    expect(listed(inputs([{ id: "two" }])).map(({ id }) => id)).toEqual(["two", "one"]);
  });

  test("the sources fill what we leave out, and we have the last word", () => {
    expect(listed(inputs([{ id: "two", maxTokens: 50, thinkingLevelMap: { off: null } }]))[0]).toEqual({
      ...{ id: "two", name: "Two", contextWindow: 1000, maxTokens: 50, cost: [1, 2, 0, 0] },
      ...{ reasoning: true, thinkingLevelMap: { off: null } },
    });
    expect(listed(inputs([{ id: "two", reasoning: false, name: "Zwei" }]))[0]).toEqual({
      ...{ id: "two", name: "Zwei", contextWindow: 1000, maxTokens: 100, cost: [1, 2, 0, 0] },
    });
  });

  test.each([
    ["no tools", { ...chat, toolCalling: false }],
    ["pictures as answers", { ...chat, imageOutputs: true }],
    ["no known limit", { toolCalling: true, maxInputTokens: 800 }],
  ])("a model with %s is not listed", (_, profile) => {
    expect(listed(inputs([], { profiles: { acme: { one: profile } } }))).toEqual([]);
  });

  test("nor is one without a price, one that is deprecated or one we do not want", () => {
    const prices = new Map([["acme-prices", { id: "p", models: [priced("one", { deprecated: true })] }]]);
    expect(listed(inputs([], { prices }))).toEqual([]);
    const overlay = { acme: { prices: "acme-prices", models: [], alsoProfiled: { except: [/^o/] } } };
    expect(listed(inputs([], { overlay })).map(({ id }) => id)).toEqual(["two"]);
  });

  test("a model that both know and that cannot stop thinking has no level for it", () => {
    const alsoProfiled = { except: [], alwaysThinks: [/^tw/] };
    const overlay = { acme: { prices: "acme-prices", models: [], alsoProfiled } };
    const levels = listed(inputs([], { overlay })).map(({ thinkingLevelMap }) => thinkingLevelMap);
    expect(levels).toEqual([undefined, { off: null }]);
  });

  test("a shop that sells a model of another is like it", () => {
    const overlay = {
      acme: { prices: "acme-prices", models: [{ id: "one" }] },
      shop: { models: [{ id: "acme/one", like: "acme/one", compat: { own: true } }] },
    };
    expect(listed(inputs([], { overlay }), "shop")).toEqual([
      { id: "acme/one", contextWindow: 1000, maxTokens: 100, cost: [1, 2, 0, 0], images: true, compat: { own: true } },
    ]);
  });

  test.each<[wanted: Wanted, complaint: string]>([
    [{ id: "three" }, "acme/three: no source tells its contextWindow, maxTokens, cost"],
    [{ id: "three", like: "acme/none" }, "acme/three is to be like acme/none, which is not listed"],
  ])("a model nobody knows enough about (%j) stops the script", (wanted, complaint) => {
    expect(() => buildCatalogue(inputs([wanted]))).toThrow(complaint);
  });
});

describe("prices", () => {
  test("are those of the day, and not those of some hours", () => {
    const prices = [
      { prices: { input_mtok: 1 } },
      { constraint: { type: "start_date", start_date: "2026-05-01" }, prices: { input_mtok: 2 } },
      { constraint: { type: "start_date", start_date: "2026-07-01" }, prices: { input_mtok: 3 } },
      { constraint: { type: "time_of_date" }, prices: { input_mtok: 9 } },
    ];
    expect(currentPrices(prices, "2026-04-30")).toEqual({ input_mtok: 1 });
    expect(currentPrices(prices, "2026-06-01")).toEqual({ input_mtok: 2 });
    expect(currentPrices(prices, "2026-07-01")).toEqual({ input_mtok: 3 });
  });

  test("that rise with the prompt become rows", () => {
    const list = {
      input_mtok: { base: 1, tiers: [{ start: 200, price: 2 }] },
      output_mtok: { base: 5, tiers: [{ start: 200, price: 7 }] },
      cache_read_mtok: 0.1,
    };
    expect(pricesOf(list)).toEqual({ cost: [1, 5, 0.1, 0], costTiers: [[200, 2, 7, 0.1, 0]] });
    expect(pricesOf({ input_audio_mtok: 3 })).toBeUndefined();
  });

  test("are found by id, else by rule", () => {
    const provider = {
      id: "p",
      models: [
        priced("family", { match: { or: [{ starts_with: "fam" }, { and: [{ contains: "a" }, { ends_with: "z" }] }] } }),
        priced("family-small"),
        priced("dated", { match: { regex: "^d-\\d+$" } }),
      ],
    };
    const idOf = (id: string) => findPriced(provider, id)?.id;
    expect(["family-small", "family-huge", "xaz", "d-12", "d-x"].map(idOf)).toEqual([
      ...["family-small", "family", "family", "dated", undefined],
    ]);
    expect(findPriced(undefined, "x")).toBeUndefined();
  });
});

test("the same input gives the same file, one model a line", () => {
  const text = renderCatalogue(buildCatalogue(inputs([{ id: "two" }])));
  expect(renderCatalogue(buildCatalogue(inputs([{ id: "two" }])))).toBe(text);
  expect(text.split("\n")).toEqual([
    '{"sources":[',
    '"prices@1 sha512-x"',
    "],",
    '"providers":{',
    '"acme":[',
    '{"id":"two","name":"Two","contextWindow":1000,"maxTokens":100,"cost":[1,2,0,0],"reasoning":true},',
    '{"id":"one","contextWindow":1000,"maxTokens":100,"cost":[1,2,0,0],"images":true}',
    "]",
    "}}",
    "",
  ]);
});

describe("docs/models.md", () => {
  const file = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const { sources } = JSON.parse(file("packages/ai/src/models.json")) as CatalogueFile;

  test("has the tables of today", () => {
    const page = file("docs/models.md");
    expect(renderModelsDoc(page, sources)).toBe(page);
    expect(page).toContain(providersTable());
  });

  test("is not written without its marks", () => {
    expect(() => renderModelsDoc("# Models\n", sources)).toThrow('docs/models.md has no place for "providers"');
  });
});
