// What Tiller and pi say of the same session, in the same form.
import { deepStrictEqual } from "node:assert";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

export async function ourView(rpc) {
  const state = await rpc.call({ type: "get_state" });
  const { messages } = await rpc.call({ type: "get_messages" });
  const { entries, leafId } = await rpc.call({ type: "get_entries" });
  const { tree } = await rpc.call({ type: "get_tree" });
  const view = {
    id: state.sessionId,
    name: state.sessionName ?? null,
    model: state.model && { provider: state.model.provider, modelId: state.model.id },
    thinkingLevel: state.thinkingLevel,
    leafId,
    messages,
    entries,
    tree: tree.map(shape),
  };
  return { file: state.sessionFile, view };
}

/** Of a copy: pi rewrites what it opens if it thinks it should, which it should not. */
export function piView(SessionManager, file, folder) {
  const copy = join(folder, "opened-by-pi.jsonl");
  copyFileSync(file, copy);
  const session = SessionManager.open(copy, folder);
  const { messages, model, thinkingLevel } = session.buildSessionContext();
  const view = {
    id: session.getSessionId(),
    name: session.getSessionName() ?? null,
    model,
    thinkingLevel,
    leafId: session.getLeafId(),
    messages,
    entries: session.getEntries(),
    tree: session.getTree().map(shape),
    isRewritten: !readFileSync(copy).equals(readFileSync(file)),
  };
  return JSON.parse(JSON.stringify(view));
}

const shape = ({ entry, children, label, labelTimestamp }) => ({
  id: entry.id,
  ...(label === undefined ? {} : { label, labelTimestamp }),
  children: children.map(shape),
});

/** The view without the model and the level that were noted when the session was opened. */
export function withoutChoices(view, before) {
  const added = view.entries.slice(before.entries.length);
  const isChoice = ({ type }) => type === "model_change" || type === "thinking_level_change";
  if (!added.every(isChoice) || added.length === 0) return view;
  const ids = new Set(added.map(({ id }) => id));
  const pruned = (nodes) =>
    nodes.filter(({ id }) => !ids.has(id)).map((node) => ({ ...node, children: pruned(node.children) }));
  const entries = view.entries.slice(0, before.entries.length);
  return { ...view, entries, tree: pruned(view.tree), leafId: added[0].parentId };
}

export function createComparison() {
  const failures = [];
  let checks = 0;
  return {
    failures,
    get checks() {
      return checks;
    },
    /** `ours` may leave out parts that the two need not agree on. */
    same(what, ours, pis) {
      for (const part of Object.keys(ours)) {
        checks++;
        try {
          deepStrictEqual(ours[part], pis[part]);
        } catch (error) {
          failures.push(`${what}, ${part} (+ here, - pi):\n${error.message}`);
        }
      }
    },
  };
}
