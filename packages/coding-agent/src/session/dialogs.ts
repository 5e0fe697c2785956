/** What a person can be asked and shown. */
export interface Dialogs<How = DialogOptions> {
  select(
    title: string,
    options: readonly (string | { label: string; description?: string })[],
    how?: How,
  ): Promise<string | undefined>;
  confirm(title: string, message: string, how?: How): Promise<boolean>;
  input(title: string, placeholder?: string, how?: How): Promise<string | undefined>;
  editor(title: string, prefill?: string, how?: How): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, lines: readonly string[] | undefined, placement?: "aboveEditor" | "belowEditor"): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
}

export interface DialogOptions {
  /** The question is withdrawn. */
  signal?: AbortSignal;
  /** Milliseconds after which nobody waits any longer. */
  timeout?: number;
}
