"use strict";

// The key lives in its input field only: it is never stored, and a reload forgets it.

const byId = (id) => document.getElementById(id);
const base = location.pathname.replace(/\/docs$/, "");
let openapi = {};
let tools = [];
let shown = null;
let running = null;

/** An element with properties and children; text is never read as markup. */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function headers(more) {
  const key = byId("key").value.trim();
  return key ? { ...more, Authorization: `Bearer ${key}` } : { ...more };
}

// ---- The list

async function load() {
  const response = await fetch(`${base}/openapi.json`, { headers: headers() }).catch(() => null);
  if (!response) return complain("The server does not answer.");
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) {
    tools = [];
    drawList();
    const asks = response.status === 401 || response.status === 403;
    byId("key").placeholder = "paste a key, then press Enter";
    return complain(asks ? "Enter a key or token above to see the tools that it may use."
      : body?.error?.message ?? `The server answered ${response.status}.`);
  }
  openapi = body;
  tools = Object.entries(body.paths)
    .filter(([path, item]) => item.post && path.endsWith("/execute"))
    .map(([path, item]) => toolOf(path, item.post))
    .sort((one, other) => one.name.localeCompare(other.name));
  drawList();
  route();
}

function toolOf(path, operation) {
  const schema = operation.requestBody.content["application/json"].schema;
  return {
    path,
    name: operation.operationId.replace(/^execute_/, ""),
    title: operation.summary,
    description: operation.description ?? "",
    server: operation["x-server"] ?? "",
    hints: operation["x-annotations"] ?? {},
    tags: operation.tags ?? [],
    params: schema.properties.params,
  };
}

function drawList() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (tool) => `${tool.name} ${tool.title} ${tool.description} ${tool.tags}`.toLowerCase();
  const found = tools.filter((tool) => words.every((word) => text(tool).includes(word)));
  const groups = Map.groupBy ? Map.groupBy(found, (tool) => tool.server)
    : found.reduce((all, tool) => all.set(tool.server, [...(all.get(tool.server) ?? []), tool]), new Map());
  const drawn = [...groups.keys()].sort().flatMap((server) => [
    server ? make("h2", { textContent: server }) : null,
    ...groups.get(server).map((tool) => {
      const link = make("a", { href: `#${encodeURIComponent(tool.name)}`, textContent: tool.name });
      if (shown === tool) link.setAttribute("aria-current", "page");
      return link;
    }),
  ]);
  byId("list").replaceChildren(...drawn.filter(Boolean));
  const all = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
  byId("count").textContent = words.length ? `${found.length} of ${all}` : all;
}

function complain(text) {
  shown = null;
  byId("tool").replaceChildren(make("p", { className: "notice", textContent: text }));
}

function route() {
  const name = decodeURIComponent(location.hash.slice(1));
  const tool = tools.find((one) => one.name === name);
  running?.abort();
  if (!tool) complain(name ? `There is no tool ${name} here, or this key may not use it.`
    : tools.length ? "Choose a tool to read about it and to try it." : "There are no tools here.");
  else showTool(tool);
  drawList();
}

// ---- One tool

function showTool(tool) {
  shown = tool;
  const badges = [
    tool.hints.readOnlyHint === true ? make("span", { className: "badge", textContent: "only reads" }) : null,
    tool.hints.destructiveHint === true && tool.hints.readOnlyHint !== true
      ? make("span", { className: "badge warn", textContent: "may destroy" }) : null,
    ...tool.tags.map((tag) => make("span", { className: "badge", textContent: tag })),
  ];
  byId("tool").replaceChildren(
    make("h1", { textContent: tool.title || tool.name }),
    make("p", { className: "name", textContent: `POST ${tool.path}` }),
    make("div", { className: "badges" }, ...badges),
    make("p", { className: "description", textContent: tool.description }),
    tryCard(tool),
    make("details", {}, make("summary", { textContent: "Schema of the arguments" }),
      make("pre", { textContent: JSON.stringify(tool.params, null, 2) })),
  );
}

