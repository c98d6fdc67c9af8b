import { writeFileSync } from 'node:fs';

/** A Jest reporter that writes `passed failed` into the file that TEST_COUNTS_FILE names. */
export default class Counts {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_COUNTS_FILE;
    if (!file) return;
    // A file that could not be run has failed, though none of its tests has. Skipped tests have not passed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    writeFileSync(file, `${results.numPassedTests} ${failed + results.numPendingTests + results.numTodoTests}\n`);
  }
}
