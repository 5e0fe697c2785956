import type { Clock } from "@tiller/protocol/clock";
import { repairSession } from "../session/store/salvage.ts";
import { parseHead } from "../session/store/session-head.ts";
import { ownerText, tryLock } from "../session/store/session-lock.ts";
import { verifyLines } from "../session/store/verify.ts";
import { counted } from "./plain-text.ts";

export interface RepairOptions {
  clock: Clock;
  locksFolder: string;
}

/** Mends a damaged file, unless a process is writing to it. `text` tells what was done. */
export function repairFile(
  path: string,
  read: () => Buffer,
  options: RepairOptions,
): { text: string } | { error: string } {
  const attempt = tryLock({ locksFolder: options.locksFolder, sessionPath: path, clock: options.clock });
  if ("owner" in attempt) return { error: ownerText(attempt.owner) };
  if ("failed" in attempt) return { error: attempt.failed };
  try {
    return repair(path, read(), options.clock);
  } finally {
    attempt.lock.release();
  }
}

function repair(path: string, bytes: Buffer, clock: Clock): { text: string } | { error: string } {
  // What is no session at all must not be taken apart.
  if (!bytes.includes('"type":"session"') && !bytes.includes('"type":"message"')) {
    return { error: `${path} is no session file: it has neither a header nor a message. It was left as it is` };
  }
  const damage = verifyLines(bytes).damage.filter(({ start, end }) => end > start);
  if (damage.length === 0) return wholeText(path, bytes, `${path} is whole; there is nothing to repair.`);
  const repaired = repairSession({ path, bytes, damage, clock });
  if (!repaired.written) return { error: `${path} cannot be written; it was left as it is` };
  const saved = repaired.salvaged === 0 ? "" : `; ${counted(repaired.salvaged, "entry", "entries")} could be saved`;
  // Zeros and blanks are not worth keeping.
  const aside =
    repaired.setAside === undefined ? "left out, as there was nothing in them" : `kept in ${repaired.setAside}`;
  const text = `${path} is repaired. ${counted(damage.length, "line")} damaged; ${counted(repaired.badBytes, "byte")} ${aside}${saved}.`;
  return wholeText(path, repaired.bytes, text);
}

/** A header is not made up here: whoever opens the session knows what belongs into it. */
function wholeText(path: string, bytes: Buffer, text: string): { text: string } | { error: string } {
  if (parseHead(bytes)) return { text };
  return {
    error: `${path} has lost its header; it gets a new one when it is opened: tiller --mode rpc --session ${path}`,
  };
}
