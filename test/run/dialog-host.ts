import type { Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";
import type { Manner } from "./sequence.ts";

/** A host that answers dialogs, each in the manner that is next. */
export interface DialogHost {
  /** From now on every dialog is answered: those that are open, and each that comes. */
  answerAll(): void;
}

const FIELDS: Readonly<Record<string, object>> = {
  confirm: { confirmed: true },
  select: { value: "yes" },
  input: { value: "yes" },
  editor: { value: "yes" },
};

export function isQuestion({ type, method }: Frame): boolean {
  return type === "extension_ui_request" && Object.hasOwn(FIELDS, String(method));
}

export function answerDialogs(rpc: RpcProcess, manners: readonly Manner[]): DialogHost {
  const unanswered: Frame[] = [];
  let answersAll = false;
  const answer = ({ id }: Frame, fields: object): void => rpc.send({ type: "extension_ui_response", id, ...fields });
  const yes = (question: Frame): void => answer(question, FIELDS[String(question.method)] ?? {});

  const react = (question: Frame, manner: Manner): void => {
    if (answersAll) yes(question);
    else if (typeof manner === "object") setTimeout(() => yes(question), manner.late);
    else if (manner === "never") unanswered.push(question);
    else if (manner === "no") answer(question, { confirmed: false, value: "" });
    else if (manner === "cancel") answer(question, { cancelled: true });
    else if (manner === "nonsense") answer(question, { confirmed: "perhaps", value: 7 });
    else for (let times = manner === "twice" ? 2 : 1; times > 0; times--) yes(question);
  };

  const listen = async (): Promise<void> => {
    for (let since = 0, count = 0; ; count++) {
      const question = await rpc.waitFor(isQuestion, { since, timeoutMs: 60_000 });
      since = rpc.frames.indexOf(question) + 1;
      react(question, manners[count % manners.length] ?? "yes");
    }
  };
  // Until the process ends.
  if (manners.length > 0) void listen().catch(() => undefined);

  return {
    answerAll() {
      answersAll = true;
      for (const question of unanswered.splice(0)) yes(question);
    },
  };
}
