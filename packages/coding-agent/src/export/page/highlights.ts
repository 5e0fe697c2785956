/** Paints over what was searched for, without touching the elements it is in. */

const NAME = "found";
const MOST = 2_000;

export function paintFound(root: Element, wanted: string): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete(NAME);
  if (wanted === "") return;
  const ranges: Range[] = [];
  for (const range of rangesIn(root, wanted)) if (ranges.push(range) >= MOST) break;
  if (ranges.length > 0) CSS.highlights.set(NAME, new Highlight(...ranges));
}

export function* rangesIn(root: Element, wanted: string): Generator<Range> {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      // A letter may have become longer in lower case.
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      yield range;
    }
  }
}
