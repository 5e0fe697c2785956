/** Events of the Responses API for tests, composed from the vendor's documentation of its stream. Nothing is recorded. */

export type TestEvent = Record<string, unknown> & { type: string };

export const REASONING = {
  id: "rs_1",
  type: "reasoning",
  summary: [
    { type: "summary_text", text: "**Look**\n\nFirst." },
    { type: "summary_text", text: "Then read." },
  ],
  encrypted_content: "gAAAAAB",
};

export const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 25 },
  total_tokens: 140,
};

const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  model: "gpt-test-2026-01-01",
  error: null,
  incomplete_details: null,
  usage: null,
};

export const created: TestEvent = {
  type: "response.created",
  response: { ...RESPONSE, status: "in_progress", output: [] },
};

const inProgress: TestEvent = { ...created, type: "response.in_progress" };

export function ended(status: string, fields: Record<string, unknown> = {}): TestEvent {
  return { type: `response.${status}`, response: { ...RESPONSE, status, output: [], usage: USAGE, ...fields } };
}

export function added(output_index: number, item: unknown): TestEvent {
  return { type: "response.output_item.added", output_index, item };
}

export function done(output_index: number, item: unknown): TestEvent {
  return { type: "response.output_item.done", output_index, item };
}

export function messageItem(text: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content, ...fields };
}

export function callItem(n: number, name: string, args: string): Record<string, unknown> {
  return { id: `fc_${n}`, type: "function_call", status: "completed", arguments: args, call_id: `call_${n}`, name };
}

export function textDelta(output_index: number, delta: string): TestEvent {
  const place = { item_id: "msg_1", output_index, content_index: 0 };
  return { type: "response.output_text.delta", ...place, delta, logprobs: [], obfuscation: "x9" };
}

export function summaryDelta(output_index: number, summary_index: number, delta: string): TestEvent {
  const place = { item_id: "rs_1", output_index, summary_index };
  return { type: "response.reasoning_summary_text.delta", ...place, delta, obfuscation: "aB3" };
}

export function argumentsDelta(output_index: number, delta: string): TestEvent {
  return { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index, delta, obfuscation: "q" };
}

/** All that is said about a message, as it is said. */
export function messageEvents(
  at: number,
  pieces: readonly string[],
  fields: Record<string, unknown> = {},
): TestEvent[] {
  const text = pieces.join("");
  const item = messageItem(text, fields);
  const place = { item_id: "msg_1", output_index: at, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  return [
    added(at, { ...item, status: "in_progress", content: [] }),
    { type: "response.content_part.added", ...place, part },
    ...pieces.map((piece) => textDelta(at, piece)),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part: { ...part, text } },
    done(at, item),
  ];
}

export function reasoningEvents(at: number): TestEvent[] {
  const parts = REASONING.summary.flatMap((part, summary_index) => {
    const place = { item_id: "rs_1", output_index: at, summary_index };
    return [
      { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
      summaryDelta(at, summary_index, part.text.slice(0, 5)),
      summaryDelta(at, summary_index, part.text.slice(5)),
      { type: "response.reasoning_summary_text.done", ...place, text: part.text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ];
  });
  return [added(at, { ...REASONING, summary: [], encrypted_content: "" }), ...parts, done(at, REASONING)];
}

export function callEvents(at: number, n: number, name: string, pieces: readonly string[]): TestEvent[] {
  const args = pieces.join("");
  const item = callItem(n, name, args);
  const place = { item_id: `fc_${n}`, output_index: at };
  return [
    added(at, { ...item, arguments: "", status: "in_progress" }),
    ...pieces.map((delta) => ({ ...argumentsDelta(at, delta), ...place })),
    { type: "response.function_call_arguments.done", ...place, arguments: args, name },
    done(at, item),
  ];
}

/** Thinks, speaks and calls two tools. */
export function wholeTurn(): TestEvent[] {
  const pieces = ["Reading ", 'the "file"', ", then\n", "the folder 🙂."];
  const item = { phase: "commentary" };
  return numbered([
    created,
    inProgress,
    ...reasoningEvents(0),
    ...messageEvents(1, pieces, item),
    ...callEvents(2, 1, "read", ['{"path":', '"a.txt"', "}"]),
    ...callEvents(3, 2, "ls", ["{}"]),
    ended("completed", {
      output: [
        REASONING,
        messageItem(pieces.join(""), item),
        callItem(1, "read", '{"path":"a.txt"}'),
        callItem(2, "ls", "{}"),
      ],
    }),
  ]);
}

export function numbered(events: readonly TestEvent[]): TestEvent[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

export function asStream(events: readonly TestEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
