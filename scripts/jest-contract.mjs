import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { RESULTS, readResults, totals } from './contract-table.mjs';

/** A Jest reporter that collects the results of the adapter contract, and prints cases × adapters at the end. */
export default class Contract {
  #file = process.env.CONTRACT_REPORT || RESULTS;

  onRunStart() {
    // A file that somebody named is added to, so that one table can be made of several runs.
    if (process.env.CONTRACT_REPORT) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    rmSync(this.#file, { force: true });
    // Before the workers start, which inherit it.
    process.env.CONTRACT_REPORT = this.#file;
  }

  onRunComplete() {
    const adapters = totals(readResults(this.#file));
    if (adapters.length === 0) return;
    const width = Math.max(...adapters.map(({ subject }) => subject.length));
    console.log(`\nAdapter contract, cases × adapters:`);
    for (const { subject, own, passed, excepted, failed } of adapters) {
      const rest = `${excepted ? `, ${excepted} excepted` : ''}${failed ? `, ${failed} FAILED` : ''}`;
      console.log(`  ${subject.padEnd(width)}  ${passed} of ${own.length} hold${rest}`);
    }
  }
}
