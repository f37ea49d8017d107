#!/usr/bin/env bash
# Lints the page in web/, and checks its types against the OpenAPI document, that its four languages
# have the same words, and that the code in docs/frontend.md is that of examples/frontend.mjs, and
# tests modules of the page that need no browser. Needs node 20 and npm, and downloads the packages
# that package-lock.json names.
#
# usage: tests/page.sh
set -euo pipefail
cd "$(dirname "$0")/page"

export NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false
npm ci --ignore-scripts
(cd ../.. && tests/page/node_modules/.bin/oxlint --config tests/page/.oxlintrc.json --deny-warnings \
  web/src web/*.js tests/page/*.mjs)
node_modules/.bin/openapi-typescript ../../openapi/openapi.json --output api.d.ts
node_modules/.bin/tsc --project .
node_modules/.bin/tsc --project tsconfig.worker.json
node words.mjs
node guide.mjs
node --test *.test.mjs
