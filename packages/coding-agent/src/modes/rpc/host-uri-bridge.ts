import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { HostUriCancel, HostUriRequest } from "@tiller/protocol/host-uris";
import { wrongField } from "../../lib/wrong-field.ts";
import type { AskHost } from "../../session/host-uris.ts";
import { createPendingRequests } from "./pending-requests.ts";

/** Requests for what stands behind URLs of the host, as frames. */
export interface HostUriBridge {
  ask: AskHost;
  /** Takes a `host_uri_result`; gives back what is wrong with it. Of a request that nobody waits for it is ignored. */
  result(frame: Frame): string | undefined;
  /** The host is gone: nobody will answer any more. */
  close(): void;
}

type Frame = Readonly<Record<string, unknown>>;
type Content = Awaited<ReturnType<AskHost>>;
type Settled = { content: Content } | { failure: string };
type Open = Pick<HostUriRequest, "operation" | "url">;

export interface HostUriBridgeOptions {
  write(frame: HostUriRequest | HostUriCancel): void;
  ids: IdSource;
  clock: Clock;
}

const GONE = "RPC client disconnected before host URI request completed";

export function createHostUriBridge({ write, ids, clock }: HostUriBridgeOptions): HostUriBridge {
  const requests = createPendingRequests<Settled>("host", ids, clock);
  const open = new Map<string, Open>();
  let isClosed = false;

  const giveUp = (targetId: string, failure: string): Settled => {
    open.delete(targetId);
    write({ type: "host_uri_cancel", id: ids.count("host"), targetId });
    return { failure };
  };

  return {
    async ask({ operation, url, content, signal, timeoutMs }) {
      const about = `Host URI ${operation} for ${url}`;
      if (isClosed) throw new Error(GONE);
      if (signal.aborted) throw new Error(`${about} was aborted`);
      let requestId = "";
      try {
        const settled = await requests.open({
          send(id) {
            requestId = id;
            open.set(id, { operation, url });
            write({ type: "host_uri_request", id, operation, url, ...(content !== undefined && { content }) });
          },
          signal,
          onAbort: (id) => giveUp(id, `${about} was aborted`),
          ...(timeoutMs !== undefined && {
            timeoutMs,
            onTimeout: (id: string) => giveUp(id, `${about} was not answered within ${timeoutMs} ms`),
          }),
        });
        if ("failure" in settled) throw new Error(settled.failure);
        return settled.content;
      } finally {
        open.delete(requestId);
      }
    },
    result(frame) {
      const { id } = frame;
      if (typeof id !== "string") return '"id" must be the id of a host_uri_request';
      const request = open.get(id);
      if (!request) return undefined;
      // From here on it is over: what is wrong with another answer in the same breath is nobody's business.
      open.delete(id);
      const { operation, url } = request;
      const wrong = wrongField(frame, { isError: "yesOrNo", error: "text", immutable: "yesOrNo" });
      if (wrong === undefined && frame.isError === true) {
        requests.settle(id, {
          failure: textOf(frame.error) || textOf(frame.content) || `Host URI ${operation} failed for ${url}`,
        });
        return undefined;
      }
      const content = wrong ?? contentOf(frame, operation);
      if (typeof content !== "string") {
        requests.settle(id, { content });
        return undefined;
      }
      // Nobody shall wait for an answer that the host believes to have given.
      requests.settle(id, { failure: `Host URI ${operation} for ${url} was answered badly: ${content}` });
      return content;
    },
    close() {
      isClosed = true;
      requests.rejectAll(new Error(GONE));
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

/** Or what is wrong with it. A write has nothing to say. */
function contentOf(frame: Frame, operation: Open["operation"]): Content | string {
  const { content, contentType, notes } = frame;
  const isSilent = operation === "write" && (content === undefined || content === null);
  if (!isSilent && typeof content !== "string") return '"content" must be a string: the text, or an image in base64';
  if (contentType !== undefined && contentType !== null && typeof contentType !== "string") {
    return '"contentType" must be a string such as "text/plain" or "image/png"';
  }
  const lines = notes === undefined || notes === null ? [] : Array.isArray(notes) ? notes : [notes];
  if (!lines.every((line) => typeof line === "string")) return '"notes" must be a text or a list of texts';
  return {
    content: typeof content === "string" ? content.toWellFormed() : "",
    contentType: contentType ?? "text/plain",
    notes: lines.map((line) => line.toWellFormed()),
  };
}
