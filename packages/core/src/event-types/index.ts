import type { CatalogEventTypes } from './catalog.ts';
import type { InvoiceEventTypes } from './invoices.ts';
import type { PurchaseEventTypes } from './purchases.ts';
import type { QuoteEventTypes } from './quotes.ts';

/**
 * The event types known when this version was made. Factuarea adds types without notice, and they are received just
 * the same: see `UnknownEvent`.
 *
 * `resource` is the key under `data` in the older payload shapes and `data.object.object` in the newest; `fields`
 * are those of the oldest shape's resource; `extra` are further keys beside the resource.
 */
export interface EventTypes extends CatalogEventTypes, InvoiceEventTypes, PurchaseEventTypes, QuoteEventTypes {}
