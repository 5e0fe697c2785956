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

const net = process.getBuiltinModule("node:net");
const tls = process.getBuiltinModule("node:tls");
const { connect } = tls;
const [outside, inside] = [from, to].map((address) => new URL(address));
/** The program makes its own connections: there it speaks to loopback, without TLS. */
tls.connect = (...given) => {
  const isAsked = given[0]?.host === outside.hostname;
  return isAsked ? net.connect({ host: inside.hostname, port: Number(inside.port) }) : connect(...given);
};
