/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws a chart for each experiment in the element #data. When all is drawn
 * the root element says so in its data attributes, for the test.
 */
"use strict";

(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    /* Okabe and Ito's colours: told apart with any kind of colour vision. */
    const hues = ["#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7",
        "#56B4E9"];
    let charts = [];

    function css(name) {
        return getComputedStyle(document.documentElement)
            .getPropertyValue(name).trim();
    }

    /* A published curve has the colour of the simulated one of its name. */
    function datasets(experiment) {
        const names = [...new Set(experiment.curves.map(c => c.name))];
        return experiment.curves.map(curve => {
            const hue = hues[names.indexOf(curve.name) % hues.length];
            const few = curve.points.length < 40;
            return {
                label: curve.name + (curve.published ? ", published" : ""),
                data: curve.points.map(p => ({ x: p[0], y: p[1] })),
                borderColor: hue, backgroundColor: hue,
                showLine: !curve.published,
                pointStyle: curve.published ? "crossRot" : "circle",
                pointRadius: curve.published ? 8 : few ? 3 : 0,
                borderWidth: 2
            };
        });
    }

    function scale(title, min) {
        const soft = css("--soft-text");
        return {
            type: "linear", min: min,
            ticks: { color: soft },
            grid: { color: css("--line"), borderColor: css("--line") },
            title: { display: true, color: soft, text: title }
        };
    }

    function draw(experiment, i) {
        const x = scale(experiment.x);
        const limits = experiment.x.startsWith("limit");
        x.reverse = limits;
        if (limits) {
            x.ticks.callback = v => v;
        }
        return new Chart(document.getElementById("chart" + i), {
            type: "line",
            data: { datasets: datasets(experiment) },
            options: {
                animation: false, responsive: true,
                maintainAspectRatio: false,
                interaction: { mode: "nearest", axis: "x", intersect: false },
                scales: {
                    x: x,
                    y: Object.assign(
                        scale(experiment.y + ", " + experiment.unit, 0),
                        { suggestedMax: 1 })
                },
                plugins: {
                    legend: {
                        position: "bottom",
                        labels: {
                            color: css("--text"), usePointStyle: true
                        }
                    },
                    tooltip: {
                        callbacks: {
                            title: items => items.length === 0 ? ""
                                : experiment.x + " " + items[0].parsed.x,
                            label: item => item.dataset.label + ": " +
                                item.parsed.y + " " + experiment.unit
                        }
                    }
                }
            }
        });
    }

    function drawAll() {
        charts.forEach(chart => chart.destroy());
        charts = data.map(draw);
    }

    function sayDone() {
        const root = document.documentElement.dataset;
        root.charts = charts.length;
        root.datasets = charts.reduce((sum, chart) =>
            sum + chart.data.datasets.length, 0);
        root.points = charts.reduce((sum, chart) => sum +
            chart.data.datasets.reduce((n, set) => n + set.data.length, 0), 0);
        root.done = "yes";
    }

    dark.addEventListener("change", drawAll);
    drawAll();
    setTimeout(sayDone, 100);
}());
