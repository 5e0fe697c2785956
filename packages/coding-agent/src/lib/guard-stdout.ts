/**
 * Nothing but the frame writer may write to stdout: a stray `console.log` in a dependency or an extension would corrupt
 * the protocol, so all of it goes to stderr. This acts on import, and the CLI imports it before anything else.
 */
console.log = console.info = console.debug = console.error;
Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
