import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { randomHex } from "../../lib/clock.ts";
import { makePrivateFolder } from "../../lib/make-folder.ts";
import { COMPILER_VERSION, type Compiled } from "./compiled.ts";
import { parseJson } from "./parse-json.ts";

/**
 * Compiled modules by the content of their source. Nothing depends on it: what is missing, broken or cannot be written
 * is compiled again. A checksum is enough for a name, because the source lies beside the code and is compared:
 * node:crypto takes longer to load than many small extensions.
 */

export interface CompileCache {
  get(source: string, language: string): Compiled | undefined;
  put(source: string, language: string, compiled: Compiled): void;
}

export interface CacheLimits {
  /** How many modules are kept. */
  entries: number;
  bytes: number;
}

const LIMITS: CacheLimits = { entries: 1000, bytes: 64 * 1024 * 1024 };
const SUFFIX = ".js";

interface Header {
  kind: Compiled["kind"];
  requires: string[];
  /** Where the code ends and the source begins. */
  codeLength: number;
  /** Of the code. */
  sum: number;
}

export function createCache(folder: string, limits: CacheLimits = LIMITS): CompileCache {
  const fileOf = (source: string, language: string): string => {
    const sum = crc32(source, crc32(COMPILER_VERSION)).toString(16);
    return join(folder, `${sum}-${source.length}-${language}${SUFFIX}`);
  };
  let isTidy = false;
  return {
    get: (source, language) => read(fileOf(source, language), source),
    put(source, language, compiled) {
      try {
        write(folder, fileOf(source, language), source, compiled);
        if (!isTidy) removeOldest(folder, limits);
        isTidy = true;
      } catch {
        // Read-only or full: the next process compiles again, as this one did.
      }
    },
  };
}

function read(file: string, source: string): Compiled | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const start = text.indexOf("\n") + 1;
    const { kind, requires, codeLength, sum } = parseJson(text.slice(0, start)) as Header;
    const code = text.slice(start, start + codeLength);
    const isSound = (kind === "esm" || kind === "cjs") && Array.isArray(requires) && crc32(code) === sum;
    return isSound && text.slice(start + codeLength) === source ? { kind, code, requires } : undefined;
  } catch {
    return undefined;
  }
}

/** Written aside and renamed: another process never reads half a file, and two that write at once write the same. */
function write(folder: string, file: string, source: string, compiled: Compiled): void {
  makePrivateFolder(folder);
  const aside = `${file}.${process.pid}-${randomHex(8)}`;
  const { kind, code, requires } = compiled;
  const header: Header = { kind, requires, codeLength: code.length, sum: crc32(code) };
  try {
    writeFileSync(aside, `${JSON.stringify(header)}\n${code}${source}`, { mode: 0o600 });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

interface Kept {
  path: string;
  size: number;
  time: number;
}

/** Done once, by a process that writes anyway. What another one has removed meanwhile is gone all the same. */
function removeOldest(folder: string, limits: CacheLimits): void {
  const files = readdirSync(folder).flatMap((name): Kept[] => {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? [{ path, size: stats.size, time: stats.mtimeMs }] : [];
  });
  files.sort((a, b) => b.time - a.time);
  let bytes = 0;
  for (const [index, { path, size }] of files.entries()) {
    bytes += size;
    if (index >= limits.entries || bytes > limits.bytes) rmSync(path, { force: true });
  }
}