function tryCard(tool) {
  const fields = fieldsOf(tool.params);
  const form = make("div", {}, ...fields.map((field) => field.element));
  if (fields.length === 0) form.append(make("p", { textContent: "This tool takes no arguments." }));
  const raw = make("textarea", { rows: 10, hidden: true, ariaLabel: "Arguments as JSON", spellcheck: false });
  const asJson = make("input", { type: "checkbox" });
  const complaint = make("p", { className: "complaint", hidden: true });
  asJson.addEventListener("change", () => {
    if (asJson.checked) raw.value = JSON.stringify(readFields(fields).params, null, 2);
    form.hidden = asJson.checked;
    raw.hidden = !asJson.checked;
  });
  const read = () => {
    if (!asJson.checked) return readFields(fields);
    try {
      return { params: JSON.parse(raw.value) };
    } catch (error) {
      return { params: {}, complaint: `The arguments are no JSON: ${error.message}` };
    }
  };
  const options = optionFields();
  const run = make("button", { className: "main", textContent: "Run", type: "submit" });
  const cancel = make("button", { textContent: "Cancel", type: "button", disabled: true });
  const output = make("div", {});
  const element = make("form", { className: "card" },
    make("h2", { textContent: "Try it" }), form, raw,
    make("details", {}, make("summary", { textContent: "Time limit and priority" }), options.element),
    complaint,
    make("div", { className: "row" }, run, cancel,
      make("label", { className: "switch" }, asJson, "edit as JSON")),
    output);
  cancel.addEventListener("click", () => running?.abort());
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = read();
    complaint.textContent = given.complaint ?? "";
    complaint.hidden = !given.complaint;
    if (given.complaint) return;
    const context = options.read();
    const body = Object.keys(context).length ? { params: given.params, context } : { params: given.params };
    run.disabled = true;
    cancel.disabled = false;
    execute(tool, body, output).finally(() => {
      run.disabled = false;
      cancel.disabled = true;
    });
  });
  return element;
}

function optionFields() {
  const timeout = make("input", { type: "number", min: 1, placeholder: "the server's limit" });
  const priority = make("select", {}, ...["normal", "high", "low"].map((value) => make("option", { value, textContent: value })));
  const field = (text, input) => make("div", { className: "field" }, make("label", {}, text, input));
  return {
    element: make("div", { className: "row" }, field("Milliseconds", timeout), field("Priority", priority)),
    read: () => ({
      ...(timeout.value ? { timeout: Number(timeout.value) } : {}),
      ...(priority.value === "normal" ? {} : { priority: priority.value }),
    }),
  };
}

// ---- Fields from a JSON Schema

function fieldsOf(schema) {
  const properties = Object.entries(schema?.properties ?? {});
  const required = new Set(schema?.required ?? []);
  properties.sort(([one], [other]) => required.has(other) - required.has(one));
  return properties.map(([name, member]) => fieldOf(name, simplified(member, schema), required.has(name)));
}

/** The schema without references and without `null` as an alternative. */
function simplified(member, root, depth = 0) {
  if (typeof member !== "object" || member === null || depth > 8) return {};
  if (typeof member.$ref === "string" && member.$ref.startsWith("#/")) {
    const parts = member.$ref.slice(2).split("/")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
    // A schema with a base of its own has pointers into itself, others into the document.
    const target = parts.reduce((place, part) => place?.[part], parts[0] === "paths" ? openapi : root);
    return simplified({ ...target, ...member, $ref: undefined }, root, depth + 1);
  }
  const choices = (member.anyOf ?? member.oneOf)?.filter((choice) => choice.type !== "null");
  if (choices?.length === 1) {
    return simplified({ ...choices[0], ...member, anyOf: undefined, oneOf: undefined }, root, depth + 1);
  }
  if (Array.isArray(member.type)) {
    const types = member.type.filter((type) => type !== "null");
    return { ...member, type: types.length === 1 ? types[0] : undefined };
  }
  return member;
}

function fieldOf(name, schema, required) {
  const id = `field-${name}`;
  const { input, parse } = inputOf(schema, required);
  input.id = id;
  if (schema.default !== undefined && !input.value) input.placeholder = JSON.stringify(schema.default);
  const complaint = make("p", { className: "complaint", hidden: true });
  const element = make("div", { className: "field" },
    make("label", { htmlFor: id }, name, " ",
      make("span", { className: "type", textContent: typeOf(schema) }), " ",
      required ? make("span", { className: "required", textContent: "required" }) : null),
    schema.description ? make("p", { textContent: schema.description }) : null, input, complaint);
  const say = (text) => {
    complaint.textContent = text ?? "";
    complaint.hidden = !text;
    element.classList.toggle("wrong", Boolean(text));
    return text;
  };
  return { name, element, read: () => readField(input, parse, required, say) };
}

function readField(input, parse, required, say) {
  if (input.value === "" && !(required && parse === String)) {
    return required ? { complaint: say("A value is needed here.") } : (say(), {});
  }
  try {
    const value = parse(input.value);
    say();
    return { value };
  } catch (error) {
    return { complaint: say(error.message) };
  }
}

function readFields(fields) {
  const params = {};
  let complaint;
  for (const field of fields) {
    const read = field.read();
    if (read.complaint) complaint ??= "Some arguments are missing or not valid.";
    else if (read.value !== undefined) params[field.name] = read.value;
  }
  return { params, complaint };
}

function typeOf(schema) {
  if (schema.enum) return "one of";
  if (schema.type === "array" && schema.items?.type) return `list of ${schema.items.type}`;
  return typeof schema.type === "string" ? schema.type : "any";
}

