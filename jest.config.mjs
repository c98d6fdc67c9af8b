/** The tests run on the sources, so that they need no build; what the packages ship is tested by `pack-check`. */
export default {
  projects: [
    '<rootDir>/packages/*/jest.config.mjs',
    '<rootDir>/tests/runtimes/jest.config.mjs',
    '<rootDir>/bench/jest.config.mjs',
  ],
  // A limit that shows a hang, not a slow machine: real servers, sockets and processes are at work.
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/scripts/jest-contract.mjs', '<rootDir>/scripts/jest-counts.mjs'],
};
