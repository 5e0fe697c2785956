// Stands in for the package that starts a virtual machine: the "machine" is this one, and its /workspace is the folder
// that was mounted there. Only what the example of pi calls.
import { spawn } from "node:child_process";
import { access, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";

export class RealFSProvider {
  constructor(path) {
    this.path = path;
  }
}

export class VM {
  static async create({ vfs }) {
    return new VM(vfs.mounts);
  }

  constructor(mounts) {
    this.id = "standin-0001";
    const real = (path) => {
      const mount = Object.keys(mounts).find((place) => path === place || path.startsWith(`${place}/`));
      if (mount === undefined) throw new Error(`ENOENT: ${path} is not in the machine`);
      return mounts[mount].path + path.slice(mount.length);
    };
    this.real = real;
    this.fs = {
      readFile: (path, how) => readFile(real(path), how?.encoding),
      writeFile: (path, content, how) => writeFile(real(path), content, how),
      mkdir: (path, how) => mkdir(real(path), how),
      access: (path) => access(real(path)),
      stat: (path) => stat(real(path)),
      listDir: (path) => readdir(real(path)),
    };
  }

  exec([command, ...args], { cwd = "/workspace", env, signal } = {}) {
    const child = spawn(command, args, { cwd: this.real(cwd), env: { ...env, IN_THE_MACHINE: "yes" }, signal });
    const chunks = [];
    child.stdout.on("data", (data) => chunks.push(data));
    const result = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exitCode) => resolve({ exitCode, stdout: Buffer.concat(chunks).toString("utf8") }));
    });
    async function* output() {
      for await (const data of child.stdout) yield { data };
    }
    return Object.assign(result, { output });
  }

  async close() {
    // There is nothing to end.
  }
}
