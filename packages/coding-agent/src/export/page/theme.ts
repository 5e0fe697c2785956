/** Light or dark: what the system says, until somebody says otherwise. */

const KEY = "tiller-theme";

type Theme = "light" | "dark";

export function startTheme(): { toggle(): void; forPrint(isPrinting: boolean): void } {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const current = (): Theme => chosen ?? (system.matches ? "dark" : "light");
  const show = (theme: Theme): void => {
    document.documentElement.dataset.theme = theme;
  };
  show(current());
  system.addEventListener("change", () => show(current()));
  return {
    toggle() {
      chosen = current() === "dark" ? "light" : "dark";
      remember(chosen);
      show(chosen);
    },
    forPrint: (isPrinting) => show(isPrinting ? "light" : current()),
  };
}

function remembered(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : undefined;
  } catch {
    // Some browsers let a local file keep nothing.
    return undefined;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // As above: then it is as the system says the next time.
  }
}
