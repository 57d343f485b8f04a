// Launch a session from Node, without packages: pin its prompt, then send what was pinned.
//
//     node launch.mjs SESSION "What sails tomorrow?"
//
// Runs in a clone with a tree `desk`; `values.json` and `tools.json` are what this launch gives.
import { execFileSync } from "node:child_process";

const [session, question] = process.argv.slice(2);
const model = "claude-sonnet-4-5";
const given = ["--env", "values.json", "--tools", "tools.json"];
const pvc = (...words) => execFileSync("pvc", words, { encoding: "utf8", maxBuffer: 1 << 28 });

const provider = ["--provider", "anthropic.messages", "--model", model];
pvc("pin", "desk", "--session", session, ...given, ...provider);

// Prompt, tools and cache markers as the session was pinned, whatever was adopted since.
// The head stays text: parsing it would reorder keys that look like numbers and print 1.0 as 1.
const head = pvc("pin", "--session", session, "--resume", "--emit", "anthropic");
const messages = JSON.stringify([{ role: "user", content: question }]);
const end = '"messages":[]}\n';
if (!head.endsWith(end)) throw new Error("no head of a request");
const body = `${head.slice(0, -end.length)}"max_tokens":1024,"messages":${messages}}`;

const base = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";
const response = await fetch(`${base}/v1/messages`, {
  method: "POST",
  headers: {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": process.env.ANTHROPIC_API_KEY,
  },
  body,
});
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
const answer = await response.json();
console.log(answer.content.filter((block) => block.type === "text").map((block) => block.text).join(""));
