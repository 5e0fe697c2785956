/** Colours for a terminal that is not there: every text stays as it is. */

type Style = (text: string) => string;

const plain: Style = (text) => text;

/** As extensions know it from `ctx.ui.theme`, and as a class they may make one of. */
export class Theme {
  readonly name: string;
  readonly sourcePath: string | undefined = undefined;

  constructor(...given: unknown[]) {
    const options = given[3] as { name?: unknown } | undefined;
    this.name = typeof options?.name === "string" ? options.name : "plain";
  }

  fg(_colour: string, text: string): string {
    return text;
  }
  bg(_colour: string, text: string): string {
    return text;
  }
  bold(text: string): string {
    return text;
  }
  italic(text: string): string {
    return text;
  }
  dim(text: string): string {
    return text;
  }
  underline(text: string): string {
    return text;
  }
  inverse(text: string): string {
    return text;
  }
  strikethrough(text: string): string {
    return text;
  }
  getFgAnsi(_colour: string): string {
    return "";
  }
  getBgAnsi(_colour: string): string {
    return "";
  }
  getColorMode(): "truecolor" | "256color" {
    return "256color";
  }
  getThinkingBorderColor(_level: string): Style {
    return plain;
  }
  getBashModeBorderColor(): Style {
    return plain;
  }
}

export const plainTheme: Theme = new Theme();

/** Every style there may be asked for, also those of later versions. */
function anyStyle(own: Record<string, unknown> = {}): Record<string, unknown> {
  return new Proxy(own, {
    get: (target, name) =>
      typeof name === "symbol" || name in target || name === "then" ? Reflect.get(target, name) : plain,
  });
}

export function getMarkdownTheme(): Record<string, unknown> {
  return anyStyle({ highlightCode: (code: string) => code.split("\n"), codeBlockIndent: "  " });
}

export function getSelectListTheme(): Record<string, unknown> {
  return anyStyle();
}

export function getSettingsListTheme(): Record<string, unknown> {
  return anyStyle({ cursor: "> " });
}

export function getEditorTheme(): Record<string, unknown> {
  return anyStyle({ selectList: getSelectListTheme() });
}
