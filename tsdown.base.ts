import type { UserConfig } from 'tsdown';

/** How every package is built: ES module and CommonJS side by side, each with its own declarations. */
export function library(...entry: string[]): UserConfig {
  return {
    entry,
    format: ['esm', 'cjs'],
    dts: true,
    target: 'node20',
    platform: 'neutral',
    fixedExtension: true,
    // `neutral` keeps the browser's and Node's special resolution away, and so has to be told of Node's own modules.
    // `#hmac` is chosen by package conditions when the package is used, so it stays an import.
    deps: { neverBundle: [/^node:/, '#hmac'] },
    sourcemap: false,
    clean: true,
    treeshake: true,
  };
}
