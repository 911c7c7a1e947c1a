#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line of policyctl: results, exit status, one line per error.
# Usage: cli_test.sh simulate|errors|trace|tax|compare POLICYCTL EDIT-TRACE WORK-FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
scenarios=$(cd "$here/../../examples/scenarios" && pwd)
case=$1
policyctl=$2
edit_trace=$3
work=$4
two_vm=$scenarios/two-vm-idle-tax.yaml
failed=0

rm -rf "$work"
mkdir -p "$work"
cd "$work"

ok()
{
    echo "ok: $1"
}

bad()
{
    echo "FAILED: $1"
    failed=1
}

# status WANTED WHAT COMMAND...: its exit status; output in out and err.
status()
{
    wanted=$1
    what=$2
    shift 2
    got=0
    "$@" >out 2>err || got=$?
    if [ "$got" = "$wanted" ]; then
        ok "$what: status $got"
    else
        bad "$what: status $got instead of $wanted"
        sed 's/^/    /' err
    fi
}

# says FILE PATTERN: the file has a line like that.
says()
{
    if grep -Eq -- "$2" "$1"; then
        ok "  says: $(grep -E -m1 -- "$2" "$1")"
    else
        bad "  says nothing like: $2"
        sed 's/^/    /' "$1"
    fi
}

one_line()
{
    if [ "$(wc -l <"$1")" -eq 1 ]; then
        ok "  in one line"
    else
        bad "  not in one line"
        sed 's/^/    /' "$1"
    fi
}

# Refused with status 2, one line, nothing on standard output.
refused()
{
    pattern=$1
    shift
    status 2 "$*" "$policyctl" "$@"
    one_line err
    says err "$pattern"
    if [ -s out ]; then
        bad "  something was run"
    fi
}

# The value of a member of the n-th VM in a JSON file.
vm_member()
{
    sed -n 's/^ *"'"$3"'": *\([0-9]*\),*$/\1/p' "$1" |
        tail -n "$vms" | sed -n "$2p"
}

test_simulate()
{
    status 0 "table" "$policyctl" simulate "$two_vm" --until 2m
    says out '^ *1 +first +256 MiB'
    says out '^ *2 +second +256 MiB'
    says out '^time in state high'
    says err '^ 50 %'
    says err '^simulated 2 min 00 s in '
    status 0 "quiet" "$policyctl" simulate "$two_vm" --until 2m -q
    if [ -s out ] || [ -s err ]; then
        bad "quiet said something"
    fi
    status 0 "JSON instead of the table" \
        "$policyctl" simulate "$two_vm" --until 2m --json
    says out '^\{$'
    says out '"schema": *"policyctl.simulate/1"'
    cp out first.json
    status 0 "JSON to a file" \
        "$policyctl" simulate "$two_vm" --until 120s --json=second.json
    says out '^ *1 +first'
    if cmp first.json second.json; then
        ok "two runs, the same JSON"
    else
        bad "two runs differ"
    fi
    status 0 "another seed" \
        "$policyctl" simulate "$two_vm" --until 2m -S 99 --json
    says out '"seed": *99'
    status 0 "explain" "$policyctl" simulate "$two_vm" -q --until 2m \
        --explain first@1m --explain second --explain nobody
    says out '^first at 1 min 00 s: .*because: '
    says out '^second at 2 min 00 s: .*because: '
    says out '^nobody at 2 min 00 s: not running'
    status 0 "CSV" "$policyctl" simulate "$two_vm" -q --until 2m --csv two.csv \
        --record two.trace
    says two.csv '^120000,2,"second",[0-9]+,[0-9]+,'
    status 1 "a file that cannot be written" \
        "$policyctl" simulate "$two_vm" -q --until 10s --json=/no/such/file
    one_line err
    if [ -w /dev/full ]; then
        status 1 "a full disk" \
            "$policyctl" simulate "$two_vm" -q --until 10s --json=/dev/full
        one_line err
        status 1 "standard output on a full disk" \
            sh -c '"$0" replay "$1" >/dev/full' "$policyctl" two.trace
    fi
    cp "$two_vm" mine.yaml
    status 2 "a report over the scenario" \
        "$policyctl" simulate mine.yaml -q --until 10s --report mine.yaml
    one_line err
    cmp -s "$two_vm" mine.yaml || { echo "the scenario has changed"; exit 1; }
    status 2 "two outputs into one file" \
        "$policyctl" simulate mine.yaml -q --until 10s --report both --csv both
    one_line err
    status 0 "version" "$policyctl" --version
    says out '^policyctl \(libpolicy\) [0-9]+\.[0-9]+\.[0-9]+$'
    status 0 "help" "$policyctl" --help
    says out '^  simulate '
    for command in simulate replay explain; do
        status 0 "help of $command" "$policyctl" "$command" --help
        says out "^Usage: policyctl $command "
    done
}

