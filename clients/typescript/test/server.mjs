// Starts the real binary in front of a test server, and stops it.

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = resolve(fileURLToPath(import.meta.url), "../../../..");
const ECHO = join(REPOSITORY, "crates/trunkline/tests/gateway/echo_server.py");

/** The binary that is tested. */
function binary() {
  const program = process.env.TRUNKLINE_BINARY;
  if (!program) throw new Error("TRUNKLINE_BINARY must name the binary; cargo xtask test sets it");
  return program;
}

/** A running server with the tools of the echo server, and a key for it. */
export async function serve(more = {}) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-client-"));
  const key = `tl_${randomBytes(32).toString("base64url")}`;
  const sha256 = createHash("sha256").update(key).digest("hex");
  const write = (name, value) => {
    writeFileSync(join(folder, name), JSON.stringify(value), { mode: 0o600 });
    return join(folder, name);
  };
  const keys = write("keys.json", { keys: [{ id: "tester", sha256 }] });
  const config = write("trunkline.json", {
    ...more,
    mcp: { servers: { echo: { command: ["python3", ECHO, "modern", "echo", "fail", "exit"] } } },
    auth: { ...more.auth, keys },
    audit: { enabled: false },
  });
  const program = spawn(binary(), ["serve", "--json", "--listen", "127.0.0.1:0", "--config", config], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await endpointOf(program);
  const stop = async () => {
    const ended = new Promise((done) => program.once("exit", done));
    program.kill("SIGINT");
    program.kill("SIGINT");
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { url, key, folder, stop };
}

/** The address in the first line that the binary prints. */
function endpointOf(program) {
  return new Promise((done, failed) => {
    let text = "";
    program.once("exit", (code) => failed(new Error(`the binary ended with ${code}`)));
    program.stdout.on("data", (data) => {
      text += data;
      const end = text.indexOf("\n");
      if (end >= 0) done(new URL(JSON.parse(text.slice(0, end)).endpoint).origin);
    });
  });
}
