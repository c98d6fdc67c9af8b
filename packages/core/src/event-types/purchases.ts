/** Purchase invoices and payments. What the keys mean is said at `EventTypes`. */
export interface PurchaseEventTypes {
  'payment.received': {
    resource: 'payment';
    fields: { uuid: string; invoice_uuid: string | null; amount: number; method: string | null };
    extra: never;
  };
  'purchase_invoice.cancelled': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.created': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.metadata_changed': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.paid': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.updated': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
}
