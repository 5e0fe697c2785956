// Loaded before the program: what an extension fetches from one address outside comes from loopback instead.
const { REDIRECT_FROM: from, REDIRECT_TO: to } = process.env;
const { fetch } = globalThis;
globalThis.fetch = (what, init) => {
  const url = typeof what === "string" || what instanceof URL ? String(what) : what.url;
  return url.startsWith(from) ? fetch(to + url.slice(from.length), init) : fetch(what, init);
};
