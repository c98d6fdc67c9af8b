import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('./packages/', import.meta.url));

/** What every package's jest configuration is made of. */
export function project(rootUrl, more = {}) {
  return {
    rootDir: fileURLToPath(new URL('.', rootUrl)),
    displayName: new URL('.', rootUrl).pathname.split('/').at(-2),
    testEnvironment: 'node',
    testMatch: ['<rootDir>/test/**/*.test.ts'],
    transform: {
      '\\.[cm]?tsx?$': [
        '@swc/jest',
        { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
      ],
    },
    moduleNameMapper: {
      '^#hmac$': `${packages}core/src/hmac.node.ts`,
      '^@factuarea-webhook/(core|node|express|fastify|hono|next|postgres|redis|mysql|sqlite|testing|cli)$': `${packages}$1/src/index.ts`,
      '^@factuarea-webhook/(core|next|testing)/(.+)$': `${packages}$1/src/$2.ts`,
    },
    ...more,
  };
}