test_errors()
{
    printf 'seed: 1\n' >short.yaml
    printf 'a: [1\n' >broken.yaml
    sed 's/idle_tax: .*/idle_tax: 120%/' "$two_vm" >tax.yaml
    sed 's/idle_tax: .*/idle_taxes: 75%/' "$two_vm" >key.yaml
    : >empty
    printf 'POLTRACE\377\377\377\377\377\377\377\377\377\377' >garbage

    refused 'command' none
    refused 'no such command' nonsense
    refused 'scenario is missing' simulate
    refused 'more than one scenario' simulate "$two_vm" "$two_vm"
    refused 'nowhere.yaml.*No such file' simulate nowhere.yaml
    refused 'cannot be read' simulate "$work"
    refused '^policyctl: short.yaml' simulate short.yaml
    refused '^policyctl: broken.yaml:[0-9]+' simulate broken.yaml
    refused '^policyctl: tax.yaml:[0-9]+: .*idle_tax.*99' simulate tax.yaml
    refused '^policyctl: key.yaml:[0-9]+: .*idle_taxes' simulate key.yaml
    refused 'idle_tax.*accepted' \
        simulate "$two_vm" --set policy.idle_tax=100%
    refused 'unknown key' simulate "$two_vm" --set nonsense=1
    refused 'seed' simulate "$two_vm" --seed -1
    refused 'no time' simulate "$two_vm" --until soon
    refused 'no time' simulate "$two_vm" --explain first@soon
    refused 'duration' simulate "$two_vm" --until 100d
    refused 'trace is missing' replay
    refused 'VM is missing' explain garbage
    refused 'by their numbers' explain garbage first
    refused 'no time' explain garbage 1 --at never
    refused 'nowhere: .*No such file' replay nowhere
    refused '^policyctl: empty: byte 0 of 0' replay empty
    refused '^policyctl: garbage: byte [0-9]+ of 18' replay garbage
    refused '^policyctl: garbage: byte [0-9]+ of 18' explain garbage 1
}

test_trace()
{
    status 0 "record" "$policyctl" simulate "$two_vm" -q --until 5m \
        --record run.trace
    status 0 "replay" "$policyctl" replay run.trace
    says out 'every plan byte-identical'
    says out '^actions: balloon '
    status 0 "replay with another policy" \
        "$policyctl" replay run.trace --policy "$two_vm"
    says out 'other policy'
    status 0 "explain" "$policyctl" explain run.trace 1
    says out '^VM 1 at 5 min 00 s: .*because: '
    status 0 "explain at a time" "$policyctl" explain run.trace 2 --at 90s
    says out '^VM 2 at 1 min 30 s: .*because: '
    status 1 "a VM that is not there" "$policyctl" explain run.trace 99
    one_line err

    size=$(wc -c <run.trace)
    for cut in 7 100 $((size / 2)) $((size - 1)); do
        head -c "$cut" run.trace >cut.trace
        status 2 "cut off after $cut bytes" "$policyctl" replay cut.trace
        one_line err
        says err "^policyctl: cut.trace: byte [0-9]+ of $cut: "
    done
    { head -c $((size / 2)) run.trace; printf 'XYZ'
        tail -c +$((size / 2 + 4)) run.trace; } >flipped.trace
    status 2 "damaged in the middle" "$policyctl" replay flipped.trace
    one_line err

    at=$("$edit_trace" run.trace changed.trace 3)
    status 1 "another plan, checksum mended" \
        "$policyctl" replay changed.trace
    one_line err
    says err "^policyctl: changed.trace: byte $at: plan [0-9]+ .* differs"
}

