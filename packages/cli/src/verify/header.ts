/** What a signature header says, read more leniently than a receiver may, to tell what is wrong with it. */
export interface ReadHeader {
  /** `t` as written. */
  readonly t: string | undefined;
  readonly v1: readonly string[];
  /** Names of further pairs. */
  readonly others: readonly string[];
  /** More than one `t`, which no receiver should accept. */
  readonly repeatedT: boolean;
}

export function readHeader(value: string): ReadHeader {
  const t: string[] = [];
  const v1: string[] = [];
  const others: string[] = [];
  for (const pair of value.split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    const text = pair.slice(at + 1).trim();
    if (name === 't') t.push(text);
    else if (name === 'v1') v1.push(text);
    else if (name !== '') others.push(name);
  }
  return { t: t[0], v1, others, repeatedT: t.length > 1 };
}

/** The headers people paste: `Name: value` as curl takes it, or the bare value of the signature header. */
export interface GivenHeaders {
  readonly signature: string | undefined;
  readonly contentLength: number | undefined;
}

export function givenHeaders(lines: readonly string[]): GivenHeaders {
  let signature: string | undefined;
  let contentLength: number | undefined;
  for (const line of lines) {
    const [, name, value] = /^\s*([A-Za-z0-9-]+)\s*:\s*(.*)$/s.exec(line) ?? [undefined, 'factuarea-signature', line];
    const lower = (name as string).toLowerCase();
    if (lower === 'factuarea-signature') signature = (value as string).trim();
    if (lower === 'content-length' && /^\d+$/.test(value as string)) contentLength = Number(value);
  }
  return { signature, contentLength };
}
