#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# policyd_test.sh CASE POLICYD POLICYD_ASK SCENARIOS
set -eu

case_name=$1 policyd=$2 ask=$3 scenarios=$4
work=$(mktemp -d)
pid=
clean_up()
{
    [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail()
{
    echo "FAILED: $*"
    sed 's/^/  log: /' "$work/log" 2>/dev/null | tail -n 20
    exit 1
}
# has TEXT PATTERN
has() { echo "$1" | grep -q -E -- "$2" || fail "no '$2' in: $1"; }
lacks() { echo "$1" | grep -q -E -- "$2" && fail "'$2' in: $1" || true; }
ask() { "$ask" "$work/socket" "$@"; }

write_config()
{
    cat >"$work/conf" <<END
backend: sim
interval: 50ms
control: {socket: $work/socket, mode: 0666}
state-dir: $work/state
sim: {scenario: $scenarios/role-swap.yaml, speed: 20}
${1:-}
END
}

start()
{
    "$policyd" --config "$work/conf" "$@" 2>>"$work/log" &
    pid=$!
    i=0
    until [ -S "$work/socket" ] && ask '{"verb":"status"}' 2>/dev/null |
            grep -q '"plans":[1-9]'; do
        i=$((i + 1))
        [ $i -lt 200 ] && kill -0 "$pid" || fail "it does not start"
        sleep 0.1
    done
}

stop() { kill "$pid"; wait "$pid" || fail "status $?"; pid=; }

# refused CONFIG PATTERN: status 2 and one line.
refused()
{
    printf '%s\n' "$1" >"$work/bad"
    status=0
    said=$("$policyd" --check-config --config "$work/bad" 2>&1) || status=$?
    [ "$status" = 2 ] || fail "status $status for: $1"
    has "$said" "$2"
    [ "$(echo "$said" | wc -l)" = 1 ] || fail "more than one line: $said"
}

write_config
case $case_name in
verbs)
    start
    out=$(ask '{"verb":"version"}' '{"verb":"status"}' '{"verb":"vms"}' \
        '{"verb":"explain","vm":"north"}' '{"verb":"lint"}')
    has "$out" '"schema":1,"ok":true,"result":\{"version"'
    has "$out" '"state":"(high|soft|hard|low)"'
    has "$out" '"name":"north"'
    has "$out" '"text":".*because'
    has "$out" '"findings":\['
    has "$(ask '{"verb":"hold","bytes":8388608,"id":"a","for":"new"}')" \
        '"id":"a".*"for":"new","bytes":8388608'
    has "$(ask '{"verb":"holds"}')" '"id":"a"'
    has "$(ask '{"verb":"status"}')" '"held_bytes":'
    has "$(ask '{"verb":"release","id":"a"}')" '"ok":true'
    has "$(ask '{"verb":"holds"}')" '"holds":\[\]'
    has "$(ask '{"verb":"hold","bytes":1,"timeout_s":1}')" '"id":"hold-2"'
    sleep 1
    has "$(ask '{"verb":"holds"}')" '"holds":\[\]'
    has "$(ask '{"verb":"hold","bytes":99999999999}')" POL_ERR_MEMORY_SHORT
    stop
    [ ! -e "$work/socket" ] || fail "the socket is left behind"
    grep -q 'north: .*because' "$work/log" || fail "no action in the log"
    ;;
errors)
    refused 'backend: vmware' 'bad:1: backend: is unknown .accepted: kvm'
    refused 'interval: 1s' 'backend: is missing'
    refused 'backend: sim
intervall: 1s' 'bad:2: .*unknown key "intervall".*did you mean "interval"'
    refused 'backend: sim
interval: 1ms' 'bad:2: interval: .*accepted: 10ms'
    refused 'backend: sim
policy: {use: best}' 'policy.use: .*accepted: libpolicy, mom'
    refused 'backend: sim
policy: {idle_tax: 100%}' 'policy.idle_tax: .*accepted'
    refused 'backend: sim
vms: {a: {reservation: 2GiB, limit: 1GiB}}' 'vms.a.reservation: exceeds limit'
    refused 'backend: sim
control: {mode: 999}' 'control.mode: .*octal'
    refused '[' 'bad:'
    write_config 'vms: {north: {shares: 0}}'
    refused "$(cat "$work/conf")" 'vms.north.shares: .*accepted: 1 to'
    ;;
reload)
    start
    before=$(ask '{"verb":"explain","vm":"north"}')
    lacks "$before" '"shares":777,'
    write_config 'vms: {north: {shares: 777}}'
    kill -HUP "$pid"
    sleep 0.5
    has "$(ask '{"verb":"explain","vm":"north"}')" '"shares":777,'
    write_config 'polizy: {}'
    has "$(ask '{"verb":"reload"}')" \
        '"ok":false.*POL_ERR_INVALID.*conf:6: .*unknown key'
    kill -HUP "$pid"
    sleep 0.5
    grep -q 'the old configuration stays' "$work/log" || fail "not said"
    has "$(ask '{"verb":"explain","vm":"north"}')" '"shares":777,'
    write_config 'max-vms: 5'
    has "$(ask '{"verb":"reload"}')" 'max-vms: cannot change'
    stop
    ;;
dry_run)
    start --dry-run
    sleep 3
    out=$(ask '{"verb":"status"}' '{"verb":"vms"}')
    has "$out" '"dry_run":true'
    has "$out" '"name":"north"'
    lacks "$out" '"balloon_bytes":[1-9]'
    # Not its swapped memory: a full host that nobody steers swaps by itself.
    grep -q 'would (balloon|swap-out)' -E "$work/log" || fail "it says nothing"
    # The same, not dry, moves memory.
    stop
    start
    sleep 3
    has "$(ask '{"verb":"vms"}')" '"balloon_bytes":[1-9]'
    stop
    ;;
