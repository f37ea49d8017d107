// Checks that the code in docs/frontend.md is that of examples/frontend.mjs, which
// tests/clients.sh runs.

import { readFileSync } from "node:fs";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const program = read("examples/frontend.mjs");
const guide = read("docs/frontend.md");
const fragments = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
const others = fragments.filter((code) => !program.includes(code));
for (const code of others) console.error(`not in examples/frontend.mjs:\n${code}`);
process.exit(fragments.length > 0 && others.length === 0 ? 0 : 1);
