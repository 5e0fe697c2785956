import { Silent } from "./stand-in.ts";
import { truncateToWidth, wrapTextWithAnsi } from "./tui-text.ts";

/**
 * The building blocks of terminal dialogs. They can be made, put together and asked for their plain lines; nothing is ever
 * drawn or typed here.
 */

type Style = (text: string) => string;

export interface Component {
  render(width: number): string[];
  invalidate?(): void;
}

export class Container extends Silent {
  children: Component[] = [];

  addChild(child: Component): void {
    this.children.push(child);
  }
  removeChild(child: Component): void {
    this.children = this.children.filter((other) => other !== child);
  }
  clear(): void {
    this.children = [];
  }
  override invalidate(): void {
    for (const child of this.children) child.invalidate?.();
  }
  override render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

/** Puts lines away from the edges. */
function padded(lines: readonly string[], paddingX: number, paddingY: number): string[] {
  const margin = " ".repeat(paddingX);
  const empty = Array<string>(paddingY).fill("");
  return [...empty, ...lines.map((line) => margin + line), ...empty];
}

export class Box extends Container {
  readonly paddingX: number;
  readonly paddingY: number;

  constructor(paddingX = 1, paddingY = 1, _background?: Style) {
    super();
    this.paddingX = paddingX;
    this.paddingY = paddingY;
  }
  setBgFn(_background?: Style): void {
    // There are no colours.
  }
  override render(width: number): string[] {
    const inside = super.render(Math.max(1, width - 2 * this.paddingX));
    return inside.length === 0 ? [] : padded(inside, this.paddingX, this.paddingY);
  }
}

export class Text extends Silent {
  protected text: string;
  protected readonly paddingX: number;
  protected readonly paddingY: number;

  constructor(text = "", paddingX = 1, paddingY = 1, _background?: unknown) {
    super();
    this.text = text;
    this.paddingX = paddingX;
    this.paddingY = paddingY;
  }
  setText(text: string): void {
    this.text = text;
  }
  setCustomBgFn(_background?: Style): void {
    // There are no colours.
  }
  override render(width: number): string[] {
    if (this.text.trim() === "") return [];
    return padded(wrapTextWithAnsi(this.text, Math.max(1, width - 2 * this.paddingX)), this.paddingX, this.paddingY);
  }
}

/** Shown as it is written. */
export class Markdown extends Text {}

export class TruncatedText extends Silent {
  readonly #text: string;

  constructor(text: string, _paddingX = 0, _paddingY = 0) {
    super();
    this.#text = text;
  }
  override render(width: number): string[] {
    return [truncateToWidth(this.#text.split("\n", 1)[0] ?? "", width)];
  }
}

export class Spacer extends Silent {
  #lines: number;

  constructor(lines = 1) {
    super();
    this.#lines = lines;
  }
  setLines(lines: number): void {
    this.#lines = lines;
  }
  override render(_width: number): string[] {
    return Array<string>(this.#lines).fill("");
  }
}

export class Loader extends Text {
  constructor(
    _tui?: unknown,
    _spinnerColour?: Style,
    _textColour?: Style,
    message = "Loading...",
    _indicator?: unknown,
  ) {
    super(message, 0, 0);
  }
  start(): void {
    // Nothing turns.
  }
  stop(): void {
    // Nothing turns.
  }
  setMessage(message: string): void {
    this.setText(message);
  }
  setIndicator(_indicator?: unknown): void {
    // Nothing turns.
  }
}

export class CancellableLoader extends Loader {
  readonly #abort = new AbortController();
  onAbort?: () => void;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  get aborted(): boolean {
    return this.#abort.signal.aborted;
  }
}

export class Image extends Silent {
  readonly #mimeType: unknown;

  constructor(_data: unknown, mimeType: unknown, ..._rest: unknown[]) {
    super();
    this.#mimeType = mimeType;
  }
  getImageId(): undefined {
    return undefined;
  }
  override render(_width: number): string[] {
    return [`[image ${String(this.#mimeType)}]`];
  }
}

export interface SelectItem {
  value: string;
  label?: string;
  description?: string;
}

export class SelectList extends Silent {
  onSelect?: (item: SelectItem) => void;
  onCancel?: () => void;
  onSelectionChange?: (item: SelectItem) => void;
  readonly #items: readonly SelectItem[];
  #filter = "";
  #selected = 0;

  constructor(items: readonly SelectItem[] = [], ..._rest: unknown[]) {
    super();
    this.#items = items;
  }
  setFilter(filter: string): void {
    this.#filter = filter.toLowerCase();
    this.#selected = 0;
  }
  setSelectedIndex(index: number): void {
    this.#selected = Math.max(0, Math.min(index, this.#shown().length - 1));
  }
  getSelectedItem(): SelectItem | null {
    return this.#shown()[this.#selected] ?? null;
  }
  override render(width: number): string[] {
    return this.#shown().map((item, index) =>
      truncateToWidth(`${index === this.#selected ? "> " : "  "}${item.label ?? item.value}`, width),
    );
  }
  #shown(): SelectItem[] {
    return this.#items.filter((item) => item.value.toLowerCase().startsWith(this.#filter));
  }
}

interface SettingItem {
  id: string;
  label: string;
  currentValue: string;
}

export class SettingsList extends Silent {
  readonly #items: SettingItem[];

