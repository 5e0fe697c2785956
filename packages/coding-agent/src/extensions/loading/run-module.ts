import { compileFunction } from "node:vm";
import { type Compiled, PARAMETERS } from "./compiled.ts";
import { createNamespace, exportAll, exportCommonJs, type Namespace } from "./namespaces.ts";

/** Runs the compiled code of one module. */

export interface ModuleScope {
  path: string;
  namespace: Namespace;
  /** `module` of CommonJS; what it exports in the end counts if the module exports nothing else. */
  module: { exports: unknown; filename: string; id: string };
  importStatic(specifier: string, options?: { importedNames?: string[] }): Promise<object>;
  importDynamic(specifier: unknown): Promise<object>;
  meta: object;
  require: object;
  folder: string;
}

export type ModuleBody = (scope: ModuleScope) => unknown;

export function createScopeObjects(path: string): Pick<ModuleScope, "namespace" | "module"> {
  return { namespace: createNamespace(), module: { exports: {}, filename: path, id: path } };
}

const STRICT = '"use strict";return(async()=>{';

export function compileModule(path: string, { kind, code }: Compiled): ModuleBody {
  const [before, after] = kind === "esm" ? [STRICT, "\n})()"] : ["", "\n"];
  const options = { filename: path, columnOffset: -before.length };
  const body = compileFunction(before + code + after, [...PARAMETERS], options);
  return (scope) => {
    const { importStatic, importDynamic, namespace, meta, module, require, folder } = scope;
    const all = (from: object): void => exportAll(namespace, from);
    // In the order of PARAMETERS. `this` is that of the kind of module.
    return body.call(
      kind === "esm" ? undefined : module.exports,
      ...[importStatic, importDynamic, namespace, all, meta, module.exports, require, module, path, folder],
    );
  };
}

/** After it has run. */
export function finishNamespace(
  { namespace, module }: Pick<ModuleScope, "namespace" | "module">,
  kind: Compiled["kind"],
): void {
  const { exports } = module;
  const isUsed = typeof exports !== "object" || exports === null || Object.keys(exports).length > 0;
  if (kind === "cjs" || (isUsed && Object.keys(namespace).length === 0)) exportCommonJs(namespace, exports);
}
