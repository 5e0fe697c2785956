/** The one place of this folder where text that is no configuration becomes data. Throws what JSON.parse throws. */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ""));
}