# The idle-memory tax moves memory to where it is used (ESX02, figure 7).
test_tax()
{
    vms=2
    status 0 "tax 0" "$policyctl" simulate "$two_vm" -q --until 25m \
        --set policy.idle_tax=0% --json=tax0.json
    status 0 "tax 75 %" "$policyctl" simulate "$two_vm" -q --until 25m \
        --set policy.idle_tax=75% --json=tax75.json
    status 0 "tax 75 %, roles changed" "$policyctl" simulate "$two_vm" -q \
        --set policy.idle_tax=75% --json=changed.json
    for run in tax0 tax75 changed; do
        a=$(vm_member $run.json 1 target_pages)
        b=$(vm_member $run.json 2 target_pages)
        echo "$run: targets $a and $b pages"
        eval "${run}_a=$a ${run}_b=$b"
    done
    difference=$((tax0_a - tax0_b))
    if [ "${difference#-}" -le 1 ]; then
        ok "tax 0: equal within one page"
    else
        bad "tax 0: they differ by $difference pages"
    fi
    if [ "$tax75_a" -gt $((tax75_b * 3 / 2)) ]; then
        ok "tax 75 %: the active one gets most"
    else
        bad "tax 75 %: the active one does not get most"
    fi
    if [ "$changed_b" -gt $((changed_a * 3 / 2)) ]; then
        ok "roles changed: it moves back"
    else
        bad "roles changed: it does not move back"
    fi
}

# The lost_ms of a policy in a comparison.
lost()
{
    sed -n '/"policy": *"'"$2"'"/,/"lost_ms"/s/^ *"lost_ms": *\([0-9]*\),*$/\1/p' "$1"
}

# libpolicy has lost less time than each of these.
loses_less()
{
    file=$1
    shift
    own=$(lost "$file" libpolicy)
    for other in "$@"; do
        theirs=$(lost "$file" "$other")
        if [ "$own" -lt "$theirs" ]; then
            ok "  libpolicy lost $own ms, $other $theirs ms"
        else
            bad "  libpolicy lost $own ms, $other $theirs ms"
        fi
    done
}

test_compare()
{
    folder=$scenarios/compare
    busy=$folder/idle-against-busy.yaml
    status 0 "table" "$policyctl" compare "$busy" --until 2m
    says out '^idle against busy: 2 min 00 s, seed 101$'
    for policy in libpolicy none mom squeezed qmemman proxmox; do
        says out "^$policy +[0-9.]+ s +[0-9.]+ % "
    done
    says err '^1/6 libpolicy$'
    status 0 "JSON, two policies" \
        "$policyctl" compare "$busy" --until 2m -p none,libpolicy --json -q
    says out '"schema": *"policyctl.compare/1"'
    says out '"swung_pages": *0,'
    if [ "$(grep -c '"policy":' out)" -eq 2 ]; then
        ok "  two results"
    else
        bad "  not two results"
    fi
    cp out first.json
    status 0 "JSON to a file" \
        "$policyctl" compare "$busy" -s duration=2min -p none,libpolicy \
        --json=second.json -q
    if cmp first.json second.json; then
        ok "two comparisons, the same JSON"
    else
        bad "two comparisons differ"
    fi
    # The same VMs and work: what nobody moves is as in a run without policy.
    says first.json '"moves": *0,'
    for case in idle-against-busy role-swap start-up-storm thrash-at-minimum \
        stuck-balloon; do
        status 0 "$case" "$policyctl" compare -q "$folder/$case.yaml" \
            --json=$case.json
        loses_less $case.json none mom squeezed qmemman proxmox
    done
    refused "no such policy: 'nobody'" compare "$busy" -p mom,nobody
    refused 'the scenario is missing' compare
    refused 'more than one scenario' compare "$busy" "$busy"
    refused 'is no time' compare "$busy" --until soon
}

"test_$case"
exit "$failed"
