import { type Checks, terminal } from "../check.ts";
import { repository } from "../surroundings.ts";

/** Examples that are all about a terminal, or about something else that is not here. */

const CUSTOM = /ctx\.ui\.custom\(\) needs a terminal|requires|TUI/;

export const TERMINAL_EXAMPLES: Checks = {
  "border-status-editor.ts": terminal("an editor and a footer of its own", {
    by: "ctx.ui.setEditorComponent() needs a terminal",
  }),
  "modal-editor.ts": terminal("an editor of its own", { by: "ctx.ui.setEditorComponent() needs a terminal" }),
  "rainbow-editor.ts": terminal("an editor of its own", { by: "ctx.ui.setEditorComponent() needs a terminal" }),
  "working-message-test.ts": terminal("words beside the indicator", {
    by: "ctx.ui.setWorkingMessage() needs a terminal",
  }),
  "github-issue-autocomplete.ts": terminal("completions in the editor", {
    by: "ctx.ui.addAutocompleteProvider() needs a terminal",
    options: {
      prepare: repository("git remote add origin https://github.com/somebody/something.git"),
      programs: { gh: "echo '[]'" },
    },
  }),
  "overlay-test.ts": terminal("an overlay", { command: "/overlay-test", by: CUSTOM }),
  "overlay-qa-tests.ts": terminal("overlays", { command: "/overlay-stack", by: CUSTOM }),
  "snake.ts": terminal("a game", { command: "/snake", by: CUSTOM }),
  "space-invaders.ts": terminal("a game", { command: "/invaders", by: CUSTOM }),
  "doom-overlay": terminal("a game", {
    command: "/doom-overlay missing.wad",
    by: /ctx\.ui\.custom\(\) needs a terminal|requires|Failed to load/,
  }),
  "tools.ts": terminal("a list of settings", { command: "/tools", by: CUSTOM }),
  "qna.ts": {
    ...terminal("a dialog of its own making", { command: "/qna", by: CUSTOM }),
    async run(host) {
      await host.prompt("hello");
      await host.prompt("/qna");
      await host.told(CUSTOM);
    },
  },
};
