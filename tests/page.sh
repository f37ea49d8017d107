#!/usr/bin/env bash
# Checks the types of the page in web/ against the OpenAPI document, that its four languages have
# the same words, and that the code in docs/frontend.md is that of examples/frontend.mjs, and tests
# modules of the page that need no browser. Needs node 20 and npm, and downloads the packages that
# package-lock.json names.
#
# usage: tests/page.sh
set -euo pipefail
cd "$(dirname "$0")/page"

export NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false
npm ci --ignore-scripts
node_modules/.bin/openapi-typescript ../../openapi/openapi.json --output api.d.ts
node_modules/.bin/tsc --project .
node_modules/.bin/tsc --project tsconfig.worker.json
node words.mjs
node guide.mjs
node --test *.test.mjs
