import { type Argument, fillIn, joined } from "./arguments.ts";

/**
 * The few words of Handlebars that templates of omp and xcsh use for their arguments: `{{ARGUMENTS}}`, `{{arguments}}`,
 * `{{args}}`, `{{args.[0]}}`, and `{{#if X}}`, `{{#unless X}}` (with `{{else}}`) and `{{#each args}}` (with `{{this}}`). All
 * other braces stay as they are: a template may well be about such a language. Pure.
 */

const NAME = String.raw`(?:args(?:\.\[?\d+\]?)?|ARGUMENTS|arguments|this)`;
const TAG = new RegExp(
  String.raw`\{\{\s*(?:#(?<block>if|unless|each)\s+(?<about>${NAME})|(?<otherwise>else)|/(?<end>if|unless|each)|(?<name>${NAME}))\s*\}\}`,
  "g",
);

interface Token {
  /** As it stands in the template. */
  text: string;
  block?: string;
  about?: string;
  otherwise?: string;
  end?: string;
  name?: string;
}

type Part = { text: string } | { name: string } | { block: string; about: string; inside: Part[]; otherwise: Part[] };

/** How many texts the arguments may be put into at most. */
export function countTags(template: string): number {
  return template.match(TAG)?.length ?? 0;
}

/** With the placeholders of the text filled in as well; what comes from an argument is never looked at again. */
export function renderTags(template: string, given: readonly Argument[]): string {
  const parts = parse(tokensOf(template));
  return parts ? render(parts, given, "") : fillIn(template, given);
}

function tokensOf(template: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of template.matchAll(TAG)) {
    if (match.index > at) tokens.push({ text: template.slice(at, match.index) });
    tokens.push({ text: match[0], ...match.groups });
    at = match.index + match[0].length;
  }
  if (at < template.length) tokens.push({ text: template.slice(at) });
  return tokens;
}

/** Undefined when blocks do not fit together, or would repeat what repeats: then it is no such template. */
function parse(tokens: readonly Token[]): Part[] | undefined {
  const top: Part[] = [];
  const open: { block: string; inside: Part[]; otherwise: Part[]; isOtherwise: boolean }[] = [];
  const here = (): Part[] => {
    const last = open.at(-1);
    return last ? (last.isOtherwise ? last.otherwise : last.inside) : top;
  };
  for (const { text, block, about, otherwise, end, name } of tokens) {
    const last = open.at(-1);
    if (block !== undefined && about !== undefined) {
      // Seven of them, one in the other, and twenty arguments are a thousand million pieces.
      if (block === "each" && open.some((outer) => outer.block === "each")) return undefined;
      const begun = { block, about, inside: [], otherwise: [] };
      here().push(begun);
      open.push({ ...begun, isOtherwise: false });
    } else if (otherwise !== undefined) {
      if (!last || last.isOtherwise) return undefined;
      last.isOtherwise = true;
    } else if (end !== undefined) {
      if (open.pop()?.block !== end) return undefined;
    } else here().push(name === undefined ? { text } : { name });
  }
  return open.length === 0 ? top : undefined;
}

function render(parts: readonly Part[], given: readonly Argument[], item: string): string {
  const texts = parts.map((part) => {
    if ("text" in part) return fillIn(part.text, given);
    if ("name" in part) return valueFor(part.name, given, item);
    const { block, about, inside, otherwise } = part;
    if (block === "each" && about === "args" && given.length > 0)
      return given.map(({ value }) => render(inside, given, value)).join("");
    const isThere = valueFor(about, given, item) !== "";
    return render(isThere === (block === "unless") || block === "each" ? otherwise : inside, given, item);
  });
  return texts.join("");
}

function valueFor(name: string, given: readonly Argument[], item: string): string {
  if (name === "this") return item;
  const place = /\d+/.exec(name)?.[0];
  return place === undefined ? joined(given) : (given[Number(place)]?.value ?? "");
}
