#!/usr/bin/env bash
# Fuzzes for a long time: all targets in turn, one process at a time, and counts the executions.
#
#   fuzz/run.sh BINARIES WORK [SECONDS [TARGET…]]
#
# BINARIES is the output folder of `cargo fuzz build` (target/x86_64-unknown-linux-gnu/release), or a
# copy of it; WORK gets the corpora, the findings and the counts. Each turn takes SECONDS, by default
# 300. All targets run unless some are named. It runs until it is stopped, and continues when it is
# started again. `fuzz/run.sh --sum WORK` shows the counts.
set -euo pipefail

# The executions and findings so far, for each target.
sum() {
  awk '{runs[$1] += $2; seconds[$1] += $3; found[$1] += $4; all += $2; bad += $4}
    END {for (target in runs) printf "%-10s %14.0f executions %8d s %3d findings\n",
           target, runs[target], seconds[target], found[target]
         printf "%-10s %14.0f executions %12s %3d findings\n", "all", all, "", bad}' "$1/counts"
}

if [[ $1 == --sum ]]; then
  sum "$2"
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
binaries=$(realpath "$1")
compgen -G "$binaries/*" > /dev/null || { echo "no binaries in $binaries" >&2; exit 2; }
mkdir -p "$2"
cd "$2"
seconds=${3:-300}
targets=("${@:4}")
((${#targets[@]})) || targets=(notation headers query record request game position)

while true; do
  for target in "${targets[@]}"; do
    [[ -x $binaries/$target ]] || continue
    mkdir -p "corpus/$target" "artifacts/$target"
    seeds=()
    [[ $target == record && -d $here/../tests/records ]] && seeds=("$here/../tests/records")
    [[ -f $here/$target.dict ]] && seeds+=("-dict=$here/$target.dict")
    start=$SECONDS found=0
    # A finding ends the turn with an error; the next turn goes on from the corpus.
    "$binaries/$target" "corpus/$target" "${seeds[@]}" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 \
      -artifact_prefix="artifacts/$target/" -print_final_stats=1 > "$target.log" 2>&1 || found=1
    runs=$(awk '/stat::number_of_executed_units/ {print $2}' "$target.log")
    echo "$target ${runs:-0} $((SECONDS - start)) $found" >> counts
    ((found)) && cp "$target.log" "artifacts/$target/$(date +%s).log"
  done
done