function inputOf(schema, required) {
  const choose = (values) => make("select", {}, ...(required ? [] : [make("option", { value: "" })]),
    ...values.map((value) => make("option", { value: JSON.stringify(value), textContent: String(value) })));
  if (Array.isArray(schema.enum)) return { input: choose(schema.enum), parse: JSON.parse };
  switch (schema.type) {
    case "boolean": return { input: choose([true, false]), parse: JSON.parse };
    case "integer":
    case "number": return { input: make("input", { type: "text", inputMode: "decimal" }), parse: numberOf };
    case "string": return { input: textInput(schema), parse: String };
    default: break;
  }
  if (schema.type === "array" && schema.items?.type === "string") {
    const lines = (text) => text.split("\n").filter((line) => line !== "");
    return { input: make("textarea", { placeholder: "one per line" }), parse: lines };
  }
  return { input: make("textarea", { placeholder: schema.type === "array" ? "[ … ] as JSON" : "JSON" }), parse: jsonOf };
}

function textInput(schema) {
  const long = /multi-?line|content|text|message|body|source|patch|diff/i.test(schema.description ?? "");
  return long || schema.maxLength > 200 ? make("textarea", {}) : make("input", { type: "text", spellcheck: false });
}

function numberOf(text) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error("This must be a number.");
  return value;
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This must be JSON: ${error.message}`);
  }
}

// ---- Running a tool

async function execute(tool, body, output) {
  const bar = make("progress", {});
  const events = make("ul", { className: "events" });
  const result = make("div", { className: "result" });
  const outcome = make("p", { className: "outcome", textContent: "Running …", role: "status" });
  output.replaceChildren(outcome, bar, events, result);
  running = new AbortController();
  try {
    const response = await fetch(tool.path, {
      method: "POST",
      headers: headers({ "Content-Type": "application/json", Accept: "text/event-stream, application/json" }),
      body: JSON.stringify(body),
      signal: running.signal,
    });
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      return showOutcome(await response.json(), outcome, result);
    }
    for await (const { event, data } of eventsOf(response.body)) {
      if (event === "result") showOutcome(data, outcome, result);
      else showEvent(event, data, { bar, events, result });
    }
  } catch (error) {
    outcome.className = "outcome bad";
    outcome.textContent = error.name === "AbortError" ? "Cancelled." : `The connection was lost: ${error.message}`;
  } finally {
    bar.hidden = true;
  }
}

async function* eventsOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value.replaceAll("\r", "");
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const of = (name) => lines.filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
      if (of("data")) yield { event: of("event"), data: JSON.parse(of("data")) };
    }
  }
}

function showEvent(event, data, { bar, events, result }) {
  if (event === "partial") return result.append(make("pre", { textContent: textOf(data) }));
  if (event === "progress") {
    if (typeof data.total === "number") bar.max = data.total;
    if (typeof data.total === "number") bar.value = data.progress;
    const share = typeof data.total === "number" ? `${data.progress} of ${data.total}` : `${data.progress}`;
    events.append(make("li", { textContent: data.message ? `${share}: ${data.message}` : share }));
  } else {
    events.append(make("li", { textContent: `${data.level ?? event}: ${textOf(data.data ?? data)}` }));
  }
  events.lastElementChild.scrollIntoView({ block: "nearest" });
}

function showOutcome(body, outcome, result) {
  const time = body.metadata ? ` in ${body.metadata.duration} ms` : "";
  outcome.className = body.success ? "outcome good" : "outcome bad";
  outcome.textContent = body.success ? `Done${time}.` : `Failed${time}: ${body.error.code}`;
  result.replaceChildren(...(body.success ? blocksOf(body.result) : failureOf(body.error)),
    make("details", {}, make("summary", { textContent: "The whole answer" }),
      make("pre", { textContent: JSON.stringify(body, null, 2) })));
}

function failureOf(error) {
  const advice = error.details?.suggestedAction;
  return [make("p", { className: "failure", textContent: advice ? `${error.message}\n${advice}` : error.message })];
}

function blocksOf(result) {
  return (result.content ?? []).map((block) => {
    if (block.type === "text") return make("pre", { textContent: block.text });
    if (block.type === "image" && /^image\/[a-z+.-]+$/.test(block.mimeType)) {
      return make("img", { src: `data:${block.mimeType};base64,${block.data}`, alt: "The tool's image" });
    }
    return make("pre", { textContent: JSON.stringify(block, null, 2) });
  });
}

function textOf(data) {
  if (typeof data === "string") return data;
  return typeof data?.text === "string" ? data.text : JSON.stringify(data, null, 2);
}

// ---- Start

byId("place").textContent = base.replace(/^\/mcp\//, "");
byId("search").addEventListener("input", drawList);
byId("key").addEventListener("change", load);
addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("search").focus();
  }
});
load();
