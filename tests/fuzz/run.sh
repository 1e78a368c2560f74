#!/usr/bin/env bash
# Fuzzes: tests/fuzz/run.sh [--rotate] [--built] CPU_SECONDS [TARGET...] builds the preset `fuzz` and runs each target (default:
# all) until it has used so much processor time, one process at a time. New inputs are kept in build/fuzz/corpus/TARGET, findings
# in build/fuzz/findings; exit 1 when there are any. build/fuzz/ledger.csv gets a line for each target.
#   --rotate  goes on with the first target after the last one, until it is ended; `chrt -i 0 setsid tests/fuzz/run.sh --rotate 300`
#             takes what nothing else on the machine wants
#   --built   uses the executables that are there
set -euo pipefail
cd "$(dirname "$0")/../.."
rotate=false built=false
while [[ ${1:-} == --* ]]; do
  case $1 in
    --rotate) rotate=true ;;
    --built) built=true ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
seconds=${1:?usage: tests/fuzz/run.sh [--rotate] [--built] CPU_SECONDS [TARGET...]}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "CPU_SECONDS is a whole number of seconds, not $seconds" >&2; exit 2; }
shift
if ! $built; then
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz --target fuzzers
fi
# Linux shares processors between sessions first, then among the processes of each (sched(7), autogroup).
if $rotate && [[ $(ps -o sid= -p $$) -eq $$ ]]; then { echo 19 >/proc/self/autogroup; } 2>/dev/null || true; fi
mkdir -p build/fuzz/findings
ledger=build/fuzz/ledger.csv
[[ -s $ledger ]] || echo 'date,commit,target,cpu_seconds,executions,edges,findings' >"$ledger"
# Inputs are small files and stores: they need no disk.
[[ -w /dev/shm ]] && export TMPDIR=/dev/shm
export ASAN_OPTIONS=allocator_may_return_null=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
ticks_a_second=$(getconf CLK_TCK)
failed=0
ending=false

# Sets `ticks` to the processor time, user and system, that a living process has used. It is called each second, so it starts no process.
read_ticks() {
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
  fields=(${stat##*) })
  ((${#fields[@]} > 12)) && ((fields[11] + fields[12] > 0)) && ticks=$((fields[11] + fields[12]))
  return 0
}

# What took long is judged by its processor time: others may have had the machine meanwhile, or the process was stopped.
is_slow() {
  ! (ulimit -t 20 && "build/fuzz/fuzz/fuzz_$1" -timeout=3600 "$2") >/dev/null 2>&1
}

fuzz() {
  local target=$1 log=build/fuzz/$1.log ticks=0 cpu status=0 pid
  local before=(build/fuzz/findings/"$target"-*)
  mkdir -p "build/fuzz/corpus/$target"
  "build/fuzz/fuzz/fuzz_$target" -max_len=65536 -timeout=120 -report_slow_units=120 -rss_limit_mb=2500 -print_final_stats=1 -print_funcs=0 \
    -artifact_prefix="build/fuzz/findings/$target-" "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >/dev/null 2>"$log" &
  pid=$!
  trap 'kill -USR1 $pid 2>/dev/null; ending=true' TERM INT
  while kill -0 "$pid" 2>/dev/null; do
    read_ticks "$pid"
    # Ends in order, with its figures.
    if ((ticks >= seconds * ticks_a_second)); then kill -USR1 "$pid" 2>/dev/null || true; fi
    sleep 1
  done
  wait "$pid" || status=$?
  cpu=$(awk "BEGIN { printf \"%.2f\", $ticks / $ticks_a_second }")
  trap - TERM INT
  local found
  for found in build/fuzz/findings/"$target"-timeout-* build/fuzz/findings/"$target"-slow-unit-*; do
    if [[ -e $found && " ${before[*]} " != *" $found "* ]] && ! is_slow "$target" "$found"; then rm "$found"; fi
  done
  local after=(build/fuzz/findings/"$target"-*)
  local new=$((${#after[@]} - ${#before[@]}))
  local executions edges
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  [[ -n $executions ]] || executions=$(sed -n 's/^#\([0-9]*\).*cov:.*/\1/p' "$log" | tail -n 1)
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  echo "$(date -u +%F),$(git rev-parse --short HEAD),$target,$cpu,${executions:-0},${edges:-0},$new" >>"$ledger"
  printf '%-18s %8.1f CPU s %10s executions %7s edges %3s findings\n' "$target" "$cpu" "${executions:-0}" "${edges:-0}" "$new"
  ((new == 0)) || failed=1
  if ((status != 0)); then grep -E 'ERROR|runtime error|SUMMARY' "$log" | head -n 5 || true; fi
}

shopt -s nullglob
targets=("$@")
((${#targets[@]} > 0)) || targets=($(ls tests/fuzz/corpus))
while :; do
  for target in "${targets[@]}"; do
    # Targets that the tools of this machine do not allow (CUPTI) are not built.
    if [[ -x build/fuzz/fuzz/fuzz_$target ]]; then fuzz "$target"; fi
    if $ending; then break 2; fi
  done
  $rotate || break
done
exit $failed
