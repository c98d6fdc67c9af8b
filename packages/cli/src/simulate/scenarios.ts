import {
  accountDelivery,
  companyDelivery,
  type FactuareaDelivery,
  FactuareaSender,
  fastClock,
  redelivery,
  type SenderEndpoint,
  type SentDelivery,
  type SocketTransport,
  socketTransport,
  storm,
  type Transport,
  twinsOf,
} from '@factuarea-webhook/testing';
import { resourceIdFor, type Wanted } from '../play/wanted.ts';

export interface Setting {
  readonly url: string;
  /** The company endpoint's secret, and the account endpoint's. */
  readonly secrets: { readonly company: string; readonly account: string };
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly fails: Wanted | undefined;
  readonly events: number;
  readonly copies: number;
  readonly timeoutSeconds: number;
  /** How many times faster than in life the sender's calendar goes by. */
  readonly speed: number;
}

type Sender = FactuareaSender<'company' | 'account'>;

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What it cannot do without. */
  readonly needs?: 'fails';
  /** Whose signatures the endpoints carry, where it is not one secret each. */
  readonly secretOf?: (secret: string) => string | readonly string[];
  /** How requests are carried, where it is not by sockets as they are. */
  readonly carry?: (sockets: SocketTransport) => Transport;
  run(sender: Sender, setting: Setting): Promise<readonly SentDelivery[]>;
}

const OTHER_SECRET = 'whsec_0000000000000000000000';

/** An event of the usual type, or of a type or with an ending that the receiver's set-up treats specially. */
function company({ type: usual, data }: Setting, wanted?: Wanted): FactuareaDelivery {
  const type = wanted && 'type' in wanted ? wanted.type : usual;
  const overrides = { resourceId: resourceIdFor(wanted), ...(data && !wanted && { data }) };
  return type.startsWith('account.') ? accountDelivery(type, overrides) : companyDelivery(type, overrides);
}

const endpointOf = (delivery: FactuareaDelivery): 'company' | 'account' => delivery.endpoint;

function sendMany(sender: Sender, setting: Setting, wanted?: Wanted): SentDelivery[] {
  return Array.from({ length: setting.events }, () => {
    const delivery = company(setting, wanted);
    return sender.send(endpointOf(delivery), delivery);
  });
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'twins',
    title: 'each event at a company and an account endpoint, at the same moment',
    async run(sender, setting) {
      return Array.from({ length: setting.events }, () => {
        const { type, data } = setting;
        if (type.startsWith('account.')) return sendMany(sender, { ...setting, events: 1 });
        const twins = twinsOf(type);
        const company = data ? companyDelivery(type, { id: twins.company.event.id, data }) : twins.company;
        const account = data ? accountDelivery(type, { id: twins.company.event.id, data }) : twins.account;
        return [sender.send('company', company), sender.send('account', account)];
      }).flat();
    },
  },
  {
    name: 'retry',
    title: 'the handler fails at first, and the event comes again',
    needs: 'fails',
    run: async (sender, setting) => sendMany(sender, setting, setting.fails),
  },
  {
    name: 'timeout',
    title: 'the first answer comes too late for the sender, so the event comes again',
    // The receiver has done its work, and its answer is lost: to the sender that is no answer in time.
    carry(sockets) {
      const lost = new Set<string>();
      return async (request) => {
        const answer = await sockets(request);
        const id = request.headers['factuarea-event-id'] ?? '';
        if (lost.has(id)) return answer;
        lost.add(id);
        throw new Error('The answer came too late.');
      };
    },
    run: async (sender, setting) => sendMany(sender, setting),
  },
  {
    name: 'replay',
    title: 'a person sends a delivered event again',
    async run(sender, setting) {
      const first = sendMany(sender, setting);
      await Promise.all(first.map((sent) => sent.finished));
      const again = first.map((sent) =>
        sent.delivery.endpoint === 'company' ? sender.replay(sent) : sender.send('account', redelivery(sent.delivery)),
      );
      return [...first, ...again];
    },
  },
  {
    name: 'rotation-new',
    title: 'during a rotation: signed with the new secret first, then with yours',
    secretOf: (secret) => [OTHER_SECRET, secret],
    run: async (sender, setting) => sendMany(sender, setting),
  },
  {
    name: 'rotation-old',
    title: 'during a rotation: signed with yours first, then with the previous one',
    secretOf: (secret) => [secret, OTHER_SECRET],
    run: async (sender, setting) => sendMany(sender, setting),
  },
  {
    name: 'storm',
    title: 'ten times the events, several copies of each, all at once',
    async run(sender, setting) {
      const make = (): FactuareaDelivery => company(setting);
      const endpoint = endpointOf(make());
      const { deliveries } = await storm(sender, {
        endpoint,
        events: setting.events * 10,
        copies: setting.copies,
        make,
      });
      return deliveries;
    },
  },
];

/** Plays one scenario to its end. `onAttempts` is told the number of attempts now and then. */
export async function play(
  scenario: Scenario,
  setting: Setting,
  onAttempts: (attempts: number) => void,
): Promise<readonly SentDelivery[]> {
  const sockets = socketTransport();
  const endpoint = (secret: string): SenderEndpoint => ({
    url: setting.url,
    secret: scenario.secretOf?.(secret) ?? secret,
    timeoutSeconds: setting.timeoutSeconds,
  });
  const sender: Sender = new FactuareaSender({
    endpoints: { company: endpoint(setting.secrets.company), account: endpoint(setting.secrets.account) },
    clock: fastClock(setting.speed),
    transport: scenario.carry?.(sockets) ?? sockets,
  });
  const telling = setInterval(() => onAttempts(sender.history().length), 100);
  try {
    const sent = await scenario.run(sender, setting);
    await sender.finished();
    return sent;
  } finally {
    clearInterval(telling);
    sender.close();
    sockets.close();
  }
}
