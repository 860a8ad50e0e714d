// Compares contenders for one task in one run. Rounds are interleaved (A B C A B C …), so that a busy moment
// of the machine affects every contender. Ratios are taken within a round, so that the effect cancels out.

/** How long one sample lasts: long enough that clock resolution and one garbage collection hardly matter. */
const SAMPLE_MS = { full: 25, quick: 4 };
const ROUNDS = { full: 31, quick: 5 };
const WARM_UP_MS = { full: 150, quick: 20 };

/**
 * A contender that runs one operation after the other.
 *
 * @param {() => unknown} operation may be async; every call is awaited
 */
export function sequential(operation) {
  return async (times) => {
    for (let done = 0; done < times; done += 1) await operation();
  };
}

/** A contender that runs `width` operations at the same time. */
export function concurrent(width, operation) {
  return async (times) => {
    for (let done = 0; done < times; done += width) {
      const count = Math.min(width, times - done);
      await Promise.all(Array.from({ length: count }, () => operation()));
    }
  };
}

/** A contender for operations that are not async. It uses the results, so that none is optimised away. */
export function synchronous(operation) {
  return (times) => {
    let last;
    for (let done = 0; done < times; done += 1) last = operation();
    synchronous.lastResult = last;
  };
}

/** The tasks of one benchmark file. */
export class Suite {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.tasks = [];
  }

  /**
   * Registers a task and its contenders.
   *
   * @param {object} task
   * @param {string} task.title
   * @param {string} task.baseline the contender that the others are measured against
   * @param {Record<string, (times: number) => unknown>} task.contenders
   * @param {{ contender: string, atMost: number }[]} [task.budgets] the highest ratios that are acceptable
   * @param {number} [task.rounds] how often each contender is measured, if 31 times take too long
   * @param {number} [task.width] how many operations start together: a sample has a multiple of it
   * @param {() => unknown} [task.cleanUp]
   */
  task(task) {
    if (!(task.baseline in task.contenders)) {
      throw new Error(`task \`${task.title}\`: no contender is named \`${task.baseline}\``);
    }
    this.tasks.push(task);
  }

  /** Runs the tasks in order and returns the measurements. */
  async run({ quick = false, onTask = () => {} } = {}) {
    const pace = quick ? "quick" : "full";
    const results = [];
    for (const task of this.tasks) {
      const result = await measure(task, pace);
      results.push(result);
      onTask(result);
    }
    return { suite: this.name, tasks: results };
  }
}

async function measure(task, pace) {
  const { title, baseline, contenders, budgets = [], width = 1, cleanUp } = task;
  const rounds = Math.min(task.rounds ?? ROUNDS[pace], ROUNDS[pace]);
  const runners = [];
  for (const [name, run] of Object.entries(contenders)) {
    const times = await calibrate(run, width, pace);
    runners.push({ name, run, times, samples: [] });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const runner of runners) {
      runner.samples.push(await sample(runner.run, runner.times));
    }
  }
  await cleanUp?.();

  const reference = runners.find(({ name }) => name === baseline).samples;
  const rows = runners.map(({ name, times, samples }) => {
    const ratios = samples.map((taken, round) => taken / reference[round]);
    const budget = budgets.find(({ contender }) => contender === name);
    const ratio = quantile(ratios, 0.5);
    return {
      name,
      operationsPerSample: times,
      nanoseconds: quantile(samples, 0.5),
      spread: (quantile(samples, 0.75) - quantile(samples, 0.25)) / quantile(samples, 0.5),
      ratio,
      ratioRange: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
      budget: budget?.atMost,
      withinBudget: budget && ratio <= budget.atMost,
    };
  });
  return { title, baseline, rounds, contenders: rows };
}

/** Warms up a contender and finds out how many operations make a sample of the wanted length. */
async function calibrate(run, width, pace) {
  let times = width;
  let nanoseconds = await sample(run, times);
  const warmedUpAt = performance.now() + WARM_UP_MS[pace];
  while (performance.now() < warmedUpAt) {
    const wanted = Math.ceil((SAMPLE_MS[pace] * 1e6) / Math.max(nanoseconds, 1));
    // Grown step by step, because the first calls are slow and not representative.
    times = Math.min(wanted, times * 8);
    times = Math.max(width, Math.ceil(times / width) * width);
    nanoseconds = await sample(run, times);
  }
  return times;
}

/** The mean time of one operation in a sample, in nanoseconds. */
async function sample(run, times) {
  const started = process.hrtime.bigint();
  await run(times);
  return Number(process.hrtime.bigint() - started) / times;
}

function quantile(values, share) {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

/** The measurements of one task as a text table. */
export function table({ title, baseline, contenders }) {
  const rows = contenders.map(({ name, nanoseconds, spread, ratio, ratioRange, budget }) => [
    name,
    duration(nanoseconds),
    `±${(spread * 50).toFixed(0)} %`,
    name === baseline ? "1 (baseline)" : `${factor(ratio)} (${ratioRange.map(factor).join("–")})`,
    budget === undefined ? "" : `${ratio <= budget ? "ok" : "OVER"}: at most ${budget}×`,
  ]);
  const header = ["", "median", "spread", "ratio", ""];
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column].length)),
  );
  const line = (row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
      )
      .join("  ")
      .trimEnd();
  return [title, ...[header, ...rows].map((row) => `  ${line(row)}`)].join("\n");
}

function duration(nanoseconds) {
  if (nanoseconds < 1_000) return `${nanoseconds.toFixed(nanoseconds < 100 ? 1 : 0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(2)} µs`;
  return `${(nanoseconds / 1e6).toFixed(2)} ms`;
}

function factor(ratio) {
  return `${ratio < 0.095 ? ratio.toPrecision(2) : ratio.toFixed(ratio < 10 ? 2 : 0)}×`;
}
