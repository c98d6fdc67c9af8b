import { accepted, accepts, type Check, effectOf, told } from '../check.ts';
import { fateOf } from '../fate.ts';
import { keptConnection } from '../wire.ts';

const group = 'Body';
const rawBytes =
  'Compute the signature over the bytes as they arrived. Parse them only afterwards, and never write them anew.';

/** The same event with another text in the place of its last brace. */
const withFields = (json: string, fields: string): string => `${json.slice(0, -1)},${fields}}`;

export const bodyChecks: readonly Check[] = [
  accepts(group, {
    id: 'escaped-json',
    title: 'Escaped unicode and slashes verify',
    sent: 'an event with caf\\u00e9, an escaped emoji and https:\\/\\/, as PHP writes them',
    fix: rawBytes,
    body: (event) =>
      withFields(JSON.stringify(event), '"note":"caf\\u00e9 \\ud83d\\ude00 https:\\/\\/example.com\\/a"'),
  }),
  accepts(group, {
    id: 'raw-unicode',
    title: 'Unescaped unicode verifies',
    sent: 'an event with café, łódź and an emoji as UTF-8',
    fix: `${rawBytes} Do not decode them with another charset.`,
    body: (event) => withFields(JSON.stringify(event), '"note":"café łódź 😀 \u2028"'),
  }),
  accepts(group, {
    id: 'odd-spacing',
    title: 'Unusual spacing verifies',
    sent: 'an event with spaces and line breaks between its fields',
    fix: rawBytes,
    body: (event) => JSON.stringify(event, null, 3).replaceAll('": ', '"  :\t'),
  }),
  accepts(group, {
    id: 'exact-numbers',
    title: 'Numbers verify as they are written',
    sent: 'an event with 121.0, 1e2 and 9007199254740993',
    fix: rawBytes,
    body: (event) => withFields(JSON.stringify(event), '"numbers":[121.0,1e2,9007199254740993,-0.10]'),
  }),
  accepts(group, {
    id: 'final-newline',
    title: 'A final newline is part of the body',
    sent: 'an event with a line break behind its last brace',
    fix: `${rawBytes} Do not trim them.`,
    body: (event) => `${JSON.stringify(event)}\n`,
  }),
  accepts(group, {
    id: 'large-body',
    title: 'A body of 300 KB is accepted',
    sent: 'an event of 300 KB',
    fix: 'Raise the body limit of the proxy and of the framework to 1 MB for this route; 100 KB is a common default.',
    event: (kit) => kit.event({ filler: 'invoice line '.repeat(23_700) }),
  }),
  accepts(group, {
    id: 'split-character',
    title: 'A character split between two packets survives',
    sent: 'an event cut inside an emoji, with a pause',
    fix: 'Collect the chunks as bytes and join them before decoding. Adding chunks to a string breaks characters.',
    how: () => ({ cuts: [14], pauseMs: 40 }),
    body: (event) => `{"note":"1234😀",${JSON.stringify(event).slice(1)}`,
  }),
  accepts(group, {
    id: 'charset',
    title: 'A charset in the content type is accepted',
    sent: 'an event with Content-Type: application/json; charset=utf-8',
    fix: 'Compare the media type only, or do not compare it at all: the signature says where the body comes from.',
    how: () => ({ headers: { 'Content-Type': 'application/json; charset=utf-8' } }),
  }),
  accepts(group, {
    id: 'header-case',
    title: 'Header names in lower case are accepted',
    sent: 'an event with all header names in lower case, as HTTP/2 proxies write them',
    fix: 'Look headers up without regard to case.',
    how: () => ({ headerCase: 'lower' }),
  }),
  {
    id: 'chunked-body',
    group,
    title: 'A chunked body is accepted',
    fix: 'Read the request to its end instead of counting on Content-Length: proxies may leave it out.',
    async run(kit) {
      const event = kit.event();
      const reply = await kit.deliver(event, { chunked: true });
      const found = accepted(reply, 'an event with Transfer-Encoding: chunked and no Content-Length');
      if (found.state === 'pass') return effectOf(kit, event, 1, this.title, found);
      return {
        ...found,
        state: 'warn',
        whatFactuareaDoes: `${found.whatFactuareaDoes} Factuarea gives a length; a proxy in front of you may not.`,
      };
    },
  },
  {
    id: 'expect-continue',
    group,
    title: 'Expect: 100-continue is answered',
    fix: 'Let the server answer 100 Continue (most do), or at least go on reading.',
    async run(kit) {
      const event = kit.event({ filler: 'x'.repeat(2000) });
      const reply = await kit.deliver(event, { headers: { Expect: '100-continue' } });
      const found = accepted(reply, 'an event with Expect: 100-continue, which HTTP clients add to large bodies');
      return found.state === 'pass' ? effectOf(kit, event, 1, this.title, found) : { ...found, state: 'warn' };
    },
  },
  {
    id: 'kept-connection',
    group,
    title: 'A refused request leaves its connection usable',
    fix: 'Read the rest of a refused body, or close the connection after the answer.',
    async run(kit) {
      const connection = keptConnection(kit.subject.url);
      try {
        await kit.deliver(kit.event({ filler: 'x'.repeat(20_000) }), { connection, signature: () => null });
        const event = kit.event();
        const reply = await kit.deliver(event, { connection });
        const sent = 'an unsigned event, then a good one over the same connection';
        // A kept connection may close just as it is used again: one more try, as HTTP clients do.
        const again = reply.status === undefined ? await kit.deliver(event, { connection }) : reply;
        return effectOf(kit, event, 1, this.title, accepted(again, sent));
      } finally {
        connection.close();
      }
    },
  },
  {
    id: 'cut-body',
    group,
    title: 'A sender that goes away does no harm',
    fix: 'Handle the request’s error and close events: an aborted request must end its handler, not the process.',
    async run(kit) {
      const gone = kit.event({ filler: 'x'.repeat(500) });
      const cuts = Array.from({ length: 5 }, () =>
        kit.deliver(gone, { cut: true, tamper: (body) => body.slice(0, 200), headers: { 'Content-Length': '900' } }),
      );
      await Promise.all(cuts);
      const event = kit.event();
      const reply = await kit.deliver(event);
      const found = accepted(reply, 'five events cut off in the middle, then a good one');
      const counted = found.state === 'pass' && kit.handled ? await kit.handled.count(gone.id) : 0;
      if (counted > 0) return { ...found, state: 'fail', got: `${told(reply)}; the cut event was handled` };
      return effectOf(kit, event, 1, this.title, found);
    },
  },
  {
    id: 'not-an-event',
    group,
    title: 'A signed body that is no event is refused',
    fix: 'Answer 400 to a body that is no JSON object with an id and a type: a retry cannot mend it.',
    async run(kit) {
      const bodies = ['[]', '"text"', '{"type":"invoice.sent"}', '{', 'null', ''];
      const sent = `${bodies.length} signed bodies that are no event, such as []`;
      for (const body of bodies) {
        const reply = await kit.deliver(kit.event(), {}, body);
        const { kind, text } = fateOf(reply);
        if (kind === 'failed_permanently') continue;
        const means = kind === 'delivered' ? 'It was accepted, and nothing can have been done.' : text;
        return { state: 'warn', sent, got: `${body || 'an empty body'}: ${told(reply)}`, whatFactuareaDoes: means };
      }
      return { state: 'pass', sent, got: '4xx to each', whatFactuareaDoes: 'Factuarea never sends this.' };
    },
  },
];
