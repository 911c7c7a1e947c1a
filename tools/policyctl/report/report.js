/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws the charts of a report. Data is in the element #data: amounts in MiB,
 * times in seconds. Names are only ever put into the page as text.
 *
 * When all is drawn the root element says so in its data attributes (charts,
 * datasets, points, painted), which is what the report's test looks at.
 */
"use strict";

(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const axis = data.axis;
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const states = ["high", "clear", "soft", "hard", "low"];
    /* Okabe and Ito's colours, and Tol's muted ones for many layers: both
     * can be told apart with any kind of colour vision. */
    const hue = {
        blue: dark.matches ? "#3B9BD9" : "#0072B2", sky: "#56B4E9",
        green: "#009E73", amber: "#E69F00", red: "#D55E00", pink: "#CC79A7",
        grey: "#8a929a"
    };
    const layerHues = ["#332288", "#88CCEE", "#44AA99", "#117733", "#DDCC77",
        "#CC6677", "#882255", "#AA4499", "#999933", "#6699CC"];
    const kinds = {
        "balloon down": ["balloon takes", hue.blue, "triangle", 180],
        "balloon up": ["balloon gives back", hue.sky, "triangle", 0],
        "swap-out": ["swap out", hue.red, "rectRot", 0],
        "swap-in": ["swap in", hue.amber, "rectRot", 0],
        "block": ["block", hue.pink, "rect", 0],
        "unblock": ["unblock", hue.green, "rect", 0],
        "hard-cap": ["hard cap", hue.grey, "circle", 0],
        "share-rate": ["sharing scan", hue.grey, "circle", 0],
        "note": ["note", hue.grey, "circle", 0]
    };
    let charts = [];
    let ink = {};

    /* Figures as people read them. */

    function memory(mib) {
        const units = [["TiB", 1048576], ["GiB", 1024], ["MiB", 1]];
        const size = Math.abs(mib);
        for (const [unit, scale] of units) {
            if (size >= scale) {
                const n = mib / scale;
                const digits = n % 1 === 0 ? 0
                    : Math.abs(n) < 10 ? 2 : Math.abs(n) < 100 ? 1 : 0;
                return n.toFixed(digits) + " " + unit;
            }
        }
        return mib === 0 ? "0" : (mib * 1024).toFixed(0) + " KiB";
    }

    function two(n) {
        return String(Math.floor(n)).padStart(2, "0");
    }

    /* Whole minutes and hours in ticks; seconds where they matter. */
    function clock(s, step) {
        const days = Math.floor(s / 86400);
        const rest = s - days * 86400;
        const hm = Math.floor(rest / 3600) + ":" + two(rest % 3600 / 60);
        const day = days > 0 ? days + " d " : "";
        if (axis.end <= 3600) {
            return Math.floor(s / 60) + ":" + two(s % 60);
        }
        return day + hm + (step < 60 ? ":" + two(s % 60) : "");
    }

    function timeStep() {
        const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
            3600, 7200, 10800, 21600, 43200, 86400];
        return steps.find(step => axis.end / step <= 12) ||
            Math.ceil(axis.end / 12 / 86400) * 86400;
    }

    function memoryStep(max) {
        let step = Math.pow(2, Math.floor(Math.log2(Math.max(max, 1) / 4)));
        while (max / step > 9) {
            step *= 2;
        }
        return step;
    }

    /* Series to points. */

    /* Two values a bucket are its extremes, in order. */
    function points(values, first) {
        const width = axis.width / axis.points;
        const from = (first || 0) * axis.width + width / 2;
        return values.map((y, i) => ({ x: from + i * width, y: y }));
    }

    function meanPoints(values) {
        return values.map((y, i) => ({ x: (i + .5) * axis.width, y: y }));
    }

    /* Chart parts that all charts share. */

    function css(name) {
        return getComputedStyle(document.documentElement)
            .getPropertyValue(name).trim();
    }

    function timeScale() {
        const step = timeStep();
        return {
            type: "linear", min: 0, max: axis.end,
            ticks: {
                stepSize: step, color: ink.soft, maxRotation: 0,
                callback: s => clock(s, step)
            },
            grid: { color: ink.line, borderColor: ink.line },
            title: {
                display: true, color: ink.soft,
                text: axis.end <= 3600 ? "simulated time, min:s"
                    : "simulated time, h:min"
            }
        };
    }

    /* Ticks are round figures, wherever the scale ends. */
    function memoryScale(max, title) {
        const step = memoryStep(max);
        return {
            min: 0, max: max,
            afterBuildTicks: scale => {
                scale.ticks = [];
                for (let v = 0; v <= max * 1.0001; v += step) {
                    scale.ticks.push({ value: v });
                }
            },
            ticks: { color: ink.soft, callback: v => memory(v) },
            grid: { color: ink.line, borderColor: ink.line },
            title: { display: true, color: ink.soft, text: title }
        };
    }

    function wrap(text, width) {
        const lines = [""];
        for (const word of String(text).split(" ")) {
            const last = lines[lines.length - 1];
            if (last !== "" && last.length + word.length >= width) {
                lines.push(word);
            } else {
                lines[lines.length - 1] = last === "" ? word
                    : last + " " + word;
            }
        }
        return lines;
    }

    function options(scales, more) {
        return Object.assign({
            animation: false, responsive: true, maintainAspectRatio: false,
            parsing: false, normalized: true, scales: scales,
            interaction: { mode: "nearest", axis: "x", intersect: false },
            elements: {
                point: { radius: 0, hitRadius: 6 },
                line: { borderWidth: 2, tension: 0 }
            },
            plugins: {
                legend: {
                    position: "bottom",
                    labels: {
                        color: ink.text, boxWidth: 14, boxHeight: 10,
                        usePointStyle: true, pointStyleWidth: 22
                    }
                },
                tooltip: {
                    callbacks: {
                        title: items => items.length === 0 ? ""
                            : clock(items[0].parsed.x, 1),
                        label: item => item.dataset.label + ": " +
                            memory(item.parsed.y)
                    }
                }
            }
        }, more || {});
    }

    function draw(id, config) {
        const chart = new Chart(document.getElementById(id), config);
        charts.push(chart);
        return chart;
    }

    /* 1. Memory per VM. */

    function mixed(colour, amount) {
        const n = parseInt(colour.slice(1), 16);
        const to = 255;
        const part = shift => {
            const v = n >> shift & 255;
            return Math.round(v + (to - v) * amount);
        };
        return "rgb(" + part(16) + "," + part(8) + "," + part(0) + ")";
    }

    function layer(label, values, colour) {
        return {
            label: label, data: meanPoints(values), fill: true,
            backgroundColor: colour, borderColor: ink.page, borderWidth: .6,
            stack: "memory", pointHoverRadius: 0, pointStyle: "rect"
        };
    }

    function drawLayers() {
        const host = data.host;
        const sum = host.freeMean.map(() => 0);
        const sets = data.layers.map((vm, i) => {
            vm.mean.forEach((v, k) => { sum[k] += v; });
            const colour = layerHues[i % layerHues.length];
            return layer(vm.name, vm.mean,
                i < layerHues.length ? colour : mixed(colour, .45));
        });
        const others = host.consumed.map((v, k) => Math.max(0, v - sum[k]));
        const rest = host.freeMean.map((v, k) => v === null ? null
            : Math.max(0, host.total - v - sum[k] - others[k]));
        if (data.vmCount > data.layers.length) {
            sets.push(layer("other VMs (" +
                (data.vmCount - data.layers.length) + ")", others, ink.other));
        }
        sets.push(layer("host and overhead", rest, ink.rest));
        sets.push(layer("free", host.freeMean, ink.free));
        const scales = {
            x: timeScale(),
            y: Object.assign(memoryScale(host.total, "host memory"),
                { stacked: true })
        };
        const more = options(scales);
        more.interaction = { mode: "index", axis: "x", intersect: false };
        more.plugins.tooltip.itemSort = (a, b) => b.parsed.y - a.parsed.y;
        more.plugins.tooltip.filter = (item, i) => item.raw.y > 0 && i < 26;
        draw("layers", { type: "line", data: { datasets: sets },
            options: more });
    }

    /* 2. Free memory, with the thresholds as bands and the states as a strip
     * above them. */

    const bands = {
        id: "bands",
        beforeDatasetsDraw(chart) {
            const area = chart.chartArea;
            const y = chart.scales.y;
            const host = data.host;
            const edges = [["low", 0, host.low], ["hard", host.low, host.hard],
                ["soft", host.hard, host.soft]];
            const clear = host.clear === undefined ? host.soft : host.clear;
            const c = chart.ctx;
            if (host.clear !== undefined) {
                edges.push(["clear", host.soft, host.clear]);
            }
            edges.push(["", clear, host.high], ["high", host.high, Infinity]);
            c.save();
            for (const [name, from, to] of edges) {
                const top = Math.max(area.top,
                    y.getPixelForValue(Math.min(to, y.max)));
                const bottom = Math.min(area.bottom,
                    y.getPixelForValue(from));
                if (bottom <= top || name === "") {
                    continue;
                }
                c.globalAlpha = .55;
                c.fillStyle = ink.states[states.indexOf(name)];
                c.fillRect(area.left, top, area.right - area.left,
                    bottom - top);
                c.globalAlpha = 1;
                if (bottom - top >= 11) {
                    c.fillStyle = ink.soft;
                    c.font = "11px system-ui, sans-serif";
                    c.textAlign = "right";
                    c.textBaseline = "middle";
                    c.fillText(name, area.right - 6, (top + bottom) / 2);
                }
            }
            c.restore();
        },
        afterDraw(chart) {
            const area = chart.chartArea;
            const x = chart.scales.x;
            const c = chart.ctx;
            c.save();
            data.host.states.forEach((state, i) => {
                if (state === null) {
                    return;
                }
                const from = Math.max(area.left,
                    x.getPixelForValue(i * axis.width));
                const to = Math.min(area.right,
                    x.getPixelForValue((i + 1) * axis.width));
                c.fillStyle = ink.states[state];
                c.fillRect(from, area.top - 18, to - from + .5, 12);
            });
            c.strokeStyle = ink.line;
            c.strokeRect(area.left, area.top - 18, area.right - area.left,
                12);
            c.restore();
        }
    };

    function marksSet(y) {
        return {
            label: "faults and events", type: "scatter", showLine: false,
            data: data.marks.map(mark => ({ x: mark[0], y: y, text: mark[1] })),
            pointStyle: "triangle", rotation: 180, radius: 6, hoverRadius: 8,
            backgroundColor: ink.text, borderColor: ink.page
        };
    }

    function drawFree() {
        const free = points(data.host.free);
        const most = free.reduce((a, p) => Math.max(a, p.y || 0), 0);
        /* Near the thresholds, but most of the line must be seen. */
        const sorted = free.map(p => p.y || 0).sort((a, b) => a - b);
        const usual = sorted[Math.floor(sorted.length * .75)] || 0;
        const near = Math.min(data.host.total,
            Math.max(data.host.high * 2.5, usual * 1.25));
        const whole = document.getElementById("whole");
        const max = whole.checked || most <= near
            ? Math.max(most * 1.05, data.host.high * 1.2) : near;
        const sets = [{
            label: "free", data: free, borderColor: ink.text,
            backgroundColor: ink.text, pointStyle: "line"
        }];
        if (data.marks.length > 0) {
            sets.push(marksSet(max * .96));
        }
        const more = options({
            x: timeScale(), y: memoryScale(max, "free host memory")
        }, { layout: { padding: { top: 22 } } });
        more.plugins.legend.display = data.marks.length > 0;
        more.plugins.tooltip.callbacks.label = item =>
            item.raw.text !== undefined ? wrap(item.raw.text, 60)
                : item.dataset.label + ": " + memory(item.parsed.y);
        whole.disabled = most <= near && !whole.checked;
        draw("free", { type: "line", data: { datasets: sets }, options: more,
            plugins: [bands] });
    }

    /* 3. One VM. */

    function line(label, vm, values, colour, dash) {
        return {
            label: label, data: points(values, vm.first), borderColor: colour,
            backgroundColor: colour, borderDash: dash || [],
            pointStyle: "line"
        };
    }

    function level(label, value, dash) {
        return {
            label: label, borderColor: ink.soft, backgroundColor: ink.soft,
            borderDash: dash, borderWidth: 1, pointStyle: "line",
            data: [{ x: 0, y: value }, { x: axis.end, y: value }]
        };
    }

    function chosen() {
        return data.vms[document.getElementById("pick").value];
    }

    function vmDecisions(vm) {
        const list = data.decisions.list.filter(d => d[1] === vm.id &&
            d[5] !== null && d[3] !== "swap-out" && d[3] !== "swap-in");
        return {
            label: "decisions", type: "scatter", showLine: false,
            data: list.map(d => ({ x: d[0], y: d[5], why: d })),
            radius: 3, hoverRadius: 7, pointStyle: "rectRot",
            backgroundColor: hue.red, borderColor: ink.page
        };
    }

    function drawVm() {
        const vm = chosen();
        if (vm === undefined) {
            return;
        }
        const sets = [
            line("target", vm, vm.target, hue.blue),
            line("consumed", vm, vm.consumed, ink.text),
            line("active, as the policy estimates", vm, vm.estimate,
                hue.amber),
            line("active, really", vm, vm.active, hue.green, [5, 3]),
            line("size less balloon", vm, vm.actual, hue.pink, [8, 3]),
            line("swapped", vm, vm.swapped, hue.red, [2, 2]),
            level("size", vm.size, [1, 4])
        ];
        if (vm.reservation > 0) {
            sets.push(level("reservation", vm.reservation, [6, 6]));
        }
        if (vm.limit !== undefined) {
            sets.push(level("limit", vm.limit, [12, 4]));
        }
        sets.push(vmDecisions(vm));
        const more = options({
            x: timeScale(), y: memoryScale(vm.size * 1.1, vm.name)
        });
        more.plugins.tooltip.callbacks.label = item =>
            item.raw.why !== undefined ? decisionLines(item.raw.why)
                : item.dataset.label + ": " + memory(item.parsed.y);
        document.getElementById("facts").textContent = vm.name + ": size " +
            memory(vm.size) + ", shares " + vm.shares + ", reservation " +
            memory(vm.reservation) + (vm.limit === undefined ? ""
                : ", limit " + memory(vm.limit)) + ", decisions " +
            vm.decisions + ".";
        draw("vm", { type: "line", data: { datasets: sets },
            options: more });
    }

    /* 4. Decisions, one lane a kind; within it VMs are spread. */

    function laneKey(d) {
        return d[3] === "balloon" ? "balloon " + (d[6] < 0 ? "down" : "up")
            : d[3];
    }

    function decisionLines(d) {
        const kind = kinds[laneKey(d)] || [d[3]];
        const amount = d[5] === null ? ""
            : d[3] === "balloon" ? " " + memory(Math.abs(d[6])) +
                ", leaving " + memory(d[5])
                : d[3] === "hard-cap" ? " at " + memory(d[5])
                    : " " + memory(d[5]);
        return [d[2] + ": " + kind[0] + amount +
            (d[7] ? " (failed)" : "")].concat(wrap(d[8], 70));
    }

    function drawDecisions() {
        const used = Object.keys(kinds).filter(key =>
            data.decisions.list.some(d => laneKey(d) === key));
        const most = data.decisions.list.reduce((a, d) =>
            Math.max(a, Math.abs(d[6])), 1);
        const only = document.getElementById("only").checked
            ? chosen() : undefined;
        const sets = used.map((key, lane) => {
            const [label, colour, style, turn] = kinds[key];
            const list = data.decisions.list.filter(d =>
                laneKey(d) === key &&
                (only === undefined || d[1] === only.id));
            return {
                label: label, pointStyle: style, rotation: turn,
                backgroundColor: colour + "b0", borderColor: colour,
                /* The golden ratio spreads neighbours apart. */
                data: list.map(d => ({
                    x: d[0], why: d,
                    y: lane + .15 + .7 * (d[1] * .618034 % 1)
                })),
                radius: list.map(d =>
                    2.5 + 5.5 * Math.sqrt(Math.abs(d[6]) / most)),
                hoverRadius: 9
            };
        });
        const more = options({
            x: timeScale(),
            y: {
                min: 0, max: Math.max(used.length, 1), reverse: true,
                /* A lane's name stands in its middle, lines between. */
                afterBuildTicks: scale => {
                    scale.ticks = used.map((key, i) => ({ value: i + .5 }));
                },
                ticks: {
                    color: ink.text, autoSkip: false,
                    callback: v => kinds[used[Math.floor(v)]][0]
                },
                grid: { display: false, borderColor: ink.line }
            }
        });
        more.interaction = { mode: "nearest", axis: "xy", intersect: true };
        more.plugins.tooltip.callbacks.label = item =>
            decisionLines(item.raw.why);
        more.plugins.legend.display = false;
        draw("decisions", { type: "scatter", data: { datasets: sets },
            options: more });
    }

    /* All together. */

    function readInk() {
        const night = dark.matches;
        ink = {
            page: css("--page"), text: css("--text"),
            soft: css("--soft-text"), line: css("--line"),
            states: states.map((name, i) => css("--s" + i)),
            other: night ? "#6b747d" : "#aab2ba",
            rest: night ? "#434b54" : "#6a727b",
            free: night ? "#1c2228" : "#f0f3f6"
        };
        Chart.defaults.font.family = "system-ui, 'DejaVu Sans', sans-serif";
        Chart.defaults.font.size = 12;
    }

    function drawAll() {
        charts.forEach(chart => chart.destroy());
        charts = [];
        readInk();
        drawLayers();
        drawFree();
        drawVm();
        drawDecisions();
    }

    function redraw(id, make) {
        charts.filter(chart => chart.canvas.id === id)
            .forEach(chart => chart.destroy());
        charts = charts.filter(chart => chart.canvas !== null);
        make();
    }

    /* Part of a canvas's pixels that are painted, and its colours, from a
     * sample. */
    function painted(canvas) {
        const c = canvas.getContext("2d");
        const colours = new Set();
        let hits = 0;
        let n = 0;
        const all = c.getImageData(0, 0, canvas.width, canvas.height).data;
        for (let i = 0; i < all.length; i += 4 * 37) {
            n++;
            if (all[i + 3] > 0) {
                hits++;
                colours.add(all[i] >> 4 << 8 | all[i + 1] >> 4 << 4 |
                    all[i + 2] >> 4);
            }
        }
        return canvas.id + ":" + Math.round(100 * hits / Math.max(n, 1)) +
            ":" + colours.size;
    }

    function sayDone() {
        const root = document.documentElement.dataset;
        root.charts = charts.length;
        root.datasets = charts.reduce((sum, chart) =>
            sum + chart.data.datasets.length, 0);
        root.points = charts.reduce((sum, chart) => sum +
            chart.data.datasets.reduce((n, set) => n +
                set.data.filter(p => p.y !== null).length, 0), 0);
        root.painted = charts.map(chart => painted(chart.canvas)).join(" ");
        root.done = "yes";
    }

    function start() {
        const pick = document.getElementById("pick");
        data.vms.forEach((vm, i) => {
            const option = document.createElement("option");
            option.value = i;
            option.textContent = vm.name;
            pick.appendChild(option);
        });
        /* The one that most was decided about shows most. */
        pick.value = data.vms.reduce((best, vm, i) =>
            vm.decisions > data.vms[best].decisions ? i : best, 0);
        pick.addEventListener("change", () => {
            redraw("vm", drawVm);
            if (document.getElementById("only").checked) {
                redraw("decisions", drawDecisions);
            }
        });
        document.getElementById("only").addEventListener("change",
            () => redraw("decisions", drawDecisions));
        document.getElementById("whole").addEventListener("change",
            () => redraw("free", drawFree));
        dark.addEventListener("change", drawAll);
        drawAll();
        setTimeout(sayDone, 100);
    }

    start();
}());
