import { availableParallelism } from 'node:os';

/** The tests run on the sources, so that they need no build; what the packages ship is tested by `pack-check`. */
export default {
  projects: [
    '<rootDir>/packages/*/jest.config.mjs',
    '<rootDir>/tests/runtimes/jest.config.mjs',
    '<rootDir>/bench/jest.config.mjs',
  ],
  // A limit that shows a hang, not a slow machine: real servers, sockets and processes are at work.
  testTimeout: 30_000,
  // On two cores jest would take one. Most tests wait for servers, sockets and limits of time, and can do so side by side.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  reporters: ['default', '<rootDir>/scripts/jest-contract.mjs', '<rootDir>/scripts/jest-counts.mjs'],
};
