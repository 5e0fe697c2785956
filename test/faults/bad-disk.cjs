// Loaded into the program before anything else: what the file TILLER_TEST_DISK says is what the disk does from then on,
// to whatever lies below TILLER_DIR. `EROFS`: nothing is changed. `torn`: half of a write. `slow`: all, later. `sync`:
// everything but to make it safe. Of `node:fs` this has what the program changes files with there; the tools, which write
// with `node:fs/promises`, have no business in that folder.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const { readFileSync, openSync, closeSync, writeSync, appendFileSync } = fs;
const folder = process.env.TILLER_DIR;
const SLOW_MS = 150;
const SENTENCES = { EROFS: "read-only file system", EIO: "i/o error" };
const SYNCS = ["fsync", "fdatasync"];
const ON_DESCRIPTORS = ["ftruncate", "fchmod", "fchown", "futimes", "writev"];
const ON_PATHS = [
  "mkdir",
  "mkdtemp",
  "rename",
  "link",
  "symlink",
  "copyFile",
  "writeFile",
  "appendFile",
  "truncate",
].concat(["unlink", "rm", "rmdir", "chmod", "chown", "utimes"]);

const descriptors = new Set();
const isOurs = (what) => (typeof what === "number" ? descriptors.has(what) : String(what).startsWith(folder));
const maySeeMore = (flags) => flags !== undefined && flags !== "r" && flags !== fs.constants.O_RDONLY;

function mode() {
  try {
    return readFileSync(process.env.TILLER_TEST_DISK, "utf8");
  } catch {
    // It has not been said yet.
    return "";
  }
}

function failed(code, syscall) {
  return Object.assign(new Error(`${code}: ${SENTENCES[code]}, ${syscall}`), { code, syscall });
}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** For whoever wants to know what was met. */
const noteMeeting = (syscall) => appendFileSync(`${process.env.TILLER_TEST_DISK}.met`, `${syscall}\n`);

/** What the disk has to say to a call that changes something, and how long it takes. */
function verdict(syscall, now) {
  const isMet = now === "sync" ? SYNCS.includes(syscall) : now !== "";
  if (!isMet) return { ms: 0 };
  noteMeeting(syscall);
  if (now === "slow") return { ms: SLOW_MS };
  return { ms: 0, error: failed(now === "EROFS" ? now : "EIO", syscall) };
}

function meet(syscall, now = mode()) {
  const { ms, error } = verdict(syscall, now);
  if (ms > 0) sleep(ms);
  if (error) throw error;
}

fs.openSync = (path, flags, ...rest) => {
  if (isOurs(path) && maySeeMore(flags)) meet("open");
  const fd = openSync(path, flags, ...rest);
  if (isOurs(path)) descriptors.add(fd);
  return fd;
};
fs.closeSync = (fd) => {
  descriptors.delete(fd);
  return closeSync(fd);
};
fs.writeSync = (fd, data, offset, ...rest) => {
  if (!isOurs(fd)) return writeSync(fd, data, offset, ...rest);
  const now = mode();
  const isBeginning = typeof data === "string" || !offset;
  const bytes = now === "torn" && isBeginning ? Buffer.from(data) : undefined;
  // A file system that cannot write all of it writes some, and says so with the next call.
  if (bytes?.length > 1) {
    noteMeeting("write");
    return writeSync(fd, bytes, 0, Math.floor(bytes.length / 2));
  }
  meet("write", now);
  return writeSync(fd, data, offset, ...rest);
};
for (const syscall of [...SYNCS, ...ON_DESCRIPTORS, ...ON_PATHS]) {
  const name = `${syscall}Sync`;
  const real = fs[name];
  fs[name] = (...args) => {
    // Of two paths it is the second that something is made at; a descriptor is the first.
    if (isOurs(args[0]) || (typeof args[1] === "string" && isOurs(args[1]))) meet(syscall);
    return real(...args);
  };
}
/** Nobody is held up meanwhile but who waits for the callback. */
for (const syscall of [...SYNCS, "write", ...ON_DESCRIPTORS]) {
  const real = fs[syscall];
  fs[syscall] = (fd, ...args) => {
    const { ms, error } = isOurs(fd) ? verdict(syscall, mode()) : { ms: 0 };
    if (error) setImmediate(args.at(-1), error);
    else if (ms > 0) setTimeout(real, ms, fd, ...args);
    else real(fd, ...args);
  };
}
syncBuiltinESMExports();
