/** JSON with its numbers as they were written, since `12.50` and `9007199254740993` do not survive `JSON.parse`. */
export type Json =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Json])[] }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly source: string }
  | { readonly kind: 'word'; readonly source: string };

/** What `readJson` gives for a text that is no JSON. */
export interface NotJson {
  readonly kind: 'broken';
  /** The text ends where more had to come: it was cut. */
  readonly cut: boolean;
}

/** Reads JSON and keeps what a re-serialisation would lose. */
export function readJson(text: string): Json | NotJson {
  let at = 0;
  const space = (): void => {
    while (' \t\r\n'.includes(text[at] || '.')) at++;
  };
  const expect = (sign: string): void => {
    space();
    if (text[at] !== sign) throw new SyntaxError(at >= text.length ? 'cut' : 'broken');
    at++;
  };
  const list = <Item>(open: string, close: string, item: () => Item): Item[] => {
    expect(open);
    const items: Item[] = [];
    space();
    if (text[at] === close) {
      at++;
      return items;
    }
    for (;;) {
      items.push(item());
      space();
      if (text[at] === ',') at++;
      else {
        expect(close);
        return items;
      }
    }
  };
  const string = (): string => {
    space();
    const from = at;
    expect('"');
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    expect('"');
    return JSON.parse(text.slice(from, at)) as string;
  };
  const value = (): Json => {
    space();
    if (text[at] === '{') {
      const entry = (): readonly [string, Json] => {
        const key = string();
        expect(':');
        return [key, value()];
      };
      return { kind: 'object', entries: list('{', '}', entry) };
    }
    if (text[at] === '[') return { kind: 'array', items: list('[', ']', value) };
    if (text[at] === '"') return { kind: 'string', value: string() };
    const source = /^[-+.\w]+/.exec(text.slice(at, at + 400))?.[0] ?? '';
    at += source.length;
    if (source === 'true' || source === 'false' || source === 'null') return { kind: 'word', source };
    if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(source)) return { kind: 'number', source };
    throw new SyntaxError(at >= text.length ? 'cut' : 'broken');
  };
  try {
    const read = value();
    space();
    return at === text.length ? read : { kind: 'broken', cut: false };
  } catch (error) {
    return { kind: 'broken', cut: error instanceof Error && error.message === 'cut' };
  }
}

/** How one serialiser writes. */
export interface JsonForm {
  readonly name: string;
  readonly item: string;
  readonly key: string;
  readonly indent?: string;
  readonly escape: (text: string) => string;
  /** JavaScript's numbers forget how they were written. */
  readonly jsNumbers?: boolean;
  readonly sorted?: boolean;
}

