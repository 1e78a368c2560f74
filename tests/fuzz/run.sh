#!/bin/sh
# Fuzzes: tests/fuzz/run.sh SECONDS [TARGET...] builds the preset `fuzz` and runs each target (default: all) for SECONDS
# on one core. New inputs are kept in build/fuzz/corpus/TARGET, findings in build/fuzz/findings; exit 1 when there are any.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers
mkdir -p build/fuzz/findings
# Inputs are small files and stores: they need no disk.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
export ASAN_OPTIONS=allocator_may_return_null=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
failed=0
for target in "$@"; do
  mkdir -p "build/fuzz/corpus/$target"
  echo "== $target"
  "build/fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2500 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$target-" \
    "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" 2>"build/fuzz/$target.log" || failed=1
  grep -E 'ERROR|runtime error|SUMMARY' "build/fuzz/$target.log" | head -5 || true
  grep -E 'DONE|^stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)' "build/fuzz/$target.log" || true
done
exit $failed
