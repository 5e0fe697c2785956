/** Tells an image by its first bytes; file names lie. */

const SIGNATURES: readonly { mimeType: string; at: number; bytes: string }[][] = [
  [{ mimeType: "image/png", at: 0, bytes: "\x89PNG\r\n\x1a\n" }],
  [{ mimeType: "image/jpeg", at: 0, bytes: "\xff\xd8\xff" }],
  [{ mimeType: "image/gif", at: 0, bytes: "GIF8" }],
  [
    { mimeType: "image/webp", at: 0, bytes: "RIFF" },
    { mimeType: "image/webp", at: 8, bytes: "WEBP" },
  ],
];

/** How many bytes imageType needs to see. */
export const IMAGE_HEADER_BYTES = 12;

export function imageType(header: Buffer): string | undefined {
  const text = header.toString("latin1");
  return SIGNATURES.find((parts) => parts.every((part) => text.startsWith(part.bytes, part.at)))?.[0]?.mimeType;
}
