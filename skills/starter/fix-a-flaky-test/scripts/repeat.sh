#!/bin/sh
# repeat.sh TIMES COMMAND...: run a command again and again, count its failures, keep their output.
set -u
times=$1
shift
logs=$(mktemp -d)
failed=0
run=1
while [ "$run" -le "$times" ]; do
    if "$@" >"$logs/$run.log" 2>&1; then
        rm "$logs/$run.log"
    else
        failed=$((failed + 1))
        echo "run $run failed: $logs/$run.log"
    fi
    run=$((run + 1))
done
echo "$failed of $times failed"
[ "$failed" -eq 0 ] && rmdir "$logs"
[ "$failed" -eq 0 ]
