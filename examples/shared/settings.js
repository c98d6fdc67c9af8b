// @ts-check

/** Reads the environment; a value that cannot work ends the start with a word on what to do. */
export function settings() {
  const { PORT = '3000', STORE_URL = 'memory:', FACTUAREA_TIMEOUT_SECONDS } = process.env;
  const port = Number(PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('PORT must be a whole number up to 65535.');
  return {
    port,
    storeUrl: STORE_URL,
    timeoutSeconds: FACTUAREA_TIMEOUT_SECONDS === undefined ? undefined : Number(FACTUAREA_TIMEOUT_SECONDS),
  };
}

/**
 * Gives each secret of FACTUAREA_WEBHOOK_SECRET a name, so that a handler can tell which endpoint delivered. Without
 * names, or with one endpoint only, leave the option `secret` out: the package reads the variable by itself.
 */
export function namedSecrets() {
  const secrets = (process.env['FACTUAREA_WEBHOOK_SECRET'] ?? '').split(',');
  return Object.fromEntries(secrets.map((secret, i) => [`endpoint-${i + 1}`, secret]));
}