  constructor(items: readonly SettingItem[] = [], ..._rest: unknown[]) {
    super();
    this.#items = [...items];
  }
  updateValue(id: string, value: string): void {
    const item = this.#items.find((candidate) => candidate.id === id);
    if (item) item.currentValue = value;
  }
  override render(width: number): string[] {
    return this.#items.map(({ label, currentValue }) => truncateToWidth(`${label}: ${currentValue}`, width));
  }
}

export class Input extends Silent {
  focused = false;
  onSubmit?: (value: string) => void;
  onEscape?: () => void;
  #value = "";

  getValue(): string {
    return this.#value;
  }
  setValue(value: string): void {
    this.#value = value;
  }
  override render(width: number): string[] {
    return [truncateToWidth(`> ${this.#value}`, width)];
  }
}

export class Editor extends Silent {
  focused = false;
  disableSubmit = false;
  borderColor: Style = (text) => text;
  onSubmit?: (text: string) => void;
  onChange?: (text: string) => void;
  #text = "";
  #paddingX = 0;
  #maxVisible = 5;

  constructor(..._given: unknown[]) {
    super();
  }
  getText(): string {
    return this.#text;
  }
  getExpandedText(): string {
    return this.#text;
  }
  getLines(): string[] {
    return this.#text.split("\n");
  }
  getCursor(): { line: number; col: number } {
    const lines = this.getLines();
    return { line: lines.length - 1, col: lines.at(-1)?.length ?? 0 };
  }
  setText(text: string): void {
    this.#text = text;
    this.onChange?.(text);
  }
  insertTextAtCursor(text: string): void {
    this.setText(this.#text + text);
  }
  addToHistory(_text: string): void {
    // Nobody goes back in it.
  }
  setAutocompleteProvider(_provider: unknown): void {
    // Nobody types.
  }
  isShowingAutocomplete(): boolean {
    return false;
  }
  getPaddingX(): number {
    return this.#paddingX;
  }
  setPaddingX(paddingX: number): void {
    this.#paddingX = paddingX;
  }
  getAutocompleteMaxVisible(): number {
    return this.#maxVisible;
  }
  setAutocompleteMaxVisible(count: number): void {
    this.#maxVisible = count;
  }
  override render(width: number): string[] {
    return this.getLines().map((line) => truncateToWidth(line, width));
  }
}

/** A terminal of this size, to which nothing is written. */
export class ProcessTerminal {
  readonly columns = 80;
  readonly rows = 24;
  readonly kittyProtocolActive = false;
  start(): void {
    // stdin belongs to the protocol.
  }
  stop(): void {
    // Nothing was started.
  }
  async drainInput(): Promise<void> {
    // Nothing comes in.
  }
  write(_data: string): void {
    // stdout belongs to the protocol.
  }
  moveBy(_lines: number): void {
    // There is no cursor.
  }
  hideCursor(): void {
    // There is no cursor.
  }
  showCursor(): void {
    // There is no cursor.
  }
  clearLine(): void {
    // There is nothing to clear.
  }
  clearFromCursor(): void {
    // There is nothing to clear.
  }
  clearScreen(): void {
    // There is nothing to clear.
  }
  setTitle(_title: string): void {
    // There is no window.
  }
  setProgress(_isOn: boolean): void {
    // There is no window.
  }
}

/** What `ctx.ui.custom` hands to a component, and what a program of its own would make. */
export class TUI extends Container {
  readonly terminal: unknown;

  constructor(terminal: unknown = new ProcessTerminal(), ..._rest: unknown[]) {
    super();
    this.terminal = terminal;
  }
  start(): void {
    // Nothing is drawn.
  }
  stop(): void {
    // Nothing is drawn.
  }
  requestRender(_isForced?: boolean): void {
    // Nothing is drawn.
  }
  setFocus(_component: unknown): void {
    // Nobody types.
  }
  showOverlay(_component: unknown, _options?: unknown): object {
    return { hide: () => undefined, setHidden: () => undefined, isHidden: () => true, focus: () => undefined };
  }
  hideOverlay(): void {
    // None is shown.
  }
  hasOverlay(): boolean {
    return false;
  }
  addInputListener(_listener: unknown): () => void {
    return () => undefined;
  }
  removeInputListener(_listener: unknown): void {
    // None was kept.
  }
}
