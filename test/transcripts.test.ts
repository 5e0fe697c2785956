import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTranscript } from "../packages/coding-agent/src/transcript/parse.ts";
import { repoRoot } from "./support/rpc-process.ts";
import { playTranscript } from "./support/transcript.ts";

/** Every story in test/transcripts is played against the built program. UPDATE_TRANSCRIPTS=1 records them anew. */

const folder = join(repoRoot, "test/transcripts");
const update = process.env.UPDATE_TRANSCRIPTS === "1";
/** Stories that stand in a document, so that what it shows is true. */
const inDocuments = ["docs/approvals.md"].flatMap((path) =>
  [...readFileSync(join(repoRoot, path), "utf8").matchAll(/^```rpc\n(.*?)^```$/gms)].map(([, text = ""]) =>
    parseTranscript(path, text),
  ),
);
const stories = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".rpc.txt"))
  .map((name) => parseTranscript(name, readFileSync(join(folder, name), "utf8")));

test.each(inDocuments.map((story) => [`${story.name}: ${story.title}`, story] as const))(
  "%s",
  async (_title, story) => {
    expect(await playTranscript(story, { update: false })).toEqual(story.source);
  },
);

test.each(stories.map((story) => [`${story.name}: ${story.title}`, story] as const))("%s", async (_title, story) => {
  const lines = await playTranscript(story, { update });
  if (update) writeFileSync(join(folder, story.name), `${lines.join("\n")}\n`);
  expect(lines).toEqual(update ? lines : story.source);
});
