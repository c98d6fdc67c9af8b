/** The tests run on the sources, so that they need no build; what the packages ship is tested by `pack-check`. */
export default {
  projects: ['<rootDir>/packages/*/jest.config.mjs', '<rootDir>/tests/runtimes/jest.config.mjs'],
  reporters: ['default', '<rootDir>/scripts/jest-counts.mjs'],
};
