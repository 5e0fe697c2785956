import { expect, test } from "vitest";
import { secretsOfAuthFile, secretsOfModelsFile, valuesOf, variablesOf } from "./configured-secrets.ts";

const models = {
  providers: {
    corp: {
      baseUrl: "https://box/v1?api-version=1&key=in-query",
      apiKey: "$CORP_KEY",
      headers: { "x-h": "$HDR", Cookie: `id=\${ID}; me`, Accept: "application/json", "x-plain": "plain text" },
      models: [
        { id: "m", headers: { "x-m": "!pass show $HOME" }, compat: { options: { token: `\${OPT}`, region: "r" } } },
      ],
      modelOverrides: { n: { headers: { "x-n": "in-override" } } },
    },
  },
};
const auth = { corp: { type: "api_key", key: `\${STORED}` }, other: { type: "oauth", access: "abc", expires: 5 } };
const texts = [...secretsOfModelsFile(models), ...secretsOfAuthFile(auth)];

test("the variables that secrets come from, but not those of a command line", () => {
  expect(variablesOf(texts).toSorted()).toEqual(["CORP_KEY", "HDR", "ID", "OPT", "STORED"]);
});

test("what says where and for whom a program runs is no secret", () => {
  const options = { keyFilename: `\${HOME}/vertex.json`, token: "$TOKEN_OF_MINE" };
  expect(variablesOf(secretsOfModelsFile({ headers: { "x-user": "$USER" }, options }))).toEqual(["TOKEN_OF_MINE"]);
});

test("the secrets themselves, but not what a command would print, and not where something is", () => {
  const env = { CORP_KEY: "k", HDR: "Bearer h", ID: "i", OPT: "o", STORED: "s" };
  const values = valuesOf(texts, env);
  for (const value of ["k", "Bearer h", "h", "id=i; me", "o", "s", "abc", "in-query", "plain text", "in-override"]) {
    expect(values).toContain(value);
  }
  for (const value of ["r", "application/json", "!pass show $HOME"]) expect(values).not.toContain(value);
  expect(valuesOf(texts, {})).not.toContain("$CORP_KEY");
});

test("what is no object has none", () => {
  for (const value of [undefined, null, "x", 5, [], { headers: 5, apiKey: [], baseUrl: null, options: 1 }]) {
    expect(secretsOfModelsFile(value)).toEqual([]);
  }
});
