/** Lets a child process run the TypeScript sources as they stand: `node register.cjs /path/of/file.ts`. */
const { readFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');

const packages = join(__dirname, '..', '..', 'packages');
const resolve = Module._resolveFilename;

Module._resolveFilename = function (request, ...rest) {
  if (request === '#hmac') return join(packages, 'core', 'src', 'hmac.node.ts');
  const [, name, entry = 'index'] = /^@factuarea-webhook\/([a-z]+)(?:\/(.+))?$/.exec(request) ?? [];
  return name ? join(packages, name, 'src', `${entry}.ts`) : resolve.call(this, request, ...rest);
};

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  });
  module._compile(code, filename);
};

if (require.main === module) require(process.argv[2]);
