/** Width and height of an image, out of its header. Pure. */

export interface ImageSize {
  width: number;
  height: number;
}

const READERS: Readonly<Record<string, (bytes: Buffer) => ImageSize | undefined>> = {
  // A picture whose last chunk is missing was cut off.
  "image/png": (bytes) =>
    bytes.lastIndexOf("IEND") === -1 ? undefined : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) },
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Undefined for a type that is not known here, and for an image that is broken off or empty. */
export function imageSize(bytes: Buffer, mimeType: string): ImageSize | undefined {
  try {
    const size = READERS[mimeType]?.(bytes);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The size stands in a "start of frame" segment; the segments before it say how long they are. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // A marker may be preceded by any number of fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind !== "VP8L") return undefined;
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
