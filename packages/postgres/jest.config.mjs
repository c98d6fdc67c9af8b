import { project } from '../../jest.base.mjs';

export default project(import.meta.url, {
  globalSetup: '<rootDir>/test/global-setup.mjs',
  globalTeardown: '<rootDir>/test/global-teardown.mjs',
});
