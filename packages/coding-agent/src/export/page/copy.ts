import { button, icon } from "./dom.ts";

/** Buttons that copy a text as it is in the session, not as it is shown. */

export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const element = button(label, icon("copy"), () => {
    void copy(text()).then((isDone) => confirm(element, isDone));
  });
  element.classList.add("copy");
  return element;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers that do not trust a local file with the clipboard still copy what is selected.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "off-screen";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}

function confirm(element: HTMLButtonElement, isDone: boolean): void {
  element.replaceChildren(icon(isDone ? "check" : "close"));
  element.classList.add("done");
  say(isDone ? "Copied." : "Could not copy.");
  const restore = (): void => {
    element.replaceChildren(icon("copy"));
    element.classList.remove("done");
  };
  element.addEventListener("animationend", restore, { once: true });
}

/** For those who do not see the screen. */
export function say(text: string): void {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}
