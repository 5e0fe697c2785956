import type { AgentMessage } from "@tiller/protocol/message";
import { FILE_VERSION } from "./begin-session.ts";
import { mended } from "./mend.ts";

/**
 * Files of other versions and other programs, in our terms. Pure. `migrate` changes what is kept (an old file becomes
 * one of `FILE_VERSION`, once); `normalise` only changes how a reader sees an entry, the line in the file stays as it is.
 */

export type Line = Readonly<Record<string, unknown>>;

export interface Migrated {
  header: Line;
  entries: readonly Line[];
  /** False when the file already was of this version or of a newer one; then header and entries are those given. */
  changed: boolean;
}

type Step = (entries: readonly Line[], newId: () => string) => readonly Line[];

/** What leads from a version to the next one. */
const STEPS: Readonly<Record<number, Step>> = {
  1: chained,
  2: (entries) => entries.map(withoutHookMessage),
};

export function migrate(header: Line, entries: readonly Line[], newId: () => string): Migrated {
  const version = versionOf(header);
  if (version >= FILE_VERSION) return { header, entries, changed: false };
  let migrated = entries;
  for (let step = version; step < FILE_VERSION; step++) migrated = STEPS[step]?.(migrated, newId) ?? migrated;
  return { header: { ...header, version: FILE_VERSION }, entries: migrated, changed: true };
}

/** The first version did not say which it was; what is no number says nothing. */
export function versionOf(header: Line): number {
  return typeof header.version === "number" && header.version >= 2 ? Math.floor(header.version) : 1;
}

/** Version 1 was a list: each entry follows the one before it, and a compaction counted lines, the header being 0. */
function chained(entries: readonly Line[], newId: () => string): readonly Line[] {
  const used = new Set<unknown>();
  const ids = entries.map(({ id }) => {
    let own = typeof id === "string" && id !== "" ? id : newId();
    while (used.has(own)) own = newId();
    used.add(own);
    return own;
  });
  return entries.map((entry, at) => {
    const { firstKeptEntryIndex: index, ...rest } = entry;
    const place = { id: ids[at], parentId: ids[at - 1] ?? null };
    if (entry.type !== "compaction" || typeof index !== "number") return { ...entry, ...place };
    // A line that does not exist: nothing before the compaction is kept, which is what pi makes of it.
    return { ...rest, ...place, firstKeptEntryId: ids[index - 1] ?? ids[at] };
  });
}

function withoutHookMessage(entry: Line): Line {
  const { message } = entry;
  if (!isLine(message) || message.role !== "hookMessage") return entry;
  return { ...entry, message: { ...message, role: "custom" } };
}

/** The base64 data of an image that is kept beside the session file, by its SHA-256 in hex; undefined when it is lost. */
export type ReadBlob = (sha256: string) => string | undefined;

/**
 * The entry as we would have written it; the same object when it needs no change. Fields that we do not know stay.
 * What is a `message` afterwards has one of `OWN_ROLES`. Who knows the size of its line saves a look at all of it.
 */
export function normalise(entry: Line, readBlob: ReadBlob = () => undefined, size = Number.POSITIVE_INFINITY): Line {
  const type = String(entry.type);
  return mended(Object.hasOwn(VIEWS, type) ? VIEWS[type]!(entry, readBlob) : entry, size);
}

export const OWN_ROLES: ReadonlySet<string> = new Set<AgentMessage["role"]>([
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
]);

/** `normalise` leaves a whole message alone whose role is one of `OWN_ROLES` and whose line does not contain this. */
export const BLOB_MARK = '"blob:sha256:';

const VIEWS: Readonly<Record<string, (entry: Line, readBlob: ReadBlob) => Line>> = {
  model_change: splitModel,
  thinking_level_change: withoutNullLevel,
  compaction: withHookFlag,
  branch_summary: withHookFlag,
  custom_message: withReadableImages,
  message: ownMessage,
};

/** A message of a role that we cannot put into words, such as the system prompt in newer pi files, is data to us. */
function ownMessage(entry: Line, readBlob: ReadBlob): Line {
  const role = isLine(entry.message) ? String(entry.message.role) : "";
  const renamed = isLine(entry.message) && (Object.hasOwn(ROLES, role) ? ROLES[role]!(entry.message) : entry.message);
  if (!renamed || !OWN_ROLES.has(String(renamed.role)))
    return { ...entry, type: "custom", customType: `message.${role}` };
  const message = withReadableImages(renamed, readBlob);
  return message === entry.message ? entry : { ...entry, message };
}

/** Only the provider has no slash: `openrouter/meta/llama` is the model `meta/llama`. */
function splitModel(entry: Line): Line {
  const { provider, modelId, model } = entry;
  if ((typeof provider === "string" && typeof modelId === "string") || typeof model !== "string") return entry;
  const slash = model.indexOf("/");
  return slash < 0
    ? { ...entry, provider: "", modelId: model }
    : { ...entry, provider: model.slice(0, slash), modelId: model.slice(slash + 1) };
}

function withoutNullLevel(entry: Line): Line {
  if (entry.thinkingLevel !== null) return entry;
  const { thinkingLevel: _, ...rest } = entry;
  return rest;
}

function withHookFlag(entry: Line): Line {
  return entry.fromHook === undefined && typeof entry.fromExtension === "boolean"
    ? { ...entry, fromHook: entry.fromExtension }
    : entry;
}

/** Roles of messages that are not ours. `customType` keeps the old role, the fields of the old form stay beside. */
const ROLES: Readonly<Record<string, (message: Line) => Line>> = {
  hookMessage: (message) => ({ ...message, role: "custom" }),
  developer: (message) => ({ ...message, role: "custom", customType: "developer", display: false }),
  pythonExecution: (message) => ({ ...message, role: "bashExecution", command: asShellCommand(message.code) }),
  fileMention: (message) => ({
    ...message,
    role: "custom",
    customType: "fileMention",
    content: mentionedFiles(message.files),
    display: true,
  }),
};

function asShellCommand(code: unknown): string {
  return `python <<'PYTHON'\n${typeof code === "string" ? code : ""}\nPYTHON`;
}

function mentionedFiles(files: unknown): unknown[] {
  const known = Array.isArray(files) ? files.filter(isLine) : [];
  const texts = known.map((file) => `<file path="${file.path}">\n${mentionedText(file)}\n</file>`);
  const images = known.map((file) => file.image).filter(isLine);
  return [{ type: "text", text: texts.join("\n") }, ...images];
}

function mentionedText(file: Line): string {
  if (file.skippedReason !== undefined) return `(left out: ${file.skippedReason})`;
  return typeof file.content === "string" ? file.content : "";
}

const BLOB = "blob:sha256:";

/** For a message and for a `custom_message` entry: both have `content`. */
function withReadableImages(holder: Line, readBlob: ReadBlob): Line {
  const { content } = holder;
  if (!Array.isArray(content) || !content.some(isBlobImage)) return holder;
  return { ...holder, content: content.map((block) => (isBlobImage(block) ? readImage(block, readBlob) : block)) };
}

function isBlobImage(block: unknown): block is Line & { data: string } {
  return isLine(block) && block.type === "image" && typeof block.data === "string" && block.data.startsWith(BLOB);
}

/** An image that is lost becomes a text that says so: a reference is no picture to any model. */
function readImage(block: Line & { data: string }, readBlob: ReadBlob): Line {
  const data = readBlob(block.data.slice(BLOB.length));
  if (data !== undefined) return { ...block, data };
  return { ...block, type: "text", text: `[An image was here; it is kept outside the session file as ${block.data}]` };
}

function isLine(value: unknown): value is Line {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
