import type { ImageSize } from "./image-size.ts";

/** Makes an image small enough to send, with the sharp package where somebody installed it beside us. */

export interface ResizedImage extends ImageSize {
  bytes: Buffer;
  mimeType: "image/png" | "image/jpeg";
  /** Before, turned upright. */
  original: ImageSize;
}

/** As much of sharp as we use. */
interface SharpImage {
  metadata(): Promise<{ width?: number; height?: number; orientation?: number }>;
  rotate(): SharpImage;
  resize(options: { width: number; height: number; fit: "inside"; withoutEnlargement: true }): SharpImage;
  png(): SharpImage;
  jpeg(options: { quality: number }): SharpImage;
  flatten(options: { background: string }): SharpImage;
  toBuffer(options: { resolveWithObject: true }): Promise<{ data: Buffer; info: ImageSize }>;
}

export type Sharp = (bytes: Buffer) => SharpImage;

/** Undefined where sharp is not installed, or not for this machine. */
export async function loadSharp(name = "sharp"): Promise<Sharp | undefined> {
  try {
    // The name in a variable: the package is optional, and the bundler shall not look for it.
    const loaded = (await import(name)) as { default?: unknown };
    return typeof loaded.default === "function" ? (loaded.default as Sharp) : undefined;
  } catch {
    return undefined;
  }
}

/** Tried in turn until one is small enough. PNG first: screenshots have text, which JPEG smears; what was JPEG stays it. */
const ATTEMPTS: readonly { side: number; quality?: number }[] = [
  { side: 2000 },
  { side: 2000, quality: 85 },
  { side: 2000, quality: 60 },
  { side: 1200, quality: 60 },
  { side: 600, quality: 60 },
];

/** No side over 2000 pixels, no more than maxBytes. Undefined when sharp cannot read it or nothing is small enough. */
export async function resizeImage(
  sharp: Sharp,
  { bytes, mimeType: oldType, maxBytes }: { bytes: Buffer; mimeType: string; maxBytes: number },
): Promise<ResizedImage | undefined> {
  try {
    const original = await uprightSize(sharp(bytes));
    for (const { side, quality } of oldType === "image/jpeg" ? ATTEMPTS.slice(1) : ATTEMPTS) {
      const small = sharp(bytes)
        .rotate()
        .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
      const encoded = quality === undefined ? small.png() : small.flatten({ background: "white" }).jpeg({ quality });
      const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
      if (data.length > maxBytes) continue;
      const mimeType = quality === undefined ? "image/png" : "image/jpeg";
      return { bytes: data, mimeType, width: info.width, height: info.height, original };
    }
    return undefined;
  } catch {
    // Damaged, or of a kind that this sharp was built without.
    return undefined;
  }
}

/** Cameras store pictures lying on the side, with a note which way is up. */
async function uprightSize(image: SharpImage): Promise<ImageSize> {
  const { width = 0, height = 0, orientation = 1 } = await image.metadata();
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}
