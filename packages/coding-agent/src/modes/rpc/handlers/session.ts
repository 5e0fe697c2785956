import type { AgentSession } from "../../../session/agent-session.ts";
import { type Answer, done, type Handlers, ok, refused } from "../answer.ts";

type SessionCommand =
  | "new_session"
  | "switch_session"
  | "open_session"
  | "fork"
  | "branch"
  | "clone"
  | "get_fork_messages"
  | "get_branch_messages"
  | "get_session_stats"
  | "set_session_name"
  | "get_entries"
  | "get_tree"
  | "navigate_tree"
  | "set_label"
  | "list_sessions"
  | "delete_session"
  | "export_html";

export function sessionHandlers(session: AgentSession): Handlers<SessionCommand> {
  const { history } = session;
  const userMessages = async () => ok({ messages: (await history()).tree.userMessages() });
  return {
    new_session: async ({ parentSession }) => ok(await (await history()).files.newSession(parentSession)),
    switch_session: async ({ sessionPath }) => answerOf(await (await history()).files.switchTo(sessionPath)),
    open_session: async ({ sessionDir }) => answerOf(await (await history()).files.openIn(sessionDir)),
    fork: async ({ entryId }) => answerOf(await (await history()).files.fork(entryId, "fork")),
    branch: async ({ entryId }) => answerOf(await (await history()).files.fork(entryId, "branch")),
    clone: async () => answerOf(await (await history()).files.clone()),
    get_fork_messages: userMessages,
    get_branch_messages: userMessages,
    get_session_stats: async () => ok(await session.stats()),
    async set_session_name({ name }) {
      const problem = await session.setName(name);
      return problem ? refused(problem.refused) : done;
    },
    async get_entries({ since }) {
      const entries = (await history()).views.entries(since);
      return "refused" in entries ? refused(entries.refused) : { dataPieces: entries };
    },
    get_tree: async () => ({ dataPieces: (await history()).views.tree() }),
    navigate_tree: async (params) => answerOf(await session.navigate(params)),
    async set_label({ entryId, label }) {
      const labelled = await (await history()).tree.setLabel(entryId, label);
      return "refused" in labelled ? refused(labelled.refused) : done;
    },
    list_sessions: async (params) => answerOf(await (await history()).list(params)),
    export_html: async ({ outputPath }) => answerOf(await session.exportPage(outputPath)),
    delete_session: async ({ sessionPath }) => answerOf((await history()).remove(sessionPath)),
  };
}

function answerOf<R extends object>(outcome: R | { refused: string }): Answer<R> {
  return "refused" in outcome ? refused(outcome.refused) : ok(outcome as R);
}
