import type { UserConfig } from 'tsdown';

/** A program, not a library: one ES module, and the files of its pages beside it. */
const config: UserConfig = {
  entry: { bin: 'src/bin.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  fixedExtension: true,
  dts: false,
  sourcemap: false,
  clean: true,
  copy: [{ from: 'src/pages', to: 'dist' }],
};
export default config;
