import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { messageOf } from '../exit.ts';
import type { Arrival, Forwarded } from './capture.ts';

const MOST = 256 * 1024;
/** Those of the connection itself, which is another one from here on. */
const ofTheHop = /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i;

/** Passes an arrival on to the developer's own app, byte for byte. Never rejects. */
export function forward(url: URL, { headers, body }: Arrival, timeoutMs: number): Promise<Forwarded> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const done = (part: Partial<Forwarded>): void =>
      resolve({
        url: url.href,
        status: undefined,
        headers: [],
        body: '',
        error: undefined,
        ...part,
        ms: Math.round(performance.now() - startedAt),
      });
    const passed = headers.filter(([name]) => !ofTheHop.test(name));
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      // As a flat list, so that a header that came twice goes on twice.
      headers: [...passed.flat(), 'Content-Length', String(body.length), 'Host', url.host],
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.on('error', (error) => {
      const late = error.name === 'TimeoutError' || error.name === 'AbortError';
      done({ error: late ? `no answer within ${timeoutMs / 1000} s` : messageOf(error) });
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if (size < MOST) chunks.push(chunk);
        size += chunk.length;
      });
      response.on('error', (error) => done({ error: messageOf(error) }));
      response.on('end', () =>
        done({
          status: response.statusCode,
          headers: pairs(response.rawHeaders),
          body: Buffer.concat(chunks).subarray(0, MOST).toString('utf8'),
        }),
      );
    });
    request.end(body);
  });
}

/** Node's flat list of names and values, in pairs. */
export function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}
