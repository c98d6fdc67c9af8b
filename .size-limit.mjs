/** What an app that keeps ids in memory carries of core, for runtimes without Node's modules. */
export default [
  {
    name: 'core with createReceiver and memoryStore',
    path: 'packages/core/dist/index.mjs',
    import: '{ createReceiver, memoryStore }',
    gzip: true,
    limit: '7.5 KB',
    // The root's tsconfig leads `#hmac` to the sources for Node. The package's own conditions are what counts here.
    modifyEsbuildConfig: (config) => ({ ...config, tsconfigRaw: '{}' }),
  },
];
