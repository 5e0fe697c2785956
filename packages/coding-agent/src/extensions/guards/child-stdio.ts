/** `stdio` of a child process as Node takes it, but without our stdin and stdout: nothing to read, and stderr to write to. */
export function quietStdio(stdio: unknown): unknown {
  if (stdio === "inherit") return ["ignore", 2, 2];
  if (!Array.isArray(stdio)) return stdio;
  return stdio.map(quietOne);
}

function quietOne(given: unknown, index: number): unknown {
  const fd = given === "inherit" ? index : descriptorOf(given);
  if (fd === 0) return "ignore";
  return fd === 1 ? 2 : given;
}

/** A stream stands for its descriptor. */
function descriptorOf(given: unknown): unknown {
  return typeof given === "object" && given !== null && "fd" in given ? given.fd : given;
}
