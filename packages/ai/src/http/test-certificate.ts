import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Certificates for tests, made on the spot: no key lies in the repository and nothing but Node is needed. */

export interface TestCertificate {
  /** PEM. */
  cert: string;
  key: string;
}

export interface CertificateFields {
  /** Names and IPv4 addresses it is for. Default: an authority, for nothing. */
  hosts?: readonly string[];
  /** Who signs it. Default: itself. */
  issuer?: Authority;
  /** As YYMMDDhhmmssZ. Default: the end of 2049. */
  notAfter?: string;
}

export interface Authority extends TestCertificate {
  name: string;
  privateKey: KeyObject;
}

let serial = 0;

export function makeCertificate(name: string, fields: CertificateFields = {}): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = fields.issuer ?? { name, privateKey };
  serial++;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0x10, serial >> 8, serial & 0xff])),
    ECDSA_SHA256,
    distinguished(issuer.name),
    sequence(moment("200101000000Z"), moment(fields.notAfter ?? "491231235959Z")),
    distinguished(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(basicConstraints(fields.hosts === undefined), ...alternativeNames(fields.hosts ?? []))),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  const whole = sequence(body, ECDSA_SHA256, bits(signature));
  const cert = `-----BEGIN CERTIFICATE-----\n${lines(whole.toString("base64"))}\n-----END CERTIFICATE-----\n`;
  return { name, privateKey, cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const size = value.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content);
}

function bits(content: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), content);
}

/** By its bytes in hexadecimal. */
function identifier(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

const ECDSA_SHA256 = sequence(identifier("2a8648ce3d040302"));
const COMMON_NAME = identifier("550403");
const BASIC_CONSTRAINTS = identifier("551d13");
const ALTERNATIVE_NAMES = identifier("551d11");

function distinguished(name: string): Buffer {
  return sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
}

function moment(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}

function basicConstraints(isAuthority: boolean): Buffer {
  const value = isAuthority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence();
  return sequence(BASIC_CONSTRAINTS, der(0x01, Buffer.from([0xff])), der(0x04, value));
}

function alternativeNames(hosts: readonly string[]): Buffer[] {
  if (hosts.length === 0) return [];
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host)),
  );
  return [sequence(ALTERNATIVE_NAMES, der(0x04, sequence(...names)))];
}

function lines(text: string): string {
  return text.match(/.{1,64}/g)?.join("\n") ?? "";
}
