/**
 * One stream for two: what the agent says, and the line that a person writes. While something stands in the line, what the
 * agent says waits; it comes when the line is sent or empty again.
 */
export interface Screen {
  /** Goes on where the text is. */
  flow(text: string): void;
  /** Stand alone. */
  lines(lines: readonly string[]): void;
  /** Shows the line that is being written; `undefined` when nothing can be written now. */
  edit(line: string | undefined): void;
  /** The line was sent: it stays where it is. */
  sent(): void;
}

export interface ScreenOptions {
  write(text: string): void;
  /** In front of the line that is written. */
  mark: string;
  /** A person looks at it: without one, no line is shown. */
  isTerminal: boolean;
}

const ERASE_LINE = "\r\u001b[K";

export function createScreen({ write, mark, isTerminal }: ScreenOptions): Screen {
  let isLineStart = true;
  /** The line as it is shown; undefined when it is not. */
  let shown: string | undefined;
  let held = "";

  const put = (text: string): void => {
    if (text === "") return;
    write(text);
    isLineStart = text.endsWith("\n");
  };
  const hide = (): void => {
    if (shown === undefined) return;
    write(ERASE_LINE);
    shown = undefined;
    isLineStart = true;
  };
  const release = (): void => {
    const text = held;
    held = "";
    put(text);
  };
  /** Where the text will be once what waits is out. */
  const isFresh = (): boolean => (held === "" ? isLineStart || shown !== undefined : held.endsWith("\n"));
  const show = (text: string): void => {
    if (text === "") return;
    if (shown !== undefined && shown !== "") {
      held += text;
      return;
    }
    const wasShown = shown !== undefined;
    hide();
    put(text);
    if (wasShown) draw("");
  };
  const draw = (line: string): void => {
    if (!isLineStart) put("\n");
    const visible = line.split("\n").at(-1) ?? "";
    write(`${mark}${visible}`);
    isLineStart = false;
    shown = line;
  };

  return {
    flow: show,
    lines(lines) {
      const start = isFresh() ? "" : "\n";
      show(start + lines.map((line) => `${line}\n`).join(""));
    },
    edit(line) {
      if (!isTerminal || line === shown) return;
      hide();
      if (line === undefined || line === "") release();
      if (line !== undefined) draw(line);
    },
    sent() {
      if (shown !== undefined) write("\n");
      shown = undefined;
      isLineStart = true;
      release();
    },
  };
}
