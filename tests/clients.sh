#!/usr/bin/env bash
# Checks the OpenAPI document with two linters and a generator of clients, and plays a whole game
# with each example in JavaScript, TypeScript, Python, Go and Java, and another one with a server that
# sends what they do not know. All but the first and bot.py use generated clients, so their types are
# checked first. Those in Go and Java also decode every kind of event and of line of a stream. Needs curl, Go 1.18, Java 17, jq, node 20, npm and python3, and downloads
# the packages that package-lock.json and requirements.txt name.
#
# usage: tests/clients.sh [PART]…    (all by default)
#
# Parts are lint, generators, javascript, typescript, python, go and java. The examples play on the
# server at DOG_URL, or else on one built and started here.
set -euo pipefail
cd "$(dirname "$0")/.."

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true SCARF_ANALYTICS=false
export NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_AUDIT=false NPM_CONFIG_FUND=false
export PIP_DISABLE_PIP_VERSION_CHECK=1
export JAVA_OPTS=-XX:TieredStopAtLevel=1 # for the generator, too: what runs for seconds starts faster

scratch=$(mktemp -d)
server=
proxy=
cleanup() {
  [[ -z $server ]] || kill "$server"
  [[ -z $proxy ]] || kill "$proxy"
  rm -rf "$scratch"
}
trap cleanup EXIT

# Sets `url` to that of a server.
serve() {
  url=${DOG_URL-}
  [[ -z $url ]] || return 0
  cargo build --locked --bin dog
  echo 'Closed on Sunday.' > "$scratch/notice"
  target/debug/dog serve --listen 127.0.0.1:0 --database "$scratch/dog.db" --review-percent 1 \
    --notice "$scratch/notice" > "$scratch/address" 2> "$scratch/log" &
  server=$!
  until url=$(sed -n 's/^listening on //p' "$scratch/address") && [[ -n $url ]]; do
    kill -0 "$server" || { cat "$scratch/log" >&2 && exit 1; }
    sleep 0.1
  done
}

# Sets `later` to the URL of a proxy, through which the server looks like a later version.
serve_later() {
  python3 tests/clients/later.py "$url" > "$scratch/later" &
  proxy=$!
  until later=$(cat "$scratch/later") && [[ -n $later ]]; do
    kill -0 "$proxy"
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

# writes STATUS: how many plays and answers in exchanges had a status with this beginning.
writes() {
  curl --silent --show-error --fail "$url/metrics" |
    awk -v "status=status=\"$1" '/POST.*[/](play|swap)"/ && index($0, status) { sum += $NF }
      END { print sum + 0 }'
}

# plays COMMAND…: runs a program on the server, and on one of a later version. Fails if it acts on
# what its own answers, or those of its partner, have overtaken: of its writes less than 1% may be
# refused.
plays() {
  timeout 120s "$@" "$later" > "$scratch/later_moves" 2>&1 ||
    { tail -n 20 "$scratch/later_moves" >&2 && return 1; }
  local done refused
  done=$(writes 2) refused=$(writes 4)
  timeout 120s "$@" "$url"
  done=$(($(writes 2) - done)) refused=$(($(writes 4) - refused))
  ((done > 0 && 100 * refused <= done)) ||
    { echo "$refused writes are refused, $done are not: $*" >&2 && return 1; }
}

javascript() {
  plays node examples/frontend.mjs
}

typescript() {
  npm ci --ignore-scripts --prefix examples/typescript
  npm run build --prefix examples/typescript
  plays npm start --prefix examples/typescript --
}

python() {
  (
    cd examples/python
    python3 -m venv .venv
    .venv/bin/pip install --quiet --requirement requirements.txt
    .venv/bin/openapi-python-client generate --path ../../openapi/openapi.json \
      --config generator.yaml --output-path dog_client --meta none --overwrite
    .venv/bin/mypy --strict play.py dog_client
  )
  plays examples/python/.venv/bin/python examples/python/play.py
}

# Sets `generator` and `jar` to those of openapi-generator.
install_generator() {
  local environment=$PWD/tests/openapi/.venv
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --requirement tests/openapi/requirements.txt
  generator=$environment/bin/openapi-generator-cli
  jar=$(echo "$environment"/lib/python3*/site-packages/openapi_generator_cli/openapi-generator.jar)
}

# generate OPTION…: generates a client. Fails on warnings, but those about the program itself.
generate() {
  local log=$scratch/$BASHPID.log
  "$generator" generate "$@" > "$log" 2>&1 || { cat "$log" >&2 && return 1; }
  ! grep -E ' (WARN|ERROR) ' "$log" |
    grep -vE 'OpenAPI 3.1 support is still in beta|Ignoring complex example' >&2
}

generators() {
  install_generator
  "$generator" validate --input-spec openapi/openapi.json | tee "$scratch/findings"
  grep --quiet '^No validation issues detected' "$scratch/findings"
  # The options are those of docs/clients.md.
  local later=enumUnknownDefaultCase=true
  generate -i openapi/openapi.json -o "$scratch/csharp" -g csharp --library httpclient \
    -p "useOneOfDiscriminatorLookup=true,disallowAdditionalPropertiesIfNotPresent=false,$later" &
  local csharp=$!
  generate -i openapi/openapi.json -o "$scratch/kotlin" -g kotlin --library jvm-retrofit2 \
    -p "serializationLibrary=gson,generateOneOfAnyOfWrappers=true,$later"
  wait "$csharp"
}

# call METHOD PATH TOKEN [BODY]: sends a request to the API and prints the body of the response.
call() {
  curl --silent --show-error --fail-with-body --request "$1" "$url$2" \
    --header 'Content-Type: application/json' ${3:+--header "Authorization: Bearer $3"} \
    ${4:+--data "$4"}
}

# until_line PATTERN FILE: waits for a line.
until_line() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    ! grep --quiet "$1" "$2" || return 0
    sleep 0.1
  done
  echo "no line with $1 in $2" >&2
  return 1
}

