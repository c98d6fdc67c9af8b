import { configError } from '@factuarea-webhook/core/store-kit';
import { type Clock, type ManualClock, realClock } from './clock.ts';
import { checkTimeout, type DeliveryAttempt, deliver } from './deliver.ts';
import { type FactuareaDelivery, redelivery } from './delivery.ts';
import { Places } from './places.ts';
import type { DeliveryState, HistoryEntry, SenderEndpoint, SenderOptions, SentDelivery } from './sender-types.ts';
import { Suspensions } from './suspensions.ts';
import { checkByHand, rearm, type Tracked, track } from './tracked.ts';
import { type SocketTransport, socketTransport, type Transport } from './transport.ts';

const MINUTE_MS = 60_000;

/** The waits between Factuarea's eight attempts, in milliseconds: 1 min, 5 min, 30 min, 2 h, 12 h, 1 day, 3 days. */
export const retryCalendar: readonly number[] = [1, 5, 30, 120, 720, 1440, 4320].map((minutes) => minutes * MINUTE_MS);

type Attempt = Omit<DeliveryAttempt, 'headers'> & { readonly at: Date };

/**
 * Plays Factuarea: delivers events to endpoints, treats their answers as Factuarea does, and tries again along its
 * calendar, on a clock of your choice.
 *
 * @throws `config_error` where an option is unusable.
 * @example
 * ```ts
 * const sender = new FactuareaSender({
 *   endpoints: { company: { url: 'http://localhost:3000/factuarea/webhook', secret: 'whsec_…' } },
 *   clock: fastClock(3600),
 * });
 * const sent = sender.send('company', companyDelivery('invoice.sent'));
 * await sent.finished; // 'delivered'
 * sender.close();
 * ```
 */
export class FactuareaSender<Name extends string = string> {
  readonly #options: SenderOptions<Name>;
  readonly #clock: Clock;
  readonly #calendar: readonly number[];
  readonly #transport: Transport;
  readonly #ownTransport: SocketTransport | undefined;
  readonly #sent: Tracked[] = [];
  readonly #history: HistoryEntry[] = [];
  readonly #places: Places;
  readonly #suspensions = new Suspensions();
  #closed = false;

  constructor(options: SenderOptions<Name>) {
    for (const { timeoutSeconds } of Object.values<SenderEndpoint>(options.endpoints)) checkTimeout(timeoutSeconds);
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#calendar = options.calendar ?? retryCalendar;
    this.#ownTransport = options.transport ? undefined : socketTransport();
    this.#transport = options.transport ?? (this.#ownTransport as Transport);
    this.#places = new Places(options.concurrency ?? 50);
  }

