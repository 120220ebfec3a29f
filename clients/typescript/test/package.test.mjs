// The package has the code, its types, and nothing else.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the package has the code and its types", () => {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd, encoding: "utf8" });
  const names = JSON.parse(packed)[0].files.map((file) => file.path);
  for (const name of ["package.json", "README.md", "dist/index.js", "dist/index.d.ts", "dist/client.d.ts"]) {
    assert.ok(names.includes(name), name);
  }
  assert.deepEqual(names.filter((name) => /^(src|test)\//.test(name)), []);
});
