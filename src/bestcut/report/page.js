"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const at = (id) => document.getElementById(id);
  const say = (id, text) => { at(id).textContent = text; };
  const data = read("numbers");
  const last = data.flagged.length - 1;
  const slider = at("cut"), select = at("metric"), count = at("count"), typed = at("at");
  const NEARLY = "\u2248 ";

  const separated = (text) => {
    const [whole, decimals] = text.split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return decimals === undefined ? grouped : `${grouped}.${decimals}`;
  };
  const fixed = (x, decimals) => separated(x.toFixed(decimals).replace(/^-(?=[0.]*$)/, ""));
  const whole = (x) => fixed(x, 0);
  const about = (x) => fixed(x, x > 0 && x < 9.95 ? 1 : 0);

  let metric = data.metrics[0];
  // Where the cut is: the index of one that is shown, or a number between two of them.
  let cut = metric.best;
  let asked = null; // the threshold that was typed, if it made this cut
  let view = null, bars = null;

  const shown = () => Number.isInteger(cut);
  function value(list) {
    const i = Math.floor(cut);
    return shown() ? list[i] : list[i] + (cut - i) * (list[i + 1] - list[i]);
  }
  const flagged = () => Math.round(value(data.flagged));
  const nearly = (computed) => (shown() && computed[cut] ? "" : NEARLY);
  const threshold = () => (shown() ? data.exact[cut] : asked ?? value(data.exact));
  const written = () => (shown() ? data.threshold[cut] : asked ?? threshold().toPrecision(4));

  // How far the chart reaches: to the end, unless all that matters is near its start.
  function reach() {
    const positives = value(data.mean[0]) + value(data.mean[2]);
    const matter = Math.max(data.flagged[metric.best], data.flagged[data.half], positives);
    const near = data.flagged.find((k) => k >= 4 * matter) ?? data.n;
    return Math.max(flagged() > near ? data.n : near, 1);
  }

  const row = (i) => ({
    k: data.flagged[i], mean: metric.mean[i], low: metric.low[i], high: metric.high[i],
  });
  const here = () => ({
    k: flagged(), mean: value(metric.mean), low: value(metric.low), high: value(metric.high),
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

  // From where to where no cut is allowed.
  function barred() {
    const runs = [];
    data.allowed.forEach((allowed, i) => {
      if (allowed) return;
      const [from, to] = [data.flagged[Math.max(i - 1, 0)], data.flagged[Math.min(i + 1, last)]];
      const run = runs.at(-1);
      if (run && from <= run.to) run.to = to;
      else runs.push({ from, to });
    });
    return runs;
  }

  function frames(end) {
    const inside = (rows) => rows.filter((r) => r.k <= end);
    const all = {
      curve: inside(data.flagged.map((_, i) => row(i))),
      never: barred().filter((r) => r.from < end)
        .map(({ from, to }) => ({ k: from, to: Math.min(to, end) })),
      marks: inside(marks()),
      here: [here()],
    };
    if (metric.known) {
      const [low, high] = metric.known;
      all.inner = inside(low.map((_, i) => ({ k: data.flagged[i], low: low[i], high: high[i] })));
    }
    if (metric.realised) {
      all.realised = inside(metric.realised.map((mean, i) => ({ k: data.flagged[i], mean })));
    }
    return all;
  }

  // A bar that the threshold is in has two parts.
  function histogram() {
    const x = threshold() ?? Infinity;
    const parts = ([from, to, cases]) => {
      const bar = (a, b, dark) => ({ from: a, to: b, count: cases, flagged: dark });
      if (from < x && x < to) return [bar(from, x, false), bar(x, to, true)];
      return [bar(from, to, x <= from)];
    };
    const end = data.bars.at(-1)[1]; // where the line is if nothing is flagged
    return { bars: data.bars.flatMap(parts), cut: [{ at: Math.min(x, end) }] };
  }

  function update(chart, rows) {
    Object.entries(rows).forEach(([name, list]) => chart.data(name, list));
    chart.runAsync();
  }

  function draw() {
    if (view) {
      view.signal("end", reach());
      update(view, frames(reach()));
    }
    if (bars) update(bars, histogram());
  }

  function interval(scores) {
    const ends = [scores.low, scores.high].map((x) => fixed(value(x), scores.decimals));
    return [nearly(scores.computed), ends];
  }

  function versus() {
    const words = (i) => `${whole(data.flagged[i])}, with an expected score of ${fixed(metric.mean[i], metric.decimals)}`;
    return `The best cut for ${metric.label} flags ${words(metric.best)}. `
      + `A threshold of 0.5 flags ${words(data.half)}.`;
  }

  function rule() {
    const [i, j] = [Math.floor(cut), Math.ceil(cut)];
    const allowed = data.allowed[i] + data.allowed[j];
    const fails = ["This cut does not satisfy the conditions.", "This cut may not satisfy the conditions.", ""][allowed];
    const text = shown() ? data.rule[cut] : `That is about every case with a probability of ${written()} or more.`;
    return `${text} ${fails}`.trim();
  }

  function realised() {
    if (!metric.realised) return "";
    const exact = shown() ? "" : NEARLY;
    return ` The realised score is ${exact}${fixed(value(metric.realised), metric.decimals)}.`;
  }

  function show() {
    const k = flagged();
    const number = `${whole(k)} of ${whole(data.n)}`;
    const [mark, ends] = interval(metric);
    const off = shown() ? "" : NEARLY;
    slider.value = k;
    count.value = k;
    typed.value = written();
    slider.setAttribute("aria-valuetext", `${number}, threshold ${off}${written()}`);
    say("say", `Flag ${number}, with an expected ${metric.label} of `
      + `${off}${fixed(value(metric.mean), metric.decimals)}, 90% between ${mark}${ends.join(" and ")}.${realised()}`);
    say("which", rule());
    ["tp", "fp", "fn", "tn"].forEach((cell, j) => {
      say(cell, off + about(value(data.mean[j])));
      const range = [data.low[j], data.high[j]].map((x) => whole(value(x)));
      say(`${cell}-range`, nearly(data.computed) + range.join(" to "));
      if (data.truth) say(`${cell}-real`, `labels: ${off}${whole(value(data.truth[j]))}`);
    });
    data.beside.forEach((scores, i) => {
      const [nearby, both] = interval(scores);
      say(`beside-${i}-mean`, off + fixed(value(scores.mean), scores.decimals));
      say(`beside-${i}-range`, nearby + both.join(" to "));
      if (scores.realised) say(`beside-${i}-real`, off + fixed(value(scores.realised), scores.decimals));
    });
    say("versus", versus());
    say("meaning", metric.meaning);
    say("curve-name", metric.expected);
    at("to-best").setAttribute("aria-pressed", cut === metric.best);
    at("to-half").setAttribute("aria-pressed", cut === data.half);
    draw();
  }

  function go(place, threshold_asked = null) {
    cut = Math.min(Math.max(place, 0), last);
    asked = threshold_asked;
    show();
  }

  // The place of the cut that flags k.
  function place(k) {
    const after = data.flagged.findIndex((x) => x >= k);
    const [a, b] = [data.flagged[after - 1], data.flagged[after]];
    return b === k ? after : after - 1 + (k - a) / (b - a);
  }

  // The place of the cut that a threshold makes; between two cuts, about that.
  function place_of(x) {
    const after = data.exact.findIndex((y, i) => i > 0 && y < x);
    const i = (after < 0 ? last + 1 : after) - 1;
    if (i === last || data.below[i] < x) return i;
    const all = data.flagged[i] + data.left[i];
    const room = data.flagged[i + 1] - 1 - all;
    const share = i && data.exact[i] > data.exact[i + 1]
      ? (data.exact[i] - x) / (data.exact[i] - data.exact[i + 1]) : 0;
    return place(all + Math.max(Math.round(share * room), 0));
  }

  function nearest(k) {
    let best = 0;
    data.flagged.forEach((x, i) => {
      if (Math.abs(x - k) < Math.abs(data.flagged[best] - k)) best = i;
    });
    return best;
  }

  // What was typed; NaN if it is not a number. A comma separates the thousands of a count,
  // and in a threshold it is what some people write for a point.
  function number(field) {
    const bare = field.value.replace(/\s/g, "");
    const text = field === count ? bare.replaceAll(",", "") : bare.replace(",", ".");
    return text === "" ? NaN : Number(text);
  }

  function take(field, most, rule_of, move) {
    const x = number(field), was = field.value;
    if (x >= 0 && x <= most) move(x);
    else {
      show();
      say("which", `\u201c${was}\u201d is not ${rule_of}. The cut stays as it was.`);
    }
  }

  // A pointer on the chart moves the cut too; slider and fields are there for keyboards.
  function follow(event) {
    if (!view || (event.type === "pointermove" && event.buttons !== 1)) return;
    const left = at("chart").querySelector("svg").getBoundingClientRect().left;
    go(nearest(view.scale("x").invert(event.clientX - left - view.origin()[0])));
  }

  // Arrows go to the next cut that is shown, wherever the slider would go by one case.
  function step(event) {
    const forward = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!forward) return;
    event.preventDefault();
    go(forward > 0 ? Math.floor(cut) + 1 : Math.ceil(cut) - 1);
  }

  at("explorer").hidden = false;
  slider.max = data.n;
  [slider, count, typed].forEach((control) => { control.disabled = last === 0; });
  slider.addEventListener("input", () => go(nearest(Number(slider.value))));
  slider.addEventListener("keydown", step);
  count.addEventListener("change", () =>
    take(count, data.n, `a number from 0 to ${whole(data.n)}`, (k) => go(place(Math.round(k)))));
  typed.addEventListener("change", () =>
    take(typed, 1, "a probability from 0 to 1", (x) => go(place_of(x), x)));
  select.addEventListener("change", () => {
    const stays = cut !== metric.best;
    metric = data.metrics[Number(select.value)];
    go(stays ? cut : metric.best, stays ? asked : null);
  });
  at("to-best").addEventListener("click", () => go(metric.best));
  at("to-half").addEventListener("click", () => go(data.half));
  at("chart").addEventListener("pointerdown", follow);
  at("chart").addEventListener("pointermove", follow);

  select.value = "0"; // browsers keep what was chosen before a reload
  show();
  const options = {
    renderer: "svg", actions: false, hover: false, defaultStyle: false,
    ast: true,  // expressions are interpreted: the page's policy allows no eval
  };
  const spec = read("spec");
  spec.params[0].value = reach();
  spec.datasets = frames(reach());
  spec.layer = spec.layer.filter((layer) => layer.data.name in spec.datasets);
  vegaEmbed(at("chart"), spec, options).then((made) => { view = made.view; draw(); });
  if (data.bars.length) {
    const drawn = { ...read("histogram-spec"), datasets: histogram() };
    vegaEmbed(at("histogram"), drawn, options).then((made) => { bars = made.view; });
  }
  ["maps", "check"].forEach((name) => {
    if (at(name)) vegaEmbed(at(name), read(`${name}-spec`), options);
  });
})();
