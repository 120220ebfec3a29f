// Uses the page at /docs in a browser: docs_page.mjs ADDRESS KEY
//
// Nothing may be printed to the browser's console: a violation of the page's policy is.

import assert from "node:assert/strict";
import { launch } from "../../../../clients/typescript/test/browser.mjs";

const [address, key] = process.argv.slice(2);
const browser = await launch();
try {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  const requested = [];
  page.on("request", (request) => requested.push(request.url()));

  // The browser itself reports the expected 401.
  const refused = async (action) => {
    await Promise.all([page.waitForEvent("console"), action()]);
    await page.getByText("Enter a key or token above").waitFor();
    assert.match(said.splice(0).join("\n"), /^Failed to load resource: [^\n]*401[^\n]*$/);
  };
  await refused(() => page.goto(`http://${address}/docs`));
  await page.fill("#key", key);
  await page.press("#key", "Enter");
  await page.locator("nav a").first().waitFor();

  await page.fill("#search", "echo says progress");
  assert.deepEqual(await page.locator("nav a").allTextContents(), ["echo_echo", "echo_gate"]);
  await page.click("nav a");
  await page.fill("#field-text", "<b>once more</b>");
  await page.fill("#field-steps", "two");
  await page.click("button.main");
  await page.getByText("This must be a number.").waitFor();
  await page.fill("#field-steps", "2");
  await page.click("button.main");
  await page.locator(".outcome.good").waitFor();
  assert.deepEqual(await page.locator(".events li").allTextContents(), ["1: <b>once more</b>", "2: <b>once more</b>"]);
  assert.equal(await page.locator(".result > pre").textContent(), "<b>once more</b>");

  // A tool that waits is cancelled.
  await page.fill("#search", "");
  await page.getByText("echo_nap", { exact: true }).click();
  await page.fill("#field-ms", "600000");
  await page.click("button.main");
  await page.getByText("Running …").waitFor();
  await page.getByText("Cancel", { exact: true }).click();
  await page.getByText("Cancelled.").waitFor();

  // The key is kept by nothing that outlives the page.
  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
  await refused(() => page.reload());

  // A view has a page of its own.
  await refused(() => page.goto(`http://${address}/mcp/server/echo/docs`));
  await page.fill("#key", key);
  await page.press("#key", "Enter");
  await page.getByText("nap", { exact: true }).waitFor();

  const elsewhere = requested.filter((url) => !url.startsWith(`http://${address}/`) && !url.startsWith("data:"));
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(said, []);
} finally {
  await browser.close();
}
