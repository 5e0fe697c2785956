import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReadBlob } from "./session/store/migrations.ts";

/**
 * Images that omp and xcsh keep outside of the session file. The files `sessions/FOLDER/NAME.jsonl` and `blobs/SHA256`
 * lie in the same folder, whatever that is called.
 */
export function createBlobReader(sessionPaths: readonly string[]): ReadBlob {
  const folders = new Set(sessionPaths.map((path) => join(dirname(path), "../../blobs")));
  return (sha256) => {
    // Whatever else a session file says, it does not make us read other files than these.
    if (!SHA256.test(sha256)) return undefined;
    for (const folder of folders) {
      const data = readBase64(join(folder, sha256));
      if (data !== undefined) return data;
    }
    return undefined;
  };
}

const SHA256 = /^[0-9a-f]{64}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The picture itself, or its base64 text: a file that looks like the one is never the other. */
function readBase64(path: string): string | undefined {
  try {
    // A link could lead to any file of the user's, and a pipe would keep us waiting.
    if (!lstatSync(path).isFile()) return undefined;
    const bytes = readFileSync(path);
    const text = bytes.toString("latin1").trim();
    return BASE64.test(text) ? text : bytes.toString("base64");
  } catch {
    // Not there, or not for us to read: the image is lost, which the reader of the message is told.
    return undefined;
  }
}