const unit = (text: string, upper = false): string => {
  const hex = text.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${upper ? hex.toUpperCase() : hex}`;
};
/** JSON.stringify escapes what must be escaped, and lone surrogates. */
const least = (text: string): string => JSON.stringify(text);
const slashes = (write: (text: string) => string) => (text: string) => write(text).replaceAll('/', '\\/');
const ascii = (text: string): string => least(text).replace(/[\u0080-\uffff]/g, (one) => unit(one));
const lines = (text: string): string => least(text).replace(/[\u2028\u2029]/g, (one) => unit(one));
const asciiAndDelete = (text: string): string => least(text).replace(/[\u007f-\uffff]/g, (one) => unit(one));
const go = (text: string): string => lines(text).replace(/[<>&]/g, (one) => unit(one));
const dotnet = (text: string): string => {
  const inner = least(text).slice(1, -1).replaceAll('\\"', unit('"'));
  return `"${inner.replace(/[<>&'+`\u007f-\uffff]/g, (one) => unit(one, true))}"`;
};

const compact = { item: ',', key: ':' };
const spaced = { item: ', ', key: ': ' };
const lined = { item: ',', key: ': ' };

/** The serialisers people meet, Factuarea's own first. */
export const forms: readonly JsonForm[] = [
  { name: "PHP's json_encode (what Factuarea writes)", ...compact, escape: slashes(ascii) },
  { name: "JavaScript's JSON.stringify", ...compact, escape: least, jsNumbers: true },
  { name: 'compact JSON with unescaped unicode and slashes', ...compact, escape: least },
  { name: "PHP's json_encode with JSON_UNESCAPED_SLASHES", ...compact, escape: ascii },
  { name: "PHP's json_encode with JSON_UNESCAPED_UNICODE", ...compact, escape: slashes(lines) },
  { name: "Python's json.dumps", ...spaced, escape: asciiAndDelete },
  { name: "Python's json.dumps with ensure_ascii=False", ...spaced, escape: least },
  { name: "Python's json.dumps with separators=(',', ':')", ...compact, escape: asciiAndDelete },
  { name: "Python's json.dumps with sort_keys=True", ...spaced, escape: asciiAndDelete, sorted: true },
  { name: "Go's json.Marshal of a map", ...compact, escape: go, sorted: true },
  { name: "Go's json.Marshal", ...compact, escape: go },
  { name: ".NET's System.Text.Json", ...compact, escape: dotnet },
  { name: 'pretty-printed JSON, 2 spaces', ...lined, indent: '  ', escape: least },
  { name: "JavaScript's JSON.stringify with 2 spaces", ...lined, indent: '  ', escape: least, jsNumbers: true },
  { name: 'pretty-printed JSON, 4 spaces', ...lined, indent: '    ', escape: least },
  { name: "Python's json.dumps with indent=2", ...lined, indent: '  ', escape: asciiAndDelete },
  { name: "Python's json.dumps with indent=4", ...lined, indent: '    ', escape: asciiAndDelete },
  { name: "PHP's json_encode with JSON_PRETTY_PRINT", ...lined, indent: '    ', escape: slashes(ascii) },
  { name: 'pretty-printed JSON, tabs', ...lined, indent: '\t', escape: least },
];

/** Writes JSON as one serialiser would. */
export function writeJson(json: Json, form: JsonForm): string {
  const write = (node: Json, depth: number): string => {
    const wrap = (open: string, close: string, parts: string[]): string => {
      if (parts.length === 0) return open + close;
      if (form.indent === undefined) return open + parts.join(form.item) + close;
      const line = `\n${form.indent.repeat(depth + 1)}`;
      return `${open}${line}${parts.join(`${form.item}${line}`)}\n${form.indent.repeat(depth)}${close}`;
    };
    switch (node.kind) {
      case 'object': {
        const entries = form.sorted ? [...node.entries].sort(([a], [b]) => (a < b ? -1 : 1)) : node.entries;
        const parts = entries.map(([key, value]) => `${form.escape(key)}${form.key}${write(value, depth + 1)}`);
        return wrap('{', '}', parts);
      }
      case 'array':
        return wrap(
          '[',
          ']',
          node.items.map((item) => write(item, depth + 1)),
        );
      case 'string':
        return form.escape(node.value);
      case 'number':
        return form.jsNumbers ? JSON.stringify(Number(node.source)) : node.source;
      case 'word':
        return node.source;
    }
  };
  return write(json, 0);
}

/** The envelope's own order, which a map of another language has lost. */
const order = ['id', 'type', 'api_version', 'created', 'livemode', 'test', 'correlation_id'];
const last = ['account', 'account_relationship', 'company_id', 'data'];

/** The same JSON with the envelope's fields in the order in which Factuarea writes them. */
export function inEnvelopeOrder(json: Json): Json {
  if (json.kind !== 'object') return json;
  const rank = (key: string): number => {
    const known = [...order, ...last].indexOf(key);
    return known < 0 ? order.length : known;
  };
  return { kind: 'object', entries: [...json.entries].sort(([a], [b]) => rank(a) - rank(b)) };
}
