import { describe, expect, it } from "vitest";
import { inPlaceOf } from "./skipped-answer.ts";

const TOOL = {
  type: "host_tool_result",
  id: "host-1",
  isError: true,
  result: { content: [{ type: "text", text: "long" }] },
};
const URI = { type: "host_uri_result", id: "host-1", isError: true, error: "long" };
const DIALOG = { type: "extension_ui_response", id: "host-1", cancelled: true };

describe("in place of an answer that was skipped", () => {
  const cases: [story: string, begin: string, frames: unknown[]][] = [
    ["of a tool", '{"type":"host_tool_result","id":"host-1","result":{"content":[{"type":"text","te', [TOOL]],
    ["with the id first", '{"id":"host-1","type":"host_tool_result","result":{', [TOOL]],
    ["with room between", ' \t{ "type" : "host_tool_result" , "id" : "host-1" , "result" : {', [TOOL]],
    [
      "with more before",
      '{"isError":false,"n":-1.5e3,"x":null,"type":"host_tool_result","id":"host-1","result":{',
      [TOOL],
    ],
    ["with escapes", '{"type":"host_tool_res\\u0075lt","a\\"b":"\\\\","id":"host\\u002d1","result":{', [TOOL]],
    ["of a URI", '{"type":"host_uri_result","id":"host-1","content":"aaa', [URI]],
    ["of a dialog", '{"type":"extension_ui_response","id":"host-1","value":"aaa', [DIALOG]],
    ["with the type behind the long part", '{"id":"host-1","isError":false,"result":{"con', [TOOL, URI, DIALOG]],
    ["nothing for progress", '{"type":"host_tool_update","id":"host-1","partialResult":{', []],
    ["nothing for progress with the type behind it", '{"id":"host-1","partialResult":{"con', []],
    ["nothing for a command", '{"type":"prompt","id":"host-1","message":"aaa', []],
    ["nothing when the id stands behind", '{"type":"host_tool_result","result":{"id":"host-1","type":"x', []],
    ["nothing when the id itself does not end", '{"type":"host_tool_result","id":"host-1', []],
    ["nothing when the id may go on", '{"type":"host_tool_result","id":"host-1"', []],
    ["nothing for an id that is no text", '{"type":"host_tool_result","id":1,"result":{', []],
    ["nothing for a name of every object", '{"type":"toString","id":"host-1","result":{', []],
    ["nothing for no object", '["type","host_tool_result","id","host-1"', []],
    ["nothing for garbage", 'xxxx"id":"host-1",', []],
    ["nothing for a bad escape", '{"id":"\\x","type":"host_tool_result","result":{', []],
    ["nothing for nothing", "", []],
  ];
  it.each(cases)("%s", (_story, begin, frames) => expect(inPlaceOf(begin, "long")).toEqual(frames));
});
