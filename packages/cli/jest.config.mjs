import { project } from '../../jest.base.mjs';

// The command is tested as the program that people install and run.
export default project(import.meta.url, {
  globalSetup: '<rootDir>/test/global-setup.mjs',
  globalTeardown: '<rootDir>/test/global-teardown.mjs',
});
