#!/usr/bin/env bash
# Runs schemathesis against a new server: all phases and checks for the OpenAPI document.
#
#   tests/schemathesis/run.sh [--max-examples N] [--seed N] …
#
# Needs schemathesis (pip install schemathesis). Options are passed on to it.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --quiet
folder=$(mktemp --directory)
DOG_DATABASE=$folder/dog.db DOG_LISTEN=127.0.0.1:0 DOG_MAX_CONNECTIONS=1000 \
  target/debug/dog serve > "$folder/out" 2> "$folder/log" &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
until grep -q '^listening on' "$folder/out"; do
  kill -0 $server
  sleep 0.1
done
DOG_URL=$(sed -n 's/^listening on //p' "$folder/out")
export DOG_URL

status=0
SCHEMATHESIS_HOOKS=tests/schemathesis/hooks.py \
  schemathesis --config-file tests/schemathesis/schemathesis.toml run "$DOG_URL/openapi.json" "$@" || status=$?
if grep -E ' (ERROR|WARN) |panicked' "$folder/log"; then
  echo 'the server logged errors' >&2
  status=1
fi
exit $status