hostile)
    start
    has "$(ask '[]' 'null' '' '{"verb":1}' '{"verb":"status","x":1}' \
        '{"verb":"status"}')" '"ok":true'
    lacks "$(ask '[]' 'null' '' '{"verb":1}' '{"verb":"status","x":1}')" \
        '"ok":true'
    deep=$(printf '%0100d' 0 | sed 's/0/[/g')
    has "$(ask "{\"verb\":$deep")" '"ok":false'
    # Its answer may be lost when it goes on sending; the daemon is not.
    "$ask" "$work/socket" @long >"$work/long" 2>&1 || true
    kept=$(ask @many)
    has "$kept" '^(2[0-9]|3[0-2]) kept'
    i=0
    until ask '{"verb":"version"}' >/dev/null 2>&1; do
        i=$((i + 1))
        [ $i -lt 50 ] || fail "it does not recover"
        sleep 0.1
    done
    stop
    ;;
set)
    start
    set_north() { ask "{\"verb\":\"set\",\"vm\":\"north\",$1}"; }
    has "$(set_north '"shares":555,"limit_bytes":104857600,"block":false')" \
        '"block":false.*"kept_by":"policyd"'
    has "$(set_north '"limit_bytes":null,"swap":false')" '"limit_bytes":null'
    has "$(set_north '"clear":["block"]')" '"block":true'
    has "$(set_north '"limit_bytes":1048576,"reservation_bytes":2097152')" \
        'POL_ERR_RANGE.*reservation up to 1048576 bytes'
    has "$(set_north '"reservation_bytes":1099511627776')" 'exceed limit or size'
    has "$(set_north '"shares":0')" 'shares: .*accepted: 1 to'
    has "$(set_north '"clear":["size"]')" 'clear: .*accepted: of shares'
    has "$(set_north '"shares":1,"clear":["shares"]')" 'not both'
    has "$(ask '{"verb":"set","vm":"nobody","shares":1}')" POL_ERR_NOTFOUND
    has "$(ask '{"verb":"hold","bytes":8388608,"id":"kept","for":"new"}')" \
        '"ok":true'
    kill -9 "$pid"
    wait "$pid" || true
    start
    has "$(ask '{"verb":"explain","vm":"north"}')" \
        '"shares":555,.*"limit_bytes":null,.*"swap":false,"block":true'
    has "$(ask '{"verb":"holds"}')" '"id":"kept".*"for":"new","bytes":8388608'
    has "$(ask '{"verb":"release","id":"kept"}')" '"ok":true'
    # What the configuration says stands above.
    write_config 'vms: {north: {shares: 777}}'
    has "$(ask '{"verb":"reload"}')" '"ok":true'
    has "$(set_north '"shares":1')" 'POL_ERR_BUSY.*the configuration says it'
    has "$(set_north '"clear":["swap"]')" '"shares":777,.*"swap":true'
    stop
    has "$(cat "$work/state/state.json")" '"shares": ?555'
    ;;
bad_state)
    mkdir "$work/state"
    # put_aside TEXT PATTERN
    put_aside()
    {
        printf '%s' "$1" >"$work/state/state.json"
        : >"$work/log"
        start
        stop
        has "$(cat "$work/log")" "$2"
        [ "$(cat "$work/state/state.json.bad")" = "$1" ] || fail "not kept: $1"
    }
    put_aside '{' 'state.json: is no state file of this version'
    put_aside '{"schema":2,"vms":{},"holds":[]}' 'accepted: schema 1'
    put_aside '{"schema":1,"vms":{"a":{"shares":-1}},"holds":[]}' \
        'state.json: vms.a.shares: accepted: 1 to'
    put_aside '{"schema":1,"vms":{},"holds":[{"id":"x y"}]}' 'holds.*id: accepted'
    rm -r "$work/state"
    ln -s /dev/zero "$work/zero"
    mkdir "$work/state"
    ln -s "$work/zero" "$work/state/state.json"
    : >"$work/log"
    start
    stop
    has "$(cat "$work/log")" 'state.json: cannot be read'
    # Nowhere to keep it: said at the start and to who asks.
    rm -r "$work/state"
    : >"$work/state"
    start
    has "$(ask '{"verb":"set","vm":"north","shares":5}')" \
        'POL_ERR_HOST.*state-dir: '
    has "$(ask '{"verb":"explain","vm":"north"}')" '"shares":98304,'
    stop
    grep -q 'nothing will be kept' "$work/log" || fail "not said"
    ;;
permission)
    [ "$(id -u)" = 0 ] || { echo "needs root to be somebody else"; exit 77; }
    chmod 755 "$work"
    start
    cp "$ask" "$work/ask"
    chmod 755 "$work/ask"
    other() { setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$work/ask" "$work/socket" "$@"; }
    has "$(other '{"verb":"status"}')" '"ok":true'
    has "$(other '{"verb":"hold","bytes":4096}')" POL_ERR_OWNER
    has "$(other '{"verb":"reload"}')" POL_ERR_OWNER
    chmod 600 "$work/socket"
    other '{"verb":"status"}' >/dev/null 2>&1 && fail "mode does not count"
    stop
    ;;
restart)
    start
    kill -9 "$pid"
    wait "$pid" || true
    [ -S "$work/socket" ] || fail "no socket was left behind"
    start
    # A second one must not take the first one's socket away.
    "$policyd" --config "$work/conf" 2>"$work/second" && fail "two of them"
    grep -q 'another policyd runs' "$work/second" || fail "not said"
    has "$(ask '{"verb":"version"}')" '"ok":true'
    stop
    ;;
*)
    fail "no such case"
    ;;
esac
echo "$case_name: good"
