import { fuzzyFilter, fuzzyMatch } from "./fuzzy.ts";
import type { CompatHost } from "./host.ts";
import { type Names, openModule } from "./stand-in.ts";
import * as components from "./tui-components.ts";
import {
  isKeyRelease,
  isKeyRepeat,
  Key,
  KeybindingsManager,
  matchesKey,
  parseKey,
  TUI_KEYBINDINGS,
} from "./tui-keys.ts";
import { sliceByColumn, stripTerminalSequences, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./tui-text.ts";

/** `pi-tui`: everything can be made and asked for, nothing is drawn. */
export function tuiModule(host: CompatHost): Names {
  let keybindings = new KeybindingsManager(TUI_KEYBINDINGS);
  return openModule(
    "pi-tui",
    {
      ...components,
      TuiMainScreen: components.TUI,
      TuiAltScreen: components.TUI,
      VStack: components.Container,
      HStack: components.Container,
      ScrollView: components.Container,
      Key,
      KeybindingsManager,
      TUI_KEYBINDINGS,
      /** Marks the place of the cursor in a rendered line; takes no room. */
      CURSOR_MARKER: "\x1b_pi:c\x07",
      matchesKey,
      parseKey,
      isKeyRelease,
      isKeyRepeat,
      isKittyProtocolActive: () => false,
      getKeybindings: () => keybindings,
      setKeybindings(given: KeybindingsManager) {
        keybindings = given;
      },
      visibleWidth,
      truncateToWidth,
      wrapTextWithAnsi,
      sliceByColumn,
      stripTerminalSequences,
      fuzzyFilter,
      fuzzyMatch,
      isFocusable: (component: unknown) =>
        typeof component === "object" && component !== null && "focused" in component,
      hyperlink: (text: string, _url: string) => text,
      getCapabilities: () => ({ images: null, trueColor: false, hyperlinks: false }),
      detectCapabilities: () => ({ images: null, trueColor: false, hyperlinks: false }),
      getCellDimensions: () => ({ widthPx: 9, heightPx: 18 }),
      imageFallback: (mimeType: string) => `[image ${mimeType}]`,
    },
    host.onStandIn,
  );
}
