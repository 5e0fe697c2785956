import { formatSize } from "./truncate.ts";

/** What is said of a file that is no text: what it is, how large, how it begins, and what to do with it. Pure. */

/** Enough of a file to tell what it is. */
export const PROBE_BYTES = 64 * 1024;
const SHOWN_BYTES = 256;
const BYTES_PER_ROW = 16;
/** More control characters than this share is no text. */
const MAX_CONTROL_SHARE = 0.1;

interface Kind {
  name: string;
  at?: number;
  /** Each character is a byte. */
  bytes: string;
  /** A command that shows more; `FILE` stands for the path. */
  hint?: string;
}

const KINDS: readonly Kind[] = [
  { name: "PDF document", bytes: "%PDF-", hint: "pdftotext FILE -" },
  { name: "SQLite database", bytes: "SQLite format 3\0", hint: "sqlite3 FILE .schema" },
  { name: "ZIP archive", bytes: "PK\x03\x04", hint: "unzip -l FILE" },
  { name: "empty ZIP archive", bytes: "PK\x05\x06" },
  { name: "gzip data", bytes: "\x1f\x8b", hint: "zcat FILE | head" },
  { name: "bzip2 data", bytes: "BZh", hint: "bzcat FILE | head" },
  { name: "xz data", bytes: "\xfd7zXZ\0", hint: "xzcat FILE | head" },
  { name: "Zstandard data", bytes: "\x28\xb5\x2f\xfd", hint: "zstdcat FILE | head" },
  { name: "7-Zip archive", bytes: "7z\xbc\xaf\x27\x1c", hint: "7z l FILE" },
  { name: "tar archive", at: 257, bytes: "ustar", hint: "tar -tf FILE" },
  { name: "ELF program or library", bytes: "\x7fELF", hint: "readelf -h FILE" },
  { name: "Windows program", bytes: "MZ" },
  { name: "Mach-O program or library", bytes: "\xcf\xfa\xed\xfe", hint: "otool -hv FILE" },
  { name: "Java class or Mach-O program", bytes: "\xca\xfe\xba\xbe" },
  { name: "WebAssembly module", bytes: "\0asm" },
  { name: "static library", bytes: "!<arch>\n", hint: "nm FILE" },
  { name: "BMP image", bytes: "BM" },
  { name: "TIFF image", bytes: "II*\0" },
  { name: "TIFF image", bytes: "MM\0*" },
  { name: "AVIF image", at: 4, bytes: "ftypavif" },
  { name: "HEIC image", at: 4, bytes: "ftyphei" },
  { name: "icon", bytes: "\0\0\x01\0" },
  { name: "MP4 video", at: 4, bytes: "ftyp", hint: "ffprobe FILE" },
  { name: "Matroska or WebM video", bytes: "\x1aE\xdf\xa3", hint: "ffprobe FILE" },
  { name: "AVI video", at: 8, bytes: "AVI ", hint: "ffprobe FILE" },
  { name: "WAV audio", at: 8, bytes: "WAVE", hint: "ffprobe FILE" },
  { name: "MP3 audio", bytes: "ID3", hint: "ffprobe FILE" },
  { name: "Ogg audio or video", bytes: "OggS", hint: "ffprobe FILE" },
  { name: "FLAC audio", bytes: "fLaC", hint: "ffprobe FILE" },
  { name: "font", bytes: "\0\x01\0\0\0" },
  { name: "font", bytes: "OTTO" },
  { name: "font", bytes: "wOFF" },
  { name: "font", bytes: "wOF2" },
  { name: "Parquet table", bytes: "PAR1" },
  { name: "old Office document", bytes: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" },
  { name: "Git pack", bytes: "PACK" },
];

/** Kinds whose beginning may be all text. */
const EVEN_WITHOUT_ZEROS: ReadonlySet<string> = new Set(["PDF document"]);

/** Whether the first bytes of a file are no text. UTF-16 has its mark in front and is text. */
export function isBinary(probe: Buffer): boolean {
  if (utf16Encoding(probe)) return false;
  if (probe.includes(0)) return true;
  const kind = kindOfBytes(probe);
  if (kind && EVEN_WITHOUT_ZEROS.has(kind.name)) return true;
  return probe.length > 0 && countControls(probe) / probe.length > MAX_CONTROL_SHARE;
}

export function utf16Encoding(probe: Buffer): "utf-16le" | "utf-16be" | undefined {
  const mark = probe.toString("latin1", 0, 2);
  return mark === "\xff\xfe" ? "utf-16le" : mark === "\xfe\xff" ? "utf-16be" : undefined;
}

/** Tab, newline, form feed, carriage return, backspace and escape stand in texts too. */
function countControls(probe: Buffer): number {
  let count = 0;
  for (const byte of probe) if ((byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27) || byte === 127) count += 1;
  return count;
}

function kindOfBytes(probe: Buffer): Kind | undefined {
  const text = probe.toString("latin1", 0, 512);
  return KINDS.find(({ at = 0, bytes }) => text.startsWith(bytes, at));
}

export function describeBinary(probe: Buffer, fileBytes: number, shownPath: string): string {
  const kind = kindOfBytes(probe);
  const command = (kind?.hint ?? "xxd FILE | head").replace("FILE", quoteForShell(shownPath));
  const name = kind ? `${kind.name}, ` : "";
  const size = formatSize(Math.max(fileBytes, probe.length));
  return `[Binary file: ${name}${size}. Not shown as text. Use bash, for example: ${command}]\n\n${hexDump(probe.subarray(0, SHOWN_BYTES))}`;
}

function quoteForShell(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Rows of offset, bytes and what is readable of them. */
function hexDump(bytes: Buffer): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_ROW) {
    const row = bytes.subarray(at, at + BYTES_PER_ROW);
    const hex = row.toString("hex").replace(/..(?=.)/g, "$& ");
    const text = row.toString("latin1").replace(/[^ -~]/g, ".");
    rows.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(BYTES_PER_ROW * 3 - 1)}  |${text}|`);
  }
  return rows.join("\n");
}
