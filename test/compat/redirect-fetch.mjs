// Loaded before the program: what is asked of one address outside comes from loopback instead, whether an extension
// fetches it or the program asks it. Other addresses may have an answer of their own.
const { REDIRECT_FROM: from, REDIRECT_TO: to, REDIRECT_ANSWERS: answers = "{}" } = process.env;
const known = JSON.parse(answers);
const { fetch } = globalThis;
globalThis.fetch = async (what, init) => {
  const url = typeof what === "string" || what instanceof URL ? String(what) : what.url;
  if (Object.hasOwn(known, url)) return Response.json(known[url]);
  return url.startsWith(from) ? fetch(to + url.slice(from.length), init) : fetch(what, init);
};

const https = process.getBuiltinModule("node:https");
const http = process.getBuiltinModule("node:http");
const { request } = https;
/** Asked with an address, with options, or with both. */
https.request = (...given) => {
  const [first, second] = given;
  const isAddress = typeof first === "string" || first instanceof URL;
  const options = (isAddress ? second : first) ?? {};
  const { hostname = options.host, port = 443, path = "/" } = options;
  const url = isAddress ? new URL(first) : new URL(path, `https://${hostname}:${port}`);
  if (!url.href.startsWith(from)) return request(...given);
  const { method, headers } = options;
  const asked = http.request(new URL(to + url.href.slice(from.length)), { method, headers });
  // Whoever waits for a safe connection has one as soon as there is any.
  asked.on("socket", (socket) => socket.once("connect", () => socket.emit("secureConnect")));
  return asked;
};
