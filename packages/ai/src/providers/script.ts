import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ProviderError } from "../errors.ts";
import type { Delta, DeltaStream, ModelRequest, StreamModel } from "../provider.ts";
import { checkScript, ScriptError } from "./script-check.ts";
import { differences } from "./script-expect.ts";
import { playTurn } from "./script-play.ts";
import type { Script, Turn } from "./script-types.ts";

/** Provider `script`: a model that says what a file says, turn by turn. See docs/script-model.md. */

/** Throws a ScriptError that names the turn, the step and the field. */
export function parseScript(text: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ScriptError(`The script is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return checkScript(value);
}

/** Each call plays the next turn. The count is the only state, and it lives as long as the function returned here. */
export function createScriptModel(script: Script): StreamModel {
  let calls = 0;
  return (request) => {
    calls++;
    const place = placeOf(script, calls);
    if (!place) return failing(endText(script, calls));
    const turn = script.turns[place - 1]!;
    const mismatch = turn.expect && differences(turn.expect, request);
    if (mismatch) return failing(`Script turn ${place} does not fit the conversation.\n${mismatch}`);
    return playTurn(turn, request);
  };
}

/** Players by the file they play; a process has one, chosen at the start. */
const players = new Map<string, Promise<StreamModel>>();

/** Plays the file that the model's `baseUrl` names, read once. */
export const streamScript: StreamModel = (request) => streamFile(request);

async function* streamFile(request: ModelRequest): DeltaStream {
  const url = request.model.baseUrl;
  let player: StreamModel;
  try {
    const known = players.get(url) ?? loadPlayer(url);
    players.set(url, known);
    player = await known;
  } catch (error) {
    players.delete(url);
    const reason = error instanceof Error ? error.message : String(error);
    yield [
      {
        type: "error",
        error: new ProviderError("bad_request", `Cannot play the script ${url}: ${reason}`, { cause: error }),
      },
    ];
    return;
  }
  yield* player(request);
}

async function loadPlayer(url: string): Promise<StreamModel> {
  return createScriptModel(parseScript(readFileSync(fileURLToPath(url), "utf8")));
}

/** Which turn (from 1) the nth call plays; undefined after the end. */
function placeOf({ turns, onEnd }: Script, call: number): number | undefined {
  const total = turns.reduce((sum, turn) => sum + timesOf(turn), 0);
  if (call > total && onEnd === "repeat-last") return turns.length;
  let left = call > total && onEnd === "loop" ? ((call - 1) % total) + 1 : call;
  for (const [i, turn] of turns.entries()) {
    left -= timesOf(turn);
    if (left <= 0) return i + 1;
  }
  return undefined;
}

function timesOf(turn: Turn): number {
  return turn.repeat ?? 1;
}

function endText({ turns }: Script, call: number): string {
  const size = turns.length === 1 ? "1 turn" : `${turns.length} turns`;
  return `The script has ${size}, and this is call ${call} of the model. Add a turn, or set "onEnd" to "repeat-last" or "loop".`;
}

async function* failing(message: string): DeltaStream {
  const delta: Delta = { type: "error", error: new ProviderError("bad_request", message) };
  yield [delta];
}
