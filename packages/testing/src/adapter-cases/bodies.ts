import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Probe, ProbeEvent } from '../contract-probe.ts';
import { Connection } from '../raw-client.ts';
import { uuidV7 } from '../uuid.ts';
import type { Case } from './case.ts';

/** An event padded with spaces to exactly this many bytes. */
function padded(probe: Probe, size: number): ProbeEvent {
  const { id, body } = probe.event();
  return { id, body: Buffer.concat([body, Buffer.alloc(size - body.length, ' ')]) };
}

/** An event whose body holds an emoji as four bytes of UTF-8, cut in the middle of them. */
function cutInEmoji(probe: Probe): ProbeEvent & { pieces: Uint8Array[] } {
  const { id, body } = probe.event(['succeed'], { note: 'NOTE' });
  const text = Buffer.from(Buffer.from(body).toString().replace('NOTE', '😀'));
  const at = text.indexOf('😀') + 2;
  return { id, body: text, pieces: [text.subarray(0, at), text.subarray(at)] };
}

// Made once, since making it takes longer than any case.
let bomb: Uint8Array | undefined;

/** Everything a body can do. */
export const bodyCases: readonly Case[] = [
  {
    id: 'split-character',
    title: 'a body cut inside a character, with a declared length',
    async run(probe) {
      const { pieces, ...event } = cutInEmoji(probe);
      probe.isHandled(await probe.send(event, { pieces }));
      assert.equal((await probe.runs(event.id))[0]?.note, '😀');
    },
  },
  {
    id: 'split-character-chunked',
    title: 'a body cut inside a character, chunked',
    async run(probe) {
      const { pieces, ...event } = cutInEmoji(probe);
      probe.isHandled(await probe.send(event, { pieces, chunked: true }));
      assert.equal((await probe.runs(event.id))[0]?.note, '😀');
    },
  },
  {
    id: 'chunked',
    title: 'a chunked body without a declared length',
    async run(probe) {
      probe.isHandled(await probe.send(probe.event(), { chunked: true }));
    },
  },
  {
    id: 'content-types',
    title: 'any content type is accepted, or none: the signature decides',
    async run(probe) {
      const types = [
        'application/json',
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8',
        'application/json; utf-8',
        'application/json; charset=iso-8859-1',
        'application/vnd.factuarea.v1+json',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/plain',
        'nonsense',
        null,
        '',
      ];
      for (const type of types) {
        try {
          probe.isHandled(await probe.send(probe.event(), { headers: { 'Content-Type': type } }));
        } catch (error) {
          throw new Error(`With the content type “${type}”: ${(error as Error).message}`, { cause: error });
        }
      }
    },
  },
  {
    id: 'large',
    title: 'a body of 300 KiB',
    async run(probe) {
      probe.isHandled(await probe.send(padded(probe, 300 * 1024)));
      probe.isHandled(await probe.send(padded(probe, 300 * 1024), { chunked: true }));
    },
  },
  {
    id: 'at-limit',
    title: 'a body of exactly the limit is accepted, one byte more is not',
    async run(probe) {
      probe.isHandled(await probe.send(padded(probe, probe.config.bodyLimit)));
      const over = padded(probe, probe.config.bodyLimit + 1);
      probe.isAnswer(await probe.send(over), 413, 'body_too_large');
      await probe.untouched(over.id);
    },
  },
  {
    id: 'declared-over-limit',
    title: 'a declared length over the limit is refused before the body is sent',
    async run(probe) {
      const { id, body } = probe.event();
      const connection = await Connection.open(probe.url);
      const headers = { 'Content-Length': String(probe.config.bodyLimit + 1) };
      await connection.write(await probe.head({ id, body }, { headers }));
      probe.isAnswer(await connection.answer(), 413, 'body_too_large');
      connection.destroy();
      await probe.untouched(id);
    },
  },
  {
    id: 'endless',
    title: 'a chunked body that does not end is refused once it is over the limit',
    async run(probe) {
      const { id, body } = probe.event();
      const connection = await Connection.open(probe.url);
      await connection.write(await probe.head({ id, body }, { chunked: true }));
      const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
      const over = Math.ceil(probe.config.bodyLimit / 0x4000) + 1;
      await connection.write(chunk.repeat(over));
      // Nothing is sent meanwhile: a server may close on a sender that it has answered and that still sends (RFC 9112,
      // 9.6), and takes the answer with it.
      probe.isAnswer(await connection.answer(), 413, 'body_too_large');
      // Read or refused, what follows does no harm.
      let more = (16 * 1024 * 1024) / 0x4000;
      while (more > 0 && (await connection.write(chunk))) more--;
      connection.destroy();
      await probe.untouched(id);
    },
  },
  {
    id: 'empty-signed',
    title: 'an empty body that is well signed: 400',
    async run(probe) {
      const event = { id: uuidV7(), body: new Uint8Array(0) };
      probe.isAnswer(await probe.send(event), 400, 'invalid_event');
      probe.isAnswer(await probe.send(event, { chunked: true }), 400, 'invalid_event');
    },
  },
  {
    id: 'empty-unsigned',
    title: 'no body and no signature: 401',
    async run(probe) {
      const event = { id: uuidV7(), body: new Uint8Array(0) };
      probe.isAnswer(await probe.send(event, { signature: null }), 401, 'invalid_signature');
      const bare = { 'Content-Length': null, 'Content-Type': null };
      probe.isAnswer(await probe.send(event, { signature: null, headers: bare }), 401, 'invalid_signature');
    },
  },
  {
    id: 'unread-without-signature',
    title: 'without a readable signature the body is not waited for',
    async run(probe) {
      const { id, body } = probe.event();
      const connection = await Connection.open(probe.url);
      await connection.write(await probe.head({ id, body }, { signature: null }));
      probe.isAnswer(await connection.answer(), 401, 'invalid_signature');
      connection.destroy();
    },
  },
  {
    id: 'gzip',
    title: 'a compressed body: 415, signed before or after the compression',
    async run(probe) {
      const event = probe.event();
      const packed = { id: event.id, body: gzipSync(event.body) };
      const headers = { 'Content-Encoding': 'gzip' };
      for (const signed of [event.body, packed.body]) {
        const signature = await probe.sign(signed);
        probe.isAnswer(await probe.send(packed, { signature, headers }), 415, 'unsupported_encoding');
      }
      await probe.untouched(event.id);
    },
  },
  {
    id: 'zip-bomb',
    title: 'a few KiB that would unpack to 64 MiB: 415',
    async run(probe) {
      bomb ??= gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
      const headers = { 'Content-Encoding': 'gzip' };
      probe.isAnswer(await probe.send({ id: uuidV7(), body: bomb }, { headers }), 415, 'unsupported_encoding');
    },
  },
  {
    id: 'identity',
    title: 'Content-Encoding: identity is accepted',
    async run(probe) {
      probe.isHandled(await probe.send(probe.event(), { headers: { 'Content-Encoding': 'identity' } }));
    },
  },
  {
    id: 'body-parser-first',
    title: 'a body parser that ran first: 500 at once, and the log names the fix',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event();
      const answer = await probe.send(event, { path: '/parsed' });
      probe.isAnswer(answer, 500, 'body_unavailable');
      assert.ok(answer.durationMs < 1000, `answered after ${answer.durationMs} ms`);
      await probe.untouched(event.id);
      const { logs } = await probe.state();
      assert.ok(logs.some((line) => line.includes(event.id) && line.includes('body_unavailable')));
    },
  },
];
