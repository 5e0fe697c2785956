import type { Json } from "./json-schema.ts";

/** JSON Schema as Python types: objects become `TypedDict` classes, everything else an annotation. */

const SCALARS: Readonly<Record<string, string>> = {
  string: "str",
  number: "float",
  integer: "int",
  boolean: "bool",
  null: "None",
  object: "Dict[str, Any]",
};

/** Names that Python keeps for itself; a field of that name is written with an underscore behind it. */
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return self try while with yield`.split(/\s+/),
);

export function snakeCase(name: string): string {
  const snake = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return KEYWORDS.has(snake) ? `${snake}_` : snake;
}

export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** A comment or a text of documentation on one line. */
export function oneLine(text: unknown): string {
  return String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll('"""', "'''");
}

/** Collects classes and aliases while annotations are asked for. A name stands for one type only. */
export class PythonTypes {
  readonly #blocks = new Map<string, string>();

  /** The names that were defined, in their order. */
  names(): string[] {
    return [...this.#blocks.keys()];
  }

  source(): string {
    return [...this.#blocks.values()].join("\n\n\n");
  }

  /** The annotation of a schema; what has no name of its own is defined under `name`. */
  annotation(node: Json, name: string): string {
    if (typeof node.$ref === "string") return pascalCase(node.$ref.replace("#/$defs/", ""));
    if (Array.isArray(node.anyOf)) return this.#union(node.anyOf as Json[], name);
    if ("const" in node) return `Literal[${literal(node.const)}]`;
    if (node.type === "array") return `List[${this.annotation((node.items ?? {}) as Json, `${name}Item`)}]`;
    if (node.properties !== undefined) return this.#defineClass(name, node);
    return SCALARS[String(node.type)] ?? "Any";
  }

  /** Defines `name` itself: a class, or an alias for what is none. */
  define(name: string, node: Json): void {
    if (node.properties !== undefined) this.#defineClass(name, node);
    else this.alias(name, this.annotation(node, name), node.description);
  }

  /** The annotation stands in quotes, so that the order of the definitions does not matter. */
  alias(name: string, annotation: string, description?: unknown): void {
    if (annotation === name) return;
    this.#add(name, `${comment(description, "")}${name} = ${quotedNames(annotation)}`);
  }

  #union(options: Json[], name: string): string {
    const annotations = options.map((option, index) =>
      this.annotation(option, `${name}${kindOf(option, options, index)}`),
    );
    const distinct = [...new Set(annotations)];
    const literals = distinct.filter((text) => text.startsWith("Literal["));
    const rest = distinct.filter((text) => !text.startsWith("Literal["));
    const values = literals.map((text) => text.slice("Literal[".length, -1)).join(", ");
    const all = literals.length === 0 ? rest : [`Literal[${values}]`, ...rest];
    return all.length === 1 ? (all[0] ?? "Any") : `Union[${all.join(", ")}]`;
  }

  #defineClass(name: string, node: Json): string {
    const required = new Set((node.required ?? []) as string[]);
    const fields = Object.entries((node.properties ?? {}) as Record<string, Json>);
    const lines = (wanted: boolean) =>
      fields
        .filter(([field]) => required.has(field) === wanted)
        .map(([field, schema]) => {
          if (!/^[A-Za-z_]\w*$/.test(field) || KEYWORDS.has(field))
            throw new Error(`the field "${field}" of ${name} cannot be written in a Python class`);
          const type = this.annotation(schema, `${name}${pascalCase(field)}`);
          return `${comment(schema.description, "    ")}    ${field}: ${type}`;
        });
    const must = lines(true);
    const may = lines(false);
    const text = `    """${oneLine(node.description ?? `\`${name}\` on the wire.`)}"""\n`;
    if (may.length === 0) this.#add(name, `class ${name}(TypedDict):\n${[text, ...must].join("\n")}`);
    else {
      // `NotRequired` is younger than Python 3.9, so what must be there stands in a class of its own.
      const base = must.length === 0 ? "TypedDict" : `_${name}`;
      const head = must.length === 0 ? "" : `class ${base}(TypedDict):\n${must.join("\n")}\n\n\n`;
      this.#add(name, `${head}class ${name}(${base}, total=False):\n${[text, ...may].join("\n")}`);
    }
    return name;
  }

  #add(name: string, block: string): void {
    const known = this.#blocks.get(name);
    if (known !== undefined && known !== block) throw new Error(`two Python types would be called ${name}`);
    this.#blocks.set(name, block);
  }
}

function comment(description: unknown, indent: string): string {
  return description === undefined ? "" : `${indent}#: ${oneLine(description)}\n`;
}

function literal(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

/** `Union[A, Literal["b"]]` with every class name in quotes. */
function quotedNames(annotation: string): string {
  const typing = new Set(["Union", "Literal", "List", "Dict", "Any", "None", "True", "False"]);
  return annotation.replaceAll(/"[^"]*"|[A-Za-z_]\w*/g, (word) => {
    const isName = /^[A-Z_]/.test(word) && !typing.has(word);
    return isName ? `"${word}"` : word;
  });
}

/** What tells this option of a union from the others: the value of a constant field, or its number. */
function kindOf(option: Json, options: readonly Json[], index: number): string {
  const objects = options.filter((other) => other.properties !== undefined);
  if (objects.length < 2) return "";
  for (const field of ["type", "method", "role", "kind"]) {
    const values = objects.map((other) => (other.properties as Record<string, Json>)[field]?.const);
    if (values.every((value) => typeof value === "string") && new Set(values).size === values.length)
      return pascalCase(snakeCase(String((option.properties as Record<string, Json>)?.[field]?.const ?? index)));
  }
  return String(index + 1);
}
