/** The first line of a request and its headers, which hold no line breaks. Pure. */
export function requestHead(method: string, target: string, headers: Readonly<Record<string, string>>): string {
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const name of Object.keys(headers)) head += `${name}: ${headers[name]}\r\n`;
  return `${head}\r\n`;
}
