#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What libpolicy does to a host full of VMs, in two scenarios: two VMs under
# an idle-memory tax, and one day of a cloud's requests. Leaves a report of
# each. Environment: POLICYCTL (the program), OUT (folder for the reports).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
policyctl=${POLICYCTL:-$root/build/plain/tools/policyctl/policyctl}
out=${OUT:-$root/build/demo}
scenarios=$root/examples/scenarios
two_vm=$scenarios/two-vm-idle-tax.yaml
day=$scenarios/azure-day.yaml

if [ ! -x "$policyctl" ]; then
    echo "demo.sh: $policyctl is not there; build it first (make demo)" >&2
    exit 1
fi
mkdir -p "$out"

# What a run of the two VMs shows, from its figures per tick: who has how much
# a minute before the roles change and at the end, and how long the memory
# took to follow. The VMs change roles when the second becomes the more active.
two_vm_figures()
{
    awk -F, -v tax="$1" '
        NR > 1 {
            target[$1, $2] = $4; consumed[$1, $2] = $5; active[$1, $2] = $6
            last = $1
            if ($2 == 1) { time[++n] = $1 }
        }
        function mib(pages) { return sprintf("%.1f MiB", pages / 256) }
        function vm(name, t, id) {
            return sprintf("%s: target %9s, has %9s", name,
                mib(target[t, id]), mib(consumed[t, id]))
        }
        function line(what, t) {
            printf "  tax %3s, %s active   %s   %s\n", tax, what,
                vm("first", t, 1), vm("second", t, 2)
        }
        END {
            for (i = 1; i <= n && swap == 0; i++) {
                t = time[i]
                if (t > 600000 && active[t, 2] > active[t, 1]) {
                    swap = t
                    at = i
                }
            }
            if (swap == 0) { exit 1 }
            before = time[at - 60]
            line("first ", before)
            line("second", last)
            d = target[before, 1] - target[before, 2]
            if (d < 0) { d = -d }
            printf "  tax %3s: targets differed by %d page%s", tax, d,
                d == 1 ? "" : "s"
            for (i = at; i <= n; i++) {
                t = time[i]
                if (consumed[t, 2] > 1.25 * consumed[t, 1]) {
                    printf "; the second had the larger part %d s after " \
                        "it had become the active one", (t - swap) / 1000
                    break
                }
            }
            printf "\n"
        }' "$2"
}

figure()
{
    sed -n "s/^\($1\)   *\(.*\)/  \1: \2/p" "$out/azure-day.txt"
}

echo "1. Two VMs of equal shares share 360 MiB; one is active, one idle."
echo "   Half-way they change roles. (a minute of computing at most)"
for tax in 0 75; do
    "$policyctl" simulate "$two_vm" --quiet --set "policy.idle_tax=$tax%" \
        --csv "$out/two-vm-tax-$tax.csv" \
        --report "$out/two-vm-tax-$tax.html"
    two_vm_figures "$tax%" "$out/two-vm-tax-$tax.csv"
done
mv "$out/two-vm-tax-75.html" "$out/two-vm.html"

echo
echo "2. One day of Azure's requests for VMs on a host of 256 GiB, of which up"
echo "   to one and a half times is configured in VMs."
"$policyctl" simulate "$day" --report "$out/azure-day.html" \
    >"$out/azure-day.txt"
head -n 1 "$out/azure-day.txt"
figure "configured in VMs, most at once"
figure "time in state high"
figure "lowest free memory"
figure "OOM kills in guests"
figure "asked of balloons"
figure "swapped by the host"
figure "swapped by guests themselves"
figure "time VMs lost to memory"

echo
echo "Without a tax on idle memory two VMs of equal shares have equal targets;"
echo "with 75 % most of the memory goes to the VM that uses it, and follows"
echo "when the roles change. The day shows a host that has more configured in"
echo "its VMs than it has memory, kept out of shortage mostly by balloons: guests"
echo "then swap by themselves what they need least. How the VMs use their memory"
echo "is not in the trace but made up (see the scenario): the time lost is a"
echo "figure of that mix, not of the policy alone."
echo "Reports, to be opened in a browser:"
echo "  $out/two-vm.html   (and two-vm-tax-0.html: without the tax)"
echo "  $out/azure-day.html   (all figures: azure-day.txt)"
