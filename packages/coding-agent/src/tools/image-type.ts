/** Tells an image by its first bytes; file names lie. Pure. */

/** What models take as it is. */
export const SENDABLE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

interface Signature {
  at: number;
  bytes: string;
}

const SIGNATURES: readonly { mimeType: string; parts: readonly Signature[] }[] = [
  { mimeType: "image/png", parts: [{ at: 0, bytes: "\x89PNG\r\n\x1a\n" }] },
  { mimeType: "image/jpeg", parts: [{ at: 0, bytes: "\xff\xd8\xff" }] },
  { mimeType: "image/gif", parts: [{ at: 0, bytes: "GIF87a" }] },
  { mimeType: "image/gif", parts: [{ at: 0, bytes: "GIF89a" }] },
  {
    mimeType: "image/webp",
    parts: [
      { at: 0, bytes: "RIFF" },
      { at: 8, bytes: "WEBP" },
    ],
  },
  { mimeType: "image/tiff", parts: [{ at: 0, bytes: "II*\0" }] },
  { mimeType: "image/tiff", parts: [{ at: 0, bytes: "MM\0*" }] },
  { mimeType: "image/avif", parts: [{ at: 4, bytes: "ftypavif" }] },
];

export function imageType(header: Buffer): string | undefined {
  const text = header.toString("latin1", 0, 32);
  return SIGNATURES.find(({ parts }) => parts.every((part) => text.startsWith(part.bytes, part.at)))?.mimeType;
}
