import type { SecureContext } from "node:tls";
import { ProviderError } from "../errors.ts";
import type { TransportEnvironment } from "./environment.ts";

/**
 * Certificates that the environment adds to the roots of Node. `NODE_EXTRA_CA_CERTS` is Node's own; as a list of ours
 * replaces the one of Node, it has to be read again on a Node that does not tell its list.
 */

const VARIABLES = ["SSL_CERT_FILE", "TILLER_CA_FILE"] as const;
const contexts = new Map<string, SecureContext>();

/** What names the files; empty when nothing is added. */
export function certificatesKey(env: TransportEnvironment): string {
  return VARIABLES.map((name) => env[name] ?? "")
    .join(" ")
    .trim();
}

/** Made once for the same files: to read a hundred roots takes longer than a handshake. */
export function trustOf(env: TransportEnvironment): { secureContext?: SecureContext } {
  const key = certificatesKey(env);
  if (key === "") return {};
  const known = contexts.get(key);
  if (known) return { secureContext: known };
  const secureContext = makeContext(env);
  contexts.set(key, secureContext);
  return { secureContext };
}

function makeContext(env: TransportEnvironment): SecureContext {
  return process.getBuiltinModule("node:tls").createSecureContext({ ca: trustedCertificates(env) });
}

/** Node's roots and the added ones, as PEM. */
export function trustedCertificates(env: TransportEnvironment): string[] {
  const added = VARIABLES.flatMap((variable) => {
    const file = env[variable];
    return file ? [readCertificates(variable, file)] : [];
  });
  return [...ownRoots(env), ...added];
}

function ownRoots(env: TransportEnvironment): readonly string[] {
  const tls: { rootCertificates: readonly string[]; getCACertificates?: (type: string) => string[] } =
    process.getBuiltinModule("node:tls");
  if (tls.getCACertificates) return tls.getCACertificates("default");
  const file = env.NODE_EXTRA_CA_CERTS;
  // Node itself goes on without a file it cannot read, after a warning.
  const extra = file ? readIfPossible(file) : undefined;
  return extra === undefined ? tls.rootCertificates : [...tls.rootCertificates, extra];
}

function readCertificates(variable: string, file: string): string {
  try {
    const text = process.getBuiltinModule("node:fs").readFileSync(file, "utf8");
    checkCertificates(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `Cannot use the certificates in ${file} (from ${variable}): ${why}; correct the variable or unset it`;
    throw new ProviderError("bad_request", text, { cause: error });
  }
}

/** OpenSSL passes over what it cannot read without a word. */
function checkCertificates(text: string): void {
  const blocks = text.match(/-----BEGIN (TRUSTED )?CERTIFICATE-----[\s\S]*?-----END \1CERTIFICATE-----/g);
  if (!blocks) throw new Error("it holds no PEM certificate (-----BEGIN CERTIFICATE-----)");
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  for (const block of blocks) new X509Certificate(block);
}

function readIfPossible(file: string): string | undefined {
  try {
    return process.getBuiltinModule("node:fs").readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
