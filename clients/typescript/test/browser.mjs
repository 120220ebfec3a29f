// Starts the Chromium that `cargo xtask peers` unpacks, without root and without a window.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder of the test peers. */
export function peers() {
  const folder = process.env.TRUNKLINE_PEERS;
  if (!folder || !existsSync(folder)) {
    throw new Error("TRUNKLINE_PEERS must name the folder of test peers; run cargo xtask peers");
  }
  return folder;
}

export async function launch() {
  const root = join(peers(), "browser");
  const unpacked = join(root, "usr/lib/chromium/chromium-headless-shell");
  const program = existsSync(unpacked) ? unpacked : join(root, "usr/bin/chromium-headless-shell");
  if (!existsSync(program)) throw new Error(`${program} is missing; run cargo xtask peers`);
  const driver = join(peers(), "web/node_modules/playwright-core/index.mjs");
  const { chromium } = await import(pathToFileURL(driver).href);
  return chromium.launch({
    executablePath: program,
    // The kernel may forbid user namespaces, which the sandbox needs; only our own pages are opened.
    args: ["--no-sandbox"],
    env: { ...process.env, LD_LIBRARY_PATH: libraries(join(root, "usr/lib")).join(":") },
  });
}

/** The folders with shared libraries. */
function libraries(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  const here = entries.some((entry) => entry.name.includes(".so")) ? [folder] : [];
  const below = entries.filter((entry) => entry.isDirectory() && entry.name !== "chromium");
  return [...here, ...below.flatMap((entry) => libraries(join(folder, entry.name)))];
}
