#!/usr/bin/env bash
# Checks the OpenAPI document with two linters, and plays a whole game with each example in
# JavaScript, TypeScript and Python. The last two use generated clients, so their types are checked
# first. Needs node 20, npm and python3, and downloads the packages that package-lock.json and
# requirements.txt name.
#
# usage: tests/clients.sh [lint] [javascript] [typescript] [python]    (all by default)
#
# The examples play on the server at DOG_URL, or else on one built and started here.
set -euo pipefail
cd "$(dirname "$0")/.."

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true SCARF_ANALYTICS=false
export NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false
export PIP_DISABLE_PIP_VERSION_CHECK=1

scratch=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || kill "$server"
  rm -rf "$scratch"
}
trap cleanup EXIT

# Sets `url` to that of a server.
serve() {
  url=${DOG_URL-}
  [[ -z $url ]] || return 0
  cargo build --locked --bin dog
  target/debug/dog serve --listen 127.0.0.1:0 --database "$scratch/dog.db" \
    > "$scratch/address" 2> "$scratch/log" &
  server=$!
  until url=$(sed -n 's/^listening on //p' "$scratch/address") && [[ -n $url ]]; do
    kill -0 "$server" || { cat "$scratch/log" >&2 && exit 1; }
    sleep 0.1
  done
}

lint() {
  npm ci --ignore-scripts --prefix tests/openapi
  local linters=tests/openapi/node_modules/.bin
  # In recommended-strict the warnings of the recommended rules are errors.
  "$linters/redocly" lint --extends recommended-strict openapi/openapi.json
  "$linters/spectral" lint --ruleset tests/openapi/.spectral.yaml --fail-severity hint \
    openapi/openapi.json
}

javascript() {
  timeout 120s node examples/frontend.mjs "$url"
}

typescript() {
  npm ci --ignore-scripts --prefix examples/typescript
  npm run build --prefix examples/typescript
  timeout 120s npm start --prefix examples/typescript -- "$url"
}

python() {
  (
    cd examples/python
    python3 -m venv .venv
    .venv/bin/pip install --quiet --requirement requirements.txt
    .venv/bin/openapi-python-client generate --path ../../openapi/openapi.json \
      --config generator.yaml --output-path dog_client --meta none --overwrite
    .venv/bin/mypy --strict play.py dog_client
    timeout 120s .venv/bin/python play.py "$url"
  )
}

(($# > 0)) || set -- lint javascript typescript python
for part in "$@"; do
  case $part in
    lint) lint ;;
    javascript | typescript | python)
      [[ -n ${url-} ]] || serve
      "$part"
      ;;
    *)
      echo "usage: tests/clients.sh [lint] [javascript] [typescript] [python]" >&2
      exit 2
      ;;
  esac
done
