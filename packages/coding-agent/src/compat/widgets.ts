import { CancellableLoader, Container, Editor } from "./tui-components.ts";
import { keyText } from "./tui-keys.ts";

/** The larger building blocks that extensions take from the terminal program. Nothing is drawn. */

/** A line from edge to edge. */
export class DynamicBorder {
  readonly #colour: (text: string) => string;

  constructor(colour: (text: string) => string = (text) => text) {
    this.#colour = colour;
  }
  invalidate(): void {
    // There is no cache.
  }
  render(width: number): string[] {
    return [this.#colour("─".repeat(Math.max(1, width)))];
  }
}

/** Shown while something takes its time; `signal` is what whoever works listens to. */
export class BorderedLoader extends Container {
  readonly #loader: CancellableLoader;

  constructor(tui?: unknown, _theme?: unknown, message = "", _options?: unknown) {
    super();
    this.#loader = new CancellableLoader(tui, undefined, undefined, message);
    this.addChild(this.#loader);
  }
  get signal(): AbortSignal {
    return this.#loader.signal;
  }
  get onAbort(): (() => void) | undefined {
    return this.#loader.onAbort;
  }
  set onAbort(handler: (() => void) | undefined) {
    this.#loader.onAbort = handler;
  }
}

/** The editor that extensions extend. */
export class CustomEditor extends Editor {
  readonly actionHandlers = new Map<string, () => void>();
  onEscape?: () => void;
  onCtrlD?: () => void;
  onPasteImage?: () => void;
  onExtensionShortcut?: (data: string) => boolean;

  onAction(action: string, handler: () => void): void {
    this.actionHandlers.set(action, handler);
  }
}

export function keyHint(action: string, description: string): string {
  return `${keyText(action)} ${description}`;
}

export function rawKeyHint(key: string, description: string): string {
  return `${key} ${description}`;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  bash: "sh bash zsh",
  c: "c h",
  cpp: "cpp cc cxx hpp hh",
  csharp: "cs",
  css: "css",
  dart: "dart",
  diff: "diff patch",
  dockerfile: "dockerfile",
  elixir: "ex exs",
  go: "go",
  graphql: "graphql gql",
  haskell: "hs",
  html: "html htm",
  ini: "ini",
  java: "java",
  javascript: "js mjs cjs jsx",
  json: "json jsonc",
  kotlin: "kt kts",
  less: "less",
  lua: "lua",
  makefile: "makefile",
  markdown: "md markdown mdx",
  perl: "pl pm",
  php: "php",
  powershell: "ps1",
  python: "py pyi",
  r: "r",
  ruby: "rb",
  rust: "rs",
  scala: "scala",
  scss: "scss",
  sql: "sql",
  swift: "swift",
  toml: "toml",
  typescript: "ts mts cts tsx",
  vim: "vim",
  xml: "xml svg",
  yaml: "yaml yml",
};

/** The language of a file by its name; undefined when it is not known. */
export function getLanguageFromPath(path: string): string | undefined {
  const name = path.split(/[/\\]/).at(-1)?.toLowerCase() ?? "";
  const ending = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : name;
  return Object.keys(LANGUAGES).find((language) => LANGUAGES[language]?.split(" ").includes(ending));
}

/** In lines, as they are: there are no colours. */
export function highlightCode(code: string, _language?: string): string[] {
  return code.split("\n");
}
