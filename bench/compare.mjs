import { setTimeout as pause } from 'node:timers/promises';

/** What a clock tells, in nanoseconds. The processor's own leaves out what other programs do meanwhile. */
const clocks = {
  wall: () => Number(process.hrtime.bigint()),
  processor() {
    const { user, system } = process.cpuUsage();
    return (user + system) * 1000;
  },
};

/**
 * Times functions against each other in one run: A B A B …, so that whatever else the machine does meets all alike.
 * Gives the nanoseconds per call of each, in rounds.
 */
export async function alternate(contenders, { rounds, msPerRound, clock = 'wall' }) {
  const now = clocks[clock];
  const names = Object.keys(contenders);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const counts = {};
  for (const name of names) counts[name] = await calibrate(contenders[name], msPerRound, now);
  for (let round = 0; round < rounds; round++) {
    // The order turns round by round, so that no one always follows the same neighbour.
    for (const name of round % 2 ? names : names.toReversed()) {
      times[name].push(await time(contenders[name], counts[name], now));
    }
    await pause(5);
  }
  return times;
}

async function time(work, count, now) {
  const start = now();
  for (let i = 0; i < count; i++) {
    const result = work();
    if (result instanceof Promise) await result;
  }
  return (now() - start) / count;
}

async function calibrate(work, ms, now) {
  for (let count = 16; ; count *= 2) {
    const each = await time(work, count, now);
    if (each * count > 1e6 * Math.min(ms, 20)) return Math.max(1, Math.round((ms * 1e6) / each));
  }
}
