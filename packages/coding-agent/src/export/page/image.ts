import { type Child, el } from "./dom.ts";

/** Pictures in messages. What a picture says it is does not matter, only what it begins with; drawings with scripts are none. */

const STARTS: readonly (readonly [type: string, isSo: (start: string) => boolean])[] = [
  ["png", (start) => start.startsWith("\x89PNG\r\n\x1a\n")],
  ["jpeg", (start) => start.startsWith("\xff\xd8\xff")],
  ["gif", (start) => /^GIF8[79]a/.test(start)],
  ["webp", (start) => start.startsWith("RIFF") && start.slice(8, 12) === "WEBP"],
];

export function imageElement(data: unknown, alt = "Image"): Child {
  const base64 = typeof data === "string" ? data : "";
  const type = imageType(base64);
  if (!type)
    return el(
      "p",
      { class: "note" },
      `An image that is none, or of a kind that is not shown (${base64.length} characters).`,
    );
  const image = el("img", { alt, decoding: "async" });
  image.addEventListener("load", () => image.dispatchEvent(new CustomEvent("resized", { bubbles: true })));
  image.addEventListener("error", () =>
    image.replaceWith(el("p", { class: "note" }, "An image that cannot be shown: it is damaged.")),
  );
  image.src = `data:image/${type};base64,${base64}`;
  return image;
}

function imageType(base64: string): string | undefined {
  const head = base64.slice(0, 32);
  if (!/^[A-Za-z0-9+/]{8,32}={0,2}$/.test(head)) return undefined;
  const start = atob(head.slice(0, head.length - (head.length % 4)));
  return STARTS.find(([, isSo]) => isSo(start))?.[0];
}
