import { renderClientMethods } from "./generate/client-methods.ts";
import { renderClientsDoc } from "./generate/clients-doc.ts";
import { renderCommandTable } from "./generate/command-table.ts";
import { renderCliDoc, renderSettingsDoc } from "./generate/config-docs.ts";
import { renderExtensionsDoc } from "./generate/extensions-doc.ts";
import { renderJsonSchema } from "./generate/json-schema.ts";
import { modelsDoc } from "./generate/models-doc.ts";
import { writeOrCheck } from "./generate/output.ts";
import { renderPlainTypes } from "./generate/plain-types.ts";
import { renderProtocolDoc } from "./generate/protocol-doc.ts";
import { pythonClientFiles } from "./generate/python-client.ts";
import { renderSessionDoc } from "./generate/session-doc.ts";
import { renderSessionSchema } from "./generate/session-schema.ts";
import { renderSettingsSchema } from "./generate/settings-schema.ts";
import { renderOptionsTable, renderSettingsTable } from "./generate/start-tables.ts";

/** Writes every generated file; with `--check` it only compares and fails on a difference. */

const files = new Map<string, string>([
  ["packages/protocol/src/command-table.generated.ts", renderCommandTable()],
  ["packages/coding-agent/src/config/settings-table.generated.ts", renderSettingsTable()],
  ["packages/coding-agent/src/options-table.generated.ts", renderOptionsTable()],
  ["packages/coding-agent/src/client/methods.generated.ts", renderClientMethods()],
  ["packages/protocol/src/plain-types.generated.ts", renderPlainTypes()],
  ["schema/rpc.schema.json", renderJsonSchema()],
  ["schema/session.schema.json", renderSessionSchema()],
  ["schema/settings.schema.json", renderSettingsSchema()],
  ["docs/protocol.md", renderProtocolDoc()],
  ["docs/session-format.md", renderSessionDoc()],
  ["docs/settings.md", renderSettingsDoc()],
  ["docs/cli.md", renderCliDoc()],
  ["docs/models.md", modelsDoc()],
  ["docs/extensions.md", renderExtensionsDoc()],
  ["docs/write-a-client.md", renderClientsDoc()],
  ...pythonClientFiles(),
]);

process.exitCode = writeOrCheck(files, { check: process.argv.includes("--check") });
