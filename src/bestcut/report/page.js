"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const at = (id) => document.getElementById(id);
  const say = (id, text) => { at(id).textContent = text; };
  const data = read("numbers");
  const last = data.flagged.length - 1;
  const slider = at("cut"), select = at("metric");

  const spaced = (text) => {
    const [whole, decimals] = text.split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return decimals === undefined ? grouped : `${grouped}.${decimals}`;
  };
  const fixed = (x, decimals) => spaced(x.toFixed(decimals).replace(/^-(?=[0.]*$)/, ""));
  const whole = (x) => fixed(x, 0);
  const about = (x) => fixed(x, x > 0 && x < 9.95 ? 1 : 0);

  let metric = data.metrics[0];
  let cut = metric.best;
  let view = null;

  // How far the chart reaches: to the end, unless all that matters is near its start.
  function reach() {
    const positives = data.mean[0][cut] + data.mean[2][cut];
    const matter = Math.max(data.flagged[metric.best], data.flagged[data.half], positives);
    const near = data.flagged.find((k) => k >= 4 * matter) ?? data.n;
    return Math.max(data.flagged[cut] > near ? data.n : near, 1);
  }

  const row = (i) => ({
    k: data.flagged[i], mean: metric.mean[i], low: metric.low[i], high: metric.high[i],
  });

  function marks() {
    const { best } = metric, half = data.half;
    const text = `best: ${whole(data.flagged[best])}`;
    // The label of the better cut is on the far side of the curve from the other's.
    return half === best
      ? [{ ...row(best), above: true, half: false, text: `${text}, as at 0.5` }]
      : [
        { ...row(half), above: metric.sign < 0, half: true, text: `0.5: ${whole(data.flagged[half])}` },
        { ...row(best), above: metric.sign > 0, half: false, text },
      ];
  }

  function frames(end) {
    const shown = (rows) => rows.filter((r) => r.k <= end);
    const curve = shown(data.flagged.map((_, i) => row(i)));
    const [low, high] = metric.known ?? [[], []];
    const inner = low.map((_, i) => ({ k: data.flagged[i], low: low[i], high: high[i] }));
    return { curve, inner: shown(inner), marks: shown(marks()), here: [row(cut)] };
  }

  function draw() {
    if (!view) return;
    const end = reach();
    view.signal("end", end);
    Object.entries(frames(end)).forEach(([name, rows]) => view.data(name, rows));
    view.runAsync();
  }

  function interval(i) {
    const ends = [metric.low[i], metric.high[i]].map((x) => fixed(x, metric.decimals));
    return `90% between ${metric.computed[i] ? "" : "\u2248 "}${ends.join(" and ")}`;
  }

  function versus() {
    const words = (i) => `${whole(data.flagged[i])}, expecting ${fixed(metric.mean[i], metric.decimals)}`;
    return `The best cut for ${metric.label} flags ${words(metric.best)}. `
      + `A threshold of 0.5 flags ${words(data.half)}.`;
  }

  function show() {
    const k = data.flagged[cut];
    const flagged = `${whole(k)} of ${whole(data.n)}`;
    const score = fixed(metric.mean[cut], metric.decimals);
    slider.value = cut;
    slider.setAttribute("aria-valuetext", `${flagged}, threshold ${data.threshold[cut]}`);
    say("say", `Flag ${flagged}, with an expected ${metric.label} of ${score}, ${interval(cut)}.`);
    say("which", data.rule[cut]);
    ["tp", "fp", "fn", "tn"].forEach((cell, j) => {
      say(cell, about(data.mean[j][cut]));
      say(`${cell}-range`, `${whole(data.low[j][cut])} to ${whole(data.high[j][cut])}`);
    });
    say("versus", versus());
    say("meaning", metric.meaning);
    say("curve-name", metric.expected);
    at("to-best").setAttribute("aria-pressed", cut === metric.best);
    at("to-half").setAttribute("aria-pressed", cut === data.half);
    draw();
  }

  const go = (i) => { cut = i; show(); };

  function nearest(k) {
    let best = 0;
    data.flagged.forEach((x, i) => {
      if (Math.abs(x - k) < Math.abs(data.flagged[best] - k)) best = i;
    });
    return best;
  }

  // A pointer on the chart moves the cut too; the slider is the way for keyboards.
  function follow(event) {
    if (!view || (event.type === "pointermove" && event.buttons !== 1)) return;
    const left = at("chart").querySelector("svg").getBoundingClientRect().left;
    go(nearest(view.scale("x").invert(event.clientX - left - view.origin()[0])));
  }

  at("explorer").hidden = false;
  slider.max = last;
  slider.disabled = last === 0;
  slider.addEventListener("input", () => go(Number(slider.value)));
  select.addEventListener("change", () => {
    const stays = cut !== metric.best;
    metric = data.metrics[Number(select.value)];
    go(stays ? cut : metric.best);
  });
  at("to-best").addEventListener("click", () => go(metric.best));
  at("to-half").addEventListener("click", () => go(data.half));
  at("chart").addEventListener("pointerdown", follow);
  at("chart").addEventListener("pointermove", follow);

  select.value = "0"; // browsers keep what was chosen before a reload
  show();
  const spec = read("spec");
  spec.params[0].value = reach();
  spec.datasets = frames(reach());
  const options = { renderer: "svg", actions: false, hover: false, defaultStyle: false };
  vegaEmbed(at("chart"), spec, options).then((made) => { view = made.view; draw(); });
  if (at("maps")) vegaEmbed(at("maps"), read("maps-spec"), options);
})();