  /** Makes the first attempt at once, and further ones as the answers ask for. */
  send(endpoint: Name, delivery: FactuareaDelivery): SentDelivery {
    this.#endpoint(endpoint);
    const tracked = track(endpoint, delivery, this.#now());
    this.#sent.push(tracked);
    this.#attempt(tracked);
    return tracked;
  }

  /**
   * What a person can do for a company endpoint: sends the stored body again as a new delivery, with the same event id.
   *
   * @throws `config_error` for an account endpoint's delivery, and after 90 days.
   */
  replay(sent: SentDelivery): SentDelivery {
    checkByHand(sent, 'replay', this.#now());
    return this.send(sent.endpoint as Name, redelivery(sent.delivery));
  }

  /**
   * What a person can do for an account endpoint: starts the same delivery again from its first attempt.
   *
   * @throws `config_error` for a company endpoint's delivery, for one that is still pending, and after 90 days.
   */
  retry(sent: SentDelivery): SentDelivery {
    checkByHand(sent, 'retry', this.#now());
    if (sent.state === 'pending') throw configError('The delivery is still being tried: there is nothing to re-arm.');
    const tracked = rearm(sent as Tracked);
    this.#attempt(tracked);
    return tracked;
  }

  /** Whether 100 deliveries to this endpoint have failed permanently within 24 hours. */
  isSuspended(endpoint: Name): boolean {
    return this.#suspensions.has(endpoint);
  }

  /** What a person does about a suspended endpoint. What was held back meanwhile is sent. */
  resume(endpoint: Name): void {
    this.#suspensions.lift(endpoint);
    for (const tracked of this.#sent) {
      if (tracked.endpoint === endpoint && tracked.held) this.#attempt(tracked);
    }
  }

  /** Every attempt, in the order of the answers; of one endpoint, or of all. */
  history(endpoint?: Name): readonly HistoryEntry[] {
    return this.#history.filter((entry) => endpoint === undefined || entry.endpoint === endpoint);
  }

  /** Resolves once no attempt is on its way. Retries may still be due. */
  quiet(): Promise<void> {
    return this.#places.empty();
  }

  /** Resolves once nothing more will be tried for any delivery. */
  async finished(): Promise<void> {
    await Promise.all(this.#sent.map((sent) => sent.finished));
  }

  /**
   * Moves a manual clock on, and waits for the answer to every attempt that falls due on the way.
   *
   * @throws `config_error` where the sender's clock goes by itself.
   */
  async advance(ms: number): Promise<void> {
    const clock = this.#clock as Clock & Partial<ManualClock>;
    if (!clock.tickAsync) throw configError('This clock goes by itself. Give `clock: manualClock()` to move it.');
    const end = this.#now() + ms;
    for (;;) {
      await this.quiet();
      // From one due attempt to the next, since each answer decides when the next one is due.
      const due = Math.min(end, ...this.#sent.flatMap(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? []));
      await clock.tickAsync(Math.max(0, due - this.#now()));
      await this.quiet();
      if (due >= end && this.#now() >= end) return;
    }
  }

  /** Makes no further attempt. What is pending stays so, and a transport of yours stays open. */
  close(): void {
    this.#closed = true;
    for (const tracked of this.#sent) {
      this.#clock.clearTimeout(tracked.timer as never);
      tracked.finish(tracked.state);
    }
    this.#ownTransport?.close();
  }

  async #attempt(tracked: Tracked): Promise<void> {
    tracked.timer = undefined;
    tracked.nextAttemptAt = undefined;
    tracked.held = false;
    const leave = await this.#places.enter();
    try {
      if (this.#suspensions.has(tracked.endpoint)) tracked.held = true;
      else if (!this.#closed) this.#record(tracked, await this.#deliver(tracked));
    } catch (error) {
      // Not the receiver's doing: a secret or a URL that nothing can be sent with.
      tracked.fail(error);
    } finally {
      leave();
    }
  }

  async #deliver({ endpoint, delivery }: Tracked): Promise<Attempt> {
    const { url, secret, timeoutSeconds = 10 } = this.#endpoint(endpoint);
    const at = new Date(this.#now());
    const timestamp = Math.floor(this.#options.nowSeconds?.() ?? Date.now() / 1000);
    const options = { secret, timestamp, timeoutSeconds, transport: this.#transport };
    const { headers: _, ...attempt } = await deliver(url, delivery, options);
    return { ...attempt, at };
  }

  #record(tracked: Tracked, attempt: Attempt): void {
    const { endpoint, delivery } = tracked;
    tracked.tried++;
    const entry: HistoryEntry = {
      ...attempt,
      endpoint,
      deliveryId: delivery.id,
      eventId: delivery.event.id,
      eventType: delivery.event.type,
      attempt: tracked.tried,
      body: attempt.body.slice(0, 1024),
    };
    tracked.attempts.push(entry);
    this.#history.push(entry);
    const wait = this.#calendar[tracked.tried - 1];
    if (attempt.verdict !== 'retry' || wait === undefined) {
      this.#finish(tracked, attempt.verdict === 'delivered' ? 'delivered' : 'failed_permanently');
    } else if (!this.#closed) {
      this.#schedule(tracked, wait);
    }
  }

  #schedule(tracked: Tracked, wait: number): void {
    const { jitter = 0.1, random = Math.random } = this.#options;
    const ms = wait * (1 + jitter * (2 * random() - 1));
    tracked.nextAttemptAt = new Date(this.#now() + ms);
    tracked.timer = this.#clock.setTimeout(() => this.#attempt(tracked), ms);
  }

  #finish(tracked: Tracked, state: DeliveryState): void {
    tracked.state = state;
    tracked.finish(state);
    if (state === 'failed_permanently') this.#suspensions.failed(tracked.endpoint, this.#now());
  }

  #endpoint(name: string): SenderEndpoint {
    const { endpoints } = this.#options as { endpoints: Readonly<Record<string, SenderEndpoint>> };
    const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
    if (endpoint) return endpoint;
    throw configError(`There is no endpoint \`${name}\`. The endpoints are: ${Object.keys(endpoints).join(', ')}.`);
  }

  #now(): number {
    return this.#clock.Date.now();
  }
}
