#!/usr/bin/env bash
# Plays a whole game of DOG on a dog-server, with all four seats. Needs bash, curl and jq.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat <<USAGE
usage: play.sh [--rules PRESET] [--seed NUMBER] [--quiet] [URL]

  --rules PRESET  familienlager, dogspiel-de, dogspiel-it, spielanleitung or hausregeln
  --seed NUMBER   the same number plays the same game again
  --quiet         print only who has won

URL is http://127.0.0.1:8080 unless it is given, here or as DOG_URL. DOG_RULES, DOG_SEED and
DOG_QUIET stand for the options. Exits with 1 and the problem document on standard error if the
server refuses anything.
USAGE
}

url=${DOG_URL:-http://127.0.0.1:8080}
rules=${DOG_RULES:-dogspiel-it}
seed=${DOG_SEED:-}
quiet=${DOG_QUIET:-}

fail_usage() {
  usage >&2
  exit 2
}

while (($# > 0)); do
  case $1 in
    --rules) rules=${2-} && shift ;;
    --seed) seed=${2-} && shift ;;
    --quiet) quiet=yes ;;
    --help)
      usage
      exit
      ;;
    -*) fail_usage ;;
    *) url=${1%/} ;;
  esac
  shift || fail_usage
done
[[ $seed =~ ^[0-9]{0,15}$ ]] || fail_usage

say() {
  if [[ -z $quiet ]]; then
    printf '%s\n' "$*"
  fi
}

# call METHOD PATH [TOKEN [BODY]]: sends a request and prints the body of the response.
call() {
  local method=$1 path=$2 token=${3-} body=${4-}
  local options=(--silent --show-error --request "$method" --write-out '\n%{http_code}')
  if [[ -n $token ]]; then
    options+=(--header "Authorization: Bearer $token")
  fi
  if [[ -n $body ]]; then
    options+=(--header 'Content-Type: application/json' --data "$body")
  fi
  local response status
  response=$(curl "${options[@]}" "$url$path")
  status=${response##*$'\n'}
  response=${response%$'\n'*}
  if ((status >= 400)); then
    printf '%s %s: %s\n' "$method" "$path" "$response" >&2
    exit 1
  fi
  printf '%s\n' "$response"
}

# Prints one line for each seat: its part of the ring, beginning with its start, its goal and its
# kennel. The pieces of seat 0 are `a`, those of seat 1 `b`, and so on; a fresh piece is a capital.
show_board() {
  if [[ -n $quiet ]]; then
    return
  fi
  jq --raw-output '
    def letter: "abcdef"[.:. + 1];
    .game
    | .rules.fields_per_seat as $width
    | .board as $board
    | ($board | length) as $seats
    | (
        [ range($seats) as $seat
          | $board[$seat]
          | .fresh as $fresh
          | .track[]
          | { key: tostring,
              value: (if $fresh and . == $seat * $width
                      then $seat | letter | ascii_upcase
                      else $seat | letter end) } ]
        | from_entries
      ) as $ring
    | "        ring" + (" " * ($width * 2 - 4)) + "goal     kennel",
      ( range($seats) as $seat
        | ([range($width) | $ring[$seat * $width + . | tostring] // "."] | join(" ")) as $track
        | $board[$seat].goal as $goal
        | ([range(4) | if . as $field | $goal | index($field) then $seat | letter else "." end]
           | join(" ")) as $home
        | "seat \($seat)  \($track)  \($home)  \(($seat | letter) * $board[$seat].kennel // "")" )
  ' <<<"$response"
}

# act SEAT: asks for advice, and sends the request of the best suggestion unchanged.
act() {
  local seat=$1 advice best
  advice=$(call GET "/v1/games/$id/suggest-move?level=greedy${seed:+&seed=$seed}" "${tokens[seat]}")
  mapfile -t best < <(
    jq --raw-output '
      .suggestions[0]
      | .request.method, .request.path, (.request.body | tojson),
        (if .move then "plays \(.move.id)"
         elif .swap.card then "lays down a card for its partner"
         elif .swap.ask then "asks its partner for help"
         elif .swap.pass then "does not ask for help"
         else "declines the exchange" end)
    ' <<<"$advice"
  )
  response=$(call "${best[0]}" "${best[1]}" "${tokens[seat]}" "${best[2]}")
  say "seat $seat ${best[3]}"
}

body=$(
  jq --null-input --compact-output --arg rules "$rules" --arg seed "${seed:+$(printf '%064x' "$((10#0$seed))")}" '
    {rules: {preset: $rules}} + if $seed == "" then {} else {shuffle_seed: $seed} end
  '
)
# The response to a write contains the game after it.
response=$(call POST /v1/games '' "$body")
id=$(jq --raw-output .id <<<"$response")
mapfile -t tokens < <(jq --raw-output '.seat_tokens[]' <<<"$response")
say "game $id by the rules $rules"

while true; do
  read -r phase round seat < <(
    jq --raw-output '.game | "\(.phase) \(.round) \(.to_act[0])"' <<<"$response"
  )
  case $phase in
    deal)
      ((round == 1)) || show_board
      response=$(call POST "/v1/games/$id/deal" "${tokens[seat]}")
      say "round $round: seat $seat has dealt"
      ;;
    exchange | play) act "$seat" ;;
    finished) break ;;
    *) exit 1 ;;
  esac
done

show_board
jq --raw-output '
  .game
  | .winner as $team
  | [.seats[] | select(.team == $team) | "\(.seat) (\(.name))"]
  | join(" and ")
  | "team \($team) has won: seats \(.)"
' <<<"$response"
