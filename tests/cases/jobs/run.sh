#!/usr/bin/env bash
# Runs job.py MODE in N processes of this machine and prints what a launcher would see: run.sh MODE [N].
# Every rank's output goes to one stream, then each rank's exit status. The environment carries what the modes need:
# PYTHON, MASTER_PORT, JOB_TIMEOUT (seconds), GLOO_SOCKET_IFNAME. Modes of this script itself:
#   port-in-use    somebody else already listens on MASTER_PORT
#   no-launcher    the script is started without RANK and WORLD_SIZE
#   rank-absent    one of the N ranks is never started
#   bad-interface  GLOO_SOCKET_IFNAME names an interface that does not exist
set -u
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:?usage: run.sh MODE [N]}
n=${2:-2}
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export MASTER_ADDR=127.0.0.1 WORLD_SIZE=$n JOB_CHECKPOINT=$scratch/model.pt OMP_NUM_THREADS=1
export MASTER_PORT=${MASTER_PORT:-$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}

inner=$mode
last=$((n - 1))
holder=
case $mode in
port-in-use)
    inner=healthy
    "$python" -c 'import socket, sys, time
s = socket.socket(socket.AF_INET6); s.bind(("::", int(sys.argv[1]))); s.listen(); time.sleep(60)' "$MASTER_PORT" &
    holder=$!
    sleep 1
    last=0
    ;;
no-launcher) inner=healthy; unset WORLD_SIZE ;;
rank-absent) inner=healthy; last=$((n - 2)) ;;
bad-interface) inner=healthy; export GLOO_SOCKET_IFNAME=eth7 ;;
esac

pids=()
for rank in $(seq 0 "$last"); do
    if [ "$mode" = no-launcher ]; then
        "$python" "$here/job.py" "$inner" &
    else
        RANK=$rank LOCAL_RANK=$rank "$python" "$here/job.py" "$inner" &
    fi
    pids+=($!)
done
status=0
for rank in $(seq 0 "$last"); do
    wait "${pids[$rank]}"
    rc=$?
    echo "rank $rank exit code $rc"
    [ $rc -eq 0 ] || status=1
done
[ -z "$holder" ] || kill "$holder" 2>/dev/null
exit $status
