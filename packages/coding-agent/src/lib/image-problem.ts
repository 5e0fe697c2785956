const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Providers refuse larger ones, most of them far earlier. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Why no model could see an image, in a sentence that names the field. One such image in a conversation fails every request from then on. */
export function imageProblem({ data, mimeType }: { data: string; mimeType: string }): string | undefined {
  if (!IMAGE_TYPES.has(mimeType))
    return `"mimeType" is "${mimeType}", it must be one of ${[...IMAGE_TYPES].join(", ")}`;
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > MAX_IMAGE_BYTES) {
    return `"data" has ${megabytes(bytes)}, at most ${megabytes(MAX_IMAGE_BYTES)} are possible: make the image smaller`;
  }
  if (data === "" || !isBase64(data)) return '"data" is not base64';
  return undefined;
}

/** Padding is optional and line breaks are not expected: what comes out must be what went in. */
function isBase64(data: string): boolean {
  let end = data.length;
  // Not by `=+$`, which takes seconds when there are many of them and something behind.
  while (data[end - 1] === "=") end--;
  return (
    Buffer.from(data, "base64")
      .toString("base64")
      .replace(/={1,2}$/, "") === data.slice(0, end)
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
