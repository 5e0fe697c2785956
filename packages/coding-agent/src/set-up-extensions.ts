import type { Clock, IdSource } from "@tiller/protocol/clock";
import { unknownText } from "./args.ts";
import type { Env } from "./config/paths.ts";
import { mayHaveExtensions } from "./extensions/loading/may-have-extensions.ts";
import type { LoadedExtensions } from "./load-extensions.ts";
import type { SetUp } from "./set-up.ts";

export interface ExtendedSetUp extends SetUp {
  /** Undefined when there are none. */
  extensions: LoadedExtensions | undefined;
}

export interface ExtensionInputs {
  env: Env;
  /** Where the process was started. */
  cwd: string;
  clock: Clock;
  ids: IdSource;
  guestMark?: string;
}

/** The same with the extensions, which may bring models and options of the command line. */
export async function addExtensions(
  setUp: SetUp,
  inputs: ExtensionInputs,
): Promise<ExtendedSetUp | { error: string; exitCode: number }> {
  const { run, models } = setUp;
  const extensions = await extensionsFor(setUp, inputs);
  const refused = extensions?.flags.refused ?? run.unknown.map(({ option }) => unknownText(option, run.dialect));
  if (refused.some((text) => text.startsWith("Error"))) return { error: refused.join("\n"), exitCode: 2 };
  if (!extensions) return { ...setUp, extensions, problems: [...refused, ...setUp.problems] };
  const { chosen, found } = extensions;
  // What could not be used may be usable now.
  const old = new Set(models.problems);
  const others = setUp.problems.filter((problem) => !old.has(problem));
  const problems = [...refused, ...others, ...chosen.problems, ...found.problems];
  return { ...setUp, extensions, models: { ...models, ...chosen }, problems };
}

async function extensionsFor(setUp: SetUp, inputs: ExtensionInputs): Promise<LoadedExtensions | undefined> {
  const { run, settings, cwd, agentDir } = setUp;
  const { extension = [], hook = [], pluginDir = [], noExtensions } = run.options;
  const isPossible = mayHaveExtensions({
    cwd,
    agentDir,
    settings: { extensions: settings.get("extensions"), packages: settings.get("packages") },
    named: [...extension, ...hook, ...pluginDir],
    noExtensions,
    projectTrust: run.projectTrust,
  });
  if (!isPossible) return undefined;
  const { loadExtensions } = await import("./load-extensions.ts");
  return loadExtensions({ ...inputs, ...setUp, startFolder: inputs.cwd });
}
