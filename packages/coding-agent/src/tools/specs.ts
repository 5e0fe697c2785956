import type { AgentTool } from "@tiller/agent/types";
import type { BuiltinToolName } from "./index.ts";
import { DEFAULT_LIMITS, MAX_BYTES, MAX_LINES } from "./limits.ts";

const STATUS = { type: "string", enum: ["pending", "in_progress", "completed", "abandoned"] };
const TASK = {
  type: "object",
  properties: { id: { type: "string" }, content: { type: "string" }, status: STATUS, notes: { type: "string" } },
  required: ["content"],
};

type ToolSpec = Pick<AgentTool, "label" | "description" | "parameters">;

const JOB_ID = { type: "string", description: "Id of the job, such as job-1" };

/**
 * What a model is told of each built-in tool. It stands apart from what the tools do: every request needs these texts,
 * while the code behind them is loaded when a tool is first called.
 */
export const TOOL_SPECS: Readonly<Record<BuiltinToolName, ToolSpec>> = {
  read: {
    label: "read",
    description: `Read a file. Text comes as it is, cut after ${MAX_LINES} lines or ${MAX_BYTES / 1024}KB, whichever is first; use offset and limit to go on. Images (png, jpg, gif, webp) come as an attachment, notebooks as text, and a folder as the list of its names.`,
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "File to read, relative to the working directory or absolute" },
        offset: { type: "number", description: "First line to read, counted from 1" },
        limit: { type: "number", description: "How many lines to read at most" },
      },
      required: ["path"],
    },
  },
  bash: {
    label: "bash",
    description: `Run a command in a shell in the working directory; gives stdout and stderr together. Only the last ${MAX_LINES} lines or ${MAX_BYTES / 1024}KB are shown, the rest is saved to a file. There is no stdin.`,
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "Command line for the shell" },
        timeout: { type: "number", description: "Seconds after which the command is ended (default: none)" },
      },
      required: ["command"],
    },
  },
  edit: {
    label: "edit",
    description:
      "Replace exact text in a file. Give every change to the same file in one call, each oldText just long enough to be unique.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "File to edit, relative to the working directory or absolute" },
        edits: {
          type: "array",
          description: "One or more replacements. Each is found in the original file, so they must not overlap.",
          items: {
            type: "object",
            properties: {
              oldText: { type: "string", description: "Exact text to replace; must occur only once in the file" },
              newText: { type: "string", description: "Text to put there" },
            },
            required: ["oldText", "newText"],
          },
        },
      },
      required: ["path"],
    },
  },
  write: {
    label: "write",
    description: "Write a file, replacing what was in it. Missing folders are made.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "File to write, relative to the working directory or absolute" },
        content: { type: "string", description: "The whole new content" },
      },
      required: ["path", "content"],
    },
  },
  grep: {
    label: "grep",
    description: `Search the contents of files; gives \`file:line: text\`. Respects .gitignore, includes hidden files. Cut after ${DEFAULT_LIMITS.grep} matches or ${MAX_BYTES / 1024}KB, long lines are shortened.`,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "Regular expression, or plain text with literal" },
        path: { type: "string", description: "File or folder to search (default: the working directory)" },
        glob: { type: "string", description: "Search only files that match, such as `*.ts` or `src/**/*.test.ts`" },
        ignoreCase: { type: "boolean", description: "Upper and lower case are the same (default: false)" },
        literal: { type: "boolean", description: "Take the pattern as plain text (default: false)" },
        context: { type: "number", description: "Lines to show before and after each match (default: 0)" },
        limit: { type: "number", description: `How many matches at most (default: ${DEFAULT_LIMITS.grep})` },
      },
      required: ["pattern"],
    },
  },
  find: {
    label: "find",
    description: `Find files and folders by glob pattern; paths are relative to the searched folder. Respects .gitignore, includes hidden files. Cut after ${DEFAULT_LIMITS.find} results or ${MAX_BYTES / 1024}KB.`,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "Glob: `*.ts` matches names at any depth, `src/**/*.ts` whole paths" },
        path: { type: "string", description: "Folder to search (default: the working directory)" },
        limit: { type: "number", description: `How many results at most (default: ${DEFAULT_LIMITS.find})` },
      },
      required: ["pattern"],
    },
  },
  ls: {
    label: "ls",
    description: `List a folder: names in alphabetical order, folders with a closing /, hidden files too. Cut after ${DEFAULT_LIMITS.ls} entries or ${MAX_BYTES / 1024}KB.`,
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Folder to list (default: the working directory)" },
        limit: { type: "number", description: `How many entries at most (default: ${DEFAULT_LIMITS.ls})` },
      },
    },
  },
  todo: {
    label: "todo",
    description:
      "Keep the plan of the work, which the person sees. Write it with phases when a task has several steps; then mark each task in_progress when you begin it and completed when it is done, with updates. At most one task is in_progress.",
    parameters: {
      type: "object",
      properties: {
        phases: {
          type: "array",
          description: "The whole plan; takes the place of the one before. Keep the ids of tasks that stay.",
          items: {
            type: "object",
            properties: {
              id: { type: "string" },
              name: { type: "string" },
              tasks: { type: "array", items: TASK },
            },
            required: ["name", "tasks"],
          },
        },
        updates: {
          type: "array",
          description: "Changes of single tasks, by their ids",
          items: {
            type: "object",
            properties: {
              id: { type: "string" },
              status: STATUS,
              content: { type: "string" },
              notes: { type: "string" },
            },
            required: ["id"],
          },
        },
      },
    },
  },
  task: {
    label: "task",
    description:
      "Hand out work to sub-agents, which run side by side. Each begins with an empty conversation and knows only what you tell it here; you get the last message of each. Use it for work that can be described completely and does not depend on the rest: looking several things up, or changes in separate files. Two of them must not change the same file.",
    parameters: {
      type: "object",
      properties: {
        agent: { type: "string", description: "Which agent does the work (default: task)" },
        instructions: {
          type: "string",
          description: "Instead of agent: who the sub-agent is and how it works, for one that is not on the list",
        },
        tools: { type: "array", items: { type: "string" }, description: "With instructions: the tools it gets" },
        context: { type: "string", description: "What all the tasks have in common and each sub-agent must know" },
        tasks: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            properties: {
              id: { type: "string", description: "A short name, such as find-parser" },
              description: { type: "string", description: "The task in a few words, for people" },
              assignment: { type: "string", description: "What this sub-agent is to do and to report" },
            },
            required: ["assignment"],
          },
        },
      },
      required: ["tasks"],
    },
  },
  poll: {
    label: "poll",
    description:
      "Look at background jobs: how one is doing and the end of what it has printed, or, without jobId, a list of all. The result of a job comes by itself when it ends: poll only to see how it is doing, or with wait when nothing else is left to do.",
    parameters: {
      type: "object",
      properties: {
        jobId: JOB_ID,
        wait: { type: "number", description: "Seconds to wait for its end at most (default: 0)" },
      },
    },
  },
  cancel_job: {
    label: "cancel_job",
    description: "End a background job and everything it has started; gives the end of what it has printed.",
    parameters: { type: "object", properties: { jobId: JOB_ID }, required: ["jobId"] },
  },
};

/** The same for a place where commands may run in the background. */
export function specOf(name: BuiltinToolName, hasJobs: boolean): ToolSpec {
  const spec = TOOL_SPECS[name];
  if (name !== "bash" || !hasJobs) return spec;
  const { properties, ...rest } = spec.parameters;
  const async = {
    type: "boolean",
    description:
      "Run it in the background: the call comes back at once with the id of a job, and the result as a message when the job has ended (default: false)",
  };
  return {
    ...spec,
    description: `${spec.description} Use async for what takes long (servers, watchers, test suites).`,
    parameters: { ...rest, properties: { ...(properties as object), async } },
  };
}
