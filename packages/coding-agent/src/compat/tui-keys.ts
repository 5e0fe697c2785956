/** Keys as terminals send them. Nobody types here, but extensions name keys and may be asked to handle them in tests. */

const PUNCTUATION = {
  backtick: "`",
  hyphen: "-",
  equals: "=",
  leftbracket: "[",
  rightbracket: "]",
  backslash: "\\",
  semicolon: ";",
  quote: "'",
  comma: ",",
  period: ".",
  slash: "/",
  exclamation: "!",
  at: "@",
  hash: "#",
  dollar: "$",
  percent: "%",
  caret: "^",
  ampersand: "&",
  asterisk: "*",
  leftparen: "(",
  rightparen: ")",
  underscore: "_",
  plus: "+",
  pipe: "|",
  tilde: "~",
  leftbrace: "{",
  rightbrace: "}",
  colon: ":",
  lessthan: "<",
  greaterthan: ">",
  question: "?",
};

const NAMED =
  "escape esc enter return tab space backspace delete insert clear home end pageUp pageDown up down left right f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12";

const MODIFIERS = ["ctrl", "shift", "alt", "super"] as const;
const COMBINATIONS = {
  ctrl: "ctrl",
  shift: "shift",
  alt: "alt",
  super: "super",
  ctrlShift: "ctrl+shift",
  shiftCtrl: "shift+ctrl",
  ctrlAlt: "ctrl+alt",
  altCtrl: "alt+ctrl",
  shiftAlt: "shift+alt",
  altShift: "alt+shift",
  ctrlSuper: "ctrl+super",
  superCtrl: "super+ctrl",
  ctrlShiftAlt: "ctrl+shift+alt",
};

/** `Key.enter`, `Key.ctrl("c")`. */
export const Key: Readonly<Record<string, string | ((key: string) => string)>> = {
  ...Object.fromEntries(NAMED.split(" ").map((name) => [name, name])),
  ...PUNCTUATION,
  ...Object.fromEntries(
    Object.entries(COMBINATIONS).map(([name, prefix]) => [name, (key: string) => `${prefix}+${key}`]),
  ),
};

