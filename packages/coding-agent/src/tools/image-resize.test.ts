import { open } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadSharp, type Sharp } from "./image-resize.ts";
import { imageSize } from "./image-size.ts";
import { readImage } from "./read-image.ts";
import { createToolFixture, type ToolFixture, textOf } from "./test-fixture.ts";

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture();
});
afterEach(() => fixture.remove());

/** Only as much of a PNG as is looked at. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(25);
  header.write("\0\0\0\rIHDR", "latin1");
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), header, deflateSync("x"), Buffer.from("IEND")]);
}

interface Made {
  side: number;
  quality?: number;
}

/** Stands for sharp: scales the size, and makes of every attempt as many bytes as the test says. */
function fakeSharp(
  size: { width: number; height: number; orientation?: number },
  sizeOf: (made: Made) => number,
): Sharp {
  return () => {
    const made: Made = { side: 0 };
    const image: ReturnType<Sharp> = {
      metadata: async () => size,
      rotate: () => image,
      flatten: () => image,
      png: () => image,
      resize({ width }) {
        made.side = width;
        return image;
      },
      jpeg({ quality }) {
        made.quality = quality;
        return image;
      },
      async toBuffer() {
        const upright = (size.orientation ?? 1) >= 5 ? { width: size.height, height: size.width } : size;
        const factor = Math.min(1, made.side / Math.max(upright.width, upright.height));
        const info = { width: Math.round(upright.width * factor), height: Math.round(upright.height * factor) };
        return { data: Buffer.alloc(sizeOf(made)), info };
      },
    };
    return image;
  };
}

async function read(bytes: Buffer, mimeType: string, sharp: Sharp | undefined) {
  const file = await open(fixture.write("picture", bytes));
  try {
    return await readImage(file, mimeType, new AbortController().signal, async () => sharp);
  } finally {
    await file.close();
  }
}

describe("with sharp", () => {
  it("an image with a long side is shrunk, and the text says by how much", async () => {
    const result = await read(
      png(4000, 1000),
      "image/png",
      fakeSharp({ width: 4000, height: 1000 }, () => 100),
    );
    expect(textOf(result!)).toBe(
      "Read image file [image/png]\n[Image is 4000x1000, shown at 2000x500. Multiply coordinates by 2.00.]\n<image/png>",
    );
  });

  it("an image of many bytes becomes a JPEG, worse and smaller until it fits", async () => {
    const tried: Made[] = [];
    const sharp = fakeSharp({ width: 1500, height: 1500 }, (made) => {
      tried.push({ ...made });
      return made.side > 1200 ? 5 * 1024 * 1024 : 1000;
    });
    const large = Buffer.concat([png(1500, 1500), Buffer.alloc(5 * 1024 * 1024)]);
    const result = await read(large, "image/png", sharp);
    expect(tried.map(({ side, quality }) => `${side} ${quality ?? "png"}`)).toEqual([
      "2000 png",
      "2000 85",
      "2000 60",
      "1200 60",
    ]);
    expect(textOf(result!)).toContain("1500x1500, shown at 1200x1200");
    expect(textOf(result!)).toContain("<image/jpeg>");
  });

  it("a picture that lies on its side is told of upright", async () => {
    const sharp = fakeSharp({ width: 4000, height: 2000, orientation: 6 }, () => 100);
    expect(textOf((await read(png(4000, 2000), "image/png", sharp))!)).toContain("2000x4000, shown at 1000x2000");
  });

  it("a JPEG stays a JPEG", async () => {
    const jpeg = Buffer.from("ffd8ffc0000b080fa00fa0010111", "hex");
    expect(
      textOf(
        (await read(
          jpeg,
          "image/jpeg",
          fakeSharp({ width: 4000, height: 4000 }, () => 100),
        ))!,
      ),
    ).toContain("<image/jpeg>");
  });

  it("a kind that models do not take is converted", async () => {
    const sharp = fakeSharp({ width: 10, height: 10 }, () => 100);
    expect(textOf((await read(Buffer.from("II*\0"), "image/tiff", sharp))!)).toBe(
      "Read image file [image/tiff]\n<image/png>",
    );
  });
});

describe("without sharp", () => {
  it("an image that a provider still takes goes as it is", async () => {
    expect(textOf((await read(png(4000, 1000), "image/png", undefined))!)).toBe(
      "Read image file [image/png]\n<image/png>",
    );
  });

  it("one that it would refuse is left out", async () => {
    expect(textOf((await read(png(9000, 10), "image/png", undefined))!)).toBe(
      "Read image file [image/png]\n[Image left out: 9000x10 pixels are more than 8000 a side. Shrink it first.]",
    );
  });

  it("a kind that models do not take is a binary file", async () => {
    expect(await read(Buffer.from("II*\0"), "image/tiff", undefined)).toBeUndefined();
    expect(await fixture.text("read", { path: "picture" })).toMatch(/^\[Binary file: TIFF image, 4B\./);
  });

  it("is how it is when the package is missing", async () => {
    expect(await loadSharp("no-such-package-here")).toBeUndefined();
  });
});

describe("the size of an image", () => {
  it.each<[string, string, string, { width: number; height: number } | undefined]>([
    ["image/gif", "GIF", Buffer.from("GIF89a\x05\0\x07\0...", "latin1").toString("hex"), { width: 5, height: 7 }],
    ["image/jpeg", "JPEG", "ffd8ffe000104a46494600010100000100010000ffffc2000b08000700050101", { width: 5, height: 7 }],
    ["image/jpeg", "JPEG that ends early", "ffd8ffe000104a", undefined],
    [
      "image/webp",
      "simple WebP",
      `${Buffer.from("RIFF....WEBPVP8 ").toString("hex")}${"00".repeat(10)}05000700`,
      { width: 5, height: 7 },
    ],
    [
      "image/webp",
      "extended WebP",
      `${Buffer.from("RIFF....WEBPVP8X").toString("hex")}${"00".repeat(8)}040000060000`,
      { width: 5, height: 7 },
    ],
    [
      "image/webp",
      "lossless WebP",
      `${Buffer.from("RIFF....WEBPVP8L").toString("hex")}${"00".repeat(5)}04800100`,
      { width: 5, height: 7 },
    ],
    ["image/png", "PNG without its end", png(5, 7).subarray(0, 30).toString("hex"), undefined],
    ["image/png", "PNG", png(5, 7).toString("hex"), { width: 5, height: 7 }],
    ["image/png", "PNG of no width", png(0, 7).toString("hex"), undefined],
    ["image/tiff", "TIFF", "49492a00", undefined],
  ])("%s: %s", (mimeType, _, hex, size) => expect(imageSize(Buffer.from(hex, "hex"), mimeType)).toEqual(size));
});
