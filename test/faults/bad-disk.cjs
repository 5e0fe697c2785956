// Loaded into the program before anything else: what the file TILLER_TEST_DISK says is what the disk does from then on,
// to whatever lies below TILLER_DIR. `ENOSPC` and `EROFS`: nothing is written. `torn`: half of it. `slow`: all, later.
const fs = require("node:fs");

const { readFileSync, openSync, closeSync, writeSync, fsyncSync, ftruncateSync, mkdirSync, renameSync, writeFileSync } =
  fs;
const folder = process.env.TILLER_DIR;
const SLOW_MS = 150;
const SENTENCES = { ENOSPC: "no space left on device", EROFS: "read-only file system", EIO: "i/o error" };

const descriptors = new Set();
const isOurs = (path) => typeof path === "string" && path.startsWith(folder);
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

/** For whoever wants to know that it was met. */
const noteMeeting = () => writeFileSync(`${process.env.TILLER_TEST_DISK}.met`, "");

/** What the disk does before anything is changed. */
function meet(syscall, now = mode()) {
  if (now !== "") noteMeeting();
  if (now === "slow") sleep(SLOW_MS);
  else if (now in SENTENCES) throw failed(now, syscall);
  else if (now === "torn") throw failed("EIO", syscall);
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
  if (!descriptors.has(fd)) return writeSync(fd, data, offset, ...rest);
  const now = mode();
  const start = typeof offset === "number" ? offset : 0;
  // A file system that cannot write all of it writes some, and says so with the next call.
  if (now === "torn" && Buffer.isBuffer(data) && data.length - start > 1 && start === 0)
    return writeSync(fd, data, 0, Math.floor(data.length / 2));
  meet("write", now);
  return writeSync(fd, data, offset, ...rest);
};
for (const [name, real] of Object.entries({ fsyncSync, ftruncateSync })) {
  fs[name] = (fd, ...rest) => {
    if (descriptors.has(fd)) meet(name);
    return real(fd, ...rest);
  };
}
for (const [name, real] of Object.entries({ mkdirSync, renameSync, writeFileSync })) {
  fs[name] = (path, ...rest) => {
    if (isOurs(path)) meet(name);
    return real(path, ...rest);
  };
}