/** What a terminal sends for keys that are no characters. */
const SEQUENCES: Readonly<Record<string, string>> = {
  "\x1b": "escape",
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  " ": "space",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b[A": "up",
  "\x1b[B": "down",
  "\x1b[C": "right",
  "\x1b[D": "left",
  "\x1bOA": "up",
  "\x1bOB": "down",
  "\x1bOC": "right",
  "\x1bOD": "left",
  "\x1b[H": "home",
  "\x1b[F": "end",
  "\x1b[1~": "home",
  "\x1b[4~": "end",
  "\x1b[2~": "insert",
  "\x1b[3~": "delete",
  "\x1b[5~": "pageUp",
  "\x1b[6~": "pageDown",
  "\x1b[Z": "shift+tab",
  "\x1b\r": "alt+enter",
  "\x1bOP": "f1",
  "\x1bOQ": "f2",
  "\x1bOR": "f3",
  "\x1bOS": "f4",
};

/** The key in a piece of input, such as `ctrl+c`; undefined for what is none. */
export function parseKey(data: string): string | undefined {
  const known = SEQUENCES[data];
  if (known !== undefined) return known;
  const sequence = data.startsWith("\x1b[") ? data.slice(2) : "";
  const modified = /^1;(\d+)(?::\d+)?([ABCDHF])$/.exec(sequence);
  if (modified) return withModifiers(Number(modified[1]), SEQUENCES[`\x1b[${modified[2]}`] ?? "");
  const kitty = /^(\d+)(?::\d*)*(?:;(\d+)(?::\d+)?)?u$/.exec(sequence);
  if (kitty) return kittyKey(Number(kitty[1]), Number(kitty[2] ?? 1));
  if (data.length === 2 && data.startsWith("\x1b")) return `alt+${parseKey(data.slice(1)) ?? data.slice(1)}`;
  if (data.length === 1 && data >= "\x01" && data <= "\x1a")
    return `ctrl+${String.fromCharCode(data.charCodeAt(0) + 96)}`;
  return [...data].length === 1 && data >= " " ? data.toLowerCase() : undefined;
}

function kittyKey(code: number, modifiers: number): string | undefined {
  // A code that is no character is no key either.
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : "";
  const key = SEQUENCES[character] ?? character.toLowerCase();
  return key === "" ? undefined : withModifiers(modifiers, key);
}

function withModifiers(code: number, key: string): string {
  const bits = code - 1;
  const names = [bits & 4 && "ctrl", bits & 1 && "shift", bits & 2 && "alt", bits & 8 && "super"].filter(Boolean);
  return [...names, key].join("+");
}

export function matchesKey(data: string, key: string): boolean {
  const pressed = parseKey(data);
  return pressed !== undefined && normal(pressed) === normal(String(key));
}

const SAME: Readonly<Record<string, string>> = { esc: "escape", return: "enter" };

/** `shift+CTRL+c` and `ctrl+shift+c` are the same. */
function normal(key: string): string {
  const parts = key.toLowerCase().split("+");
  // `ctrl++` ends with the key itself.
  const last = parts.at(-1) === "" ? "+" : (parts.at(-1) ?? "");
  const held = MODIFIERS.filter((name) => parts.slice(0, -1).includes(name));
  return [...held, SAME[last] ?? last].join("+");
}

/** Event kinds of the kitty protocol: 2 is a repetition, 3 a release. */
export function isKeyRelease(data: string): boolean {
  return data.startsWith("\x1b[") && /^[\d:;]*:3[A-Zu~]$/.test(data.slice(2));
}

export function isKeyRepeat(data: string): boolean {
  return data.startsWith("\x1b[") && /^[\d:;]*:2[A-Zu~]$/.test(data.slice(2));
}

/** Which keys an action has. Nobody presses them, so what was set is only remembered. */
export class KeybindingsManager {
  readonly #definitions: Record<string, unknown>;
  #user: Record<string, unknown> = {};

  constructor(definitions: Record<string, unknown> = {}) {
    this.#definitions = definitions;
  }
  matches(data: string, action: string): boolean {
    return this.getKeys(action).some((key) => matchesKey(data, key));
  }
  getKeys(action: string): string[] {
    const definition = this.#definitions[action] as { defaultKeys?: string | string[] } | undefined;
    return [(this.#user[action] ?? definition?.defaultKeys ?? []) as string | string[]].flat();
  }
  getDefinition(action: string): unknown {
    return this.#definitions[action];
  }
  getConflicts(): unknown[] {
    return [];
  }
  setUserBindings(bindings: Record<string, unknown>): void {
    this.#user = bindings;
  }
  getUserBindings(): Record<string, unknown> {
    return this.#user;
  }
  getResolvedBindings(): Record<string, string[]> {
    return Object.fromEntries(Object.keys(this.#definitions).map((action) => [action, this.getKeys(action)]));
  }
}

const DEFAULT_KEYS: Readonly<Record<string, string | string[]>> = {
  "tui.input.newLine": "shift+enter",
  "tui.input.submit": "enter",
  "tui.input.tab": "tab",
  "tui.input.copy": "ctrl+c",
  "tui.select.up": "up",
  "tui.select.down": "down",
  "tui.select.pageUp": "pageUp",
  "tui.select.pageDown": "pageDown",
  "tui.select.confirm": "enter",
  "tui.select.cancel": ["escape", "ctrl+c"],
};

export const TUI_KEYBINDINGS: Record<string, unknown> = Object.fromEntries(
  Object.entries(DEFAULT_KEYS).map(([action, defaultKeys]) => [action, { defaultKeys, description: action }]),
);

/** What a person would press for an action, as a hint shows it. */
export function keyText(action: string): string {
  const keys = DEFAULT_KEYS[action];
  return keys === undefined ? action : [keys].flat().join("/");
}