# Writes to `$scratch/HistoryLine` the histories of games that have every kind of event, and to
# `$scratch/StreamMessage` a stream with every kind of line.
record_lines() {
  [[ ! -e $scratch/StreamMessage ]] || return 0
  local ndjson='Accept: application/x-ndjson' record id
  for record in tests/records/*.dog; do
    jq --raw-input --slurp '{record: .}' "$record" > "$scratch/import"
    id=$(call POST /v1/games/import '' "@$scratch/import" | jq --raw-output .id)
    curl --silent --show-error --fail --header "$ndjson" "$url/v1/games/$id/history"
  done > "$scratch/HistoryLine"

  local bot='{"kind": "bot", "level": "greedy"}' created host seat stream
  created=$(call POST /v1/games '' \
    "{\"seats\": [{}, $bot, $bot, $bot], \"first_dealer\": 0, \"bot_pace_ms\": 0}")
  id=$(jq --raw-output .id <<< "$created")
  host=$(jq --raw-output .host_token <<< "$created")
  seat=$(jq --raw-output '.seat_tokens[0]' <<< "$created")
  curl --silent --no-buffer --header "$ndjson" --header "Authorization: Bearer $seat" \
    "$url/v1/games/$id/events?include=game,moves&after_end=true" > "$scratch/lines" &
  stream=$!
  call POST "/v1/games/$id/deal" "$seat" '{}' > /dev/null
  call POST "/v1/games/$id/swap" "$seat" \
    "$(call GET "/v1/games/$id/suggest-move?level=greedy" "$seat" |
      jq --compact-output '.suggestions[0].request.body')" > /dev/null
  until_line '"moves":\[' "$scratch/lines"
  call POST "/v1/games/$id/reactions" "$seat" '{"reaction": "dog"}'
  until_line '"type":"reaction"' "$scratch/lines"
  call PUT "/v1/games/$id/seats/0" "$seat" "$bot" > /dev/null
  until_line '"type":"game_won"' "$scratch/lines"
  call POST "/v1/games/$id/rematch" "$host" '{}' > /dev/null
  until_line '"type":"rematch"' "$scratch/lines"
  call POST "/v1/games/$id/review" "$host" > /dev/null
  until_line '"type":"review"' "$scratch/lines"
  kill "$stream"

  local table token first
  created=$(call POST /v1/matches '' "{\"turn_seconds\": 60, \"bot_pace_ms\": 0,
    \"sides\": [{\"name\": \"Red\", \"kind\": \"open\"}, $(jq '.name = "Blue"' <<< "$bot")]}")
  for table in 0 1; do
    id=$(jq --raw-output ".pairs[0].tables[$table].id" <<< "$created")
    for seat in "$table" "$((table + 2))"; do
      token=$(call POST "/v1/games/$id/join" '' \
        "$(jq ".pairs[0].tables[$table].invitations[$seat] | {invitation: .}" <<< "$created")" |
        jq --raw-output .token)
      if [[ $table$seat == 00 ]]; then
        first=$id
        curl --silent --no-buffer --header "$ndjson" --header "Authorization: Bearer $token" \
          "$url/v1/games/$id/events?after_end=true" > "$scratch/match" &
        stream=$!
      fi
      call PUT "/v1/games/$id/seats/$seat" "$token" "$bot" > /dev/null
    done
  done
  until_line '"type":"match"' "$scratch/match"
  kill "$stream"
  curl --silent --show-error --fail --header "$ndjson" "$url/v1/games/$first/history" \
    >> "$scratch/HistoryLine"
  grep --no-filename . "$scratch/lines" "$scratch/match" > "$scratch/StreamMessage"

  have_every_kind Event "$scratch/HistoryLine" '.events[]?.type'
  have_every_kind HistoryLine "$scratch/HistoryLine" .type
  have_every_kind StreamMessage "$scratch/StreamMessage" .type
}

# have_every_kind UNION FILE PATH: whether the lines have each kind that the document names.
have_every_kind() {
  diff <(jq --raw-output ".components.schemas.$1.discriminator.mapping | keys[]" \
    openapi/openapi.json) <(jq --raw-output "$3" "$2" | LC_ALL=C sort --unique)
}

# decodes COMMAND…: whether a program decodes all lines. Each object has one more member, as a later
# server may send. The program writes what it has decoded: all other members, but for nulls.
decodes() {
  local type
  local more='walk(if type == "object" then .later = 1 else . end)'
  local same='walk(if type == "object" then del(.later, (.[] | nulls)) else . end)'
  for type in HistoryLine StreamMessage; do
    jq --compact-output "$more" "$scratch/$type" | "$@" "$type" > "$scratch/decoded"
    diff <(jq --sort-keys --compact-output "$same" "$scratch/$type") \
      <(jq --sort-keys --compact-output "$same" "$scratch/decoded") > "$scratch/difference" ||
      { head --bytes 2000 "$scratch/difference" >&2 && return 1; }
  done
}

# plays_all COMMAND…: whether a program plays a game, and a seven and a joker in it.
plays_all() {
  plays "$@" | tee "$scratch/moves"
  grep --quiet ' plays 7:' "$scratch/moves"
  grep --quiet ' plays joker=' "$scratch/moves"
}

go() {
  export GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local
  install_generator
  (
    cd examples/go
    generate --config generator.yaml
    command go build -o "$scratch/play" .
    cd ../../tests/clients/go
    command go build -o "$scratch/decode" .
  )
  plays_all "$scratch/play"
  record_lines
  decodes "$scratch/decode"
}

java() {
  install_generator
  (
    cd examples/java
    generate --config generator.yaml
  )
  # The generator's program has the libraries that the client needs.
  javac "-J$JAVA_OPTS" -proc:none -classpath "$jar" -sourcepath examples/java/client/src/main/java \
    -d "$scratch/classes" examples/java/*.java tests/clients/java/*.java
  local run=(java "$JAVA_OPTS" -classpath "$scratch/classes:$jar")
  plays_all "${run[@]}" Play
  timeout 60s "${run[@]}" Posts "$url"
  record_lines
  decodes command "${run[@]}" Decode
}

(($# > 0)) || set -- lint generators javascript typescript python go java
for part in "$@"; do
  case $part in
    lint | generators) "$part" ;;
    javascript | typescript | python | go | java)
      [[ -n ${url-} ]] || { serve && serve_later; }
      "$part"
      ;;
    *)
      echo "usage: tests/clients.sh [lint|generators|javascript|typescript|python|go|java]…" >&2
      exit 2
      ;;
  esac
done
