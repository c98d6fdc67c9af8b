/** Quotes and delivery notes. What the keys mean is said at `EventTypes`. */
export interface QuoteEventTypes {
  'delivery_note.converted': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: 'target';
  };
  'delivery_note.created': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'delivery_note.signed': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'delivery_note.status_changed': {
    resource: 'delivery_note';
    fields: { uuid: string; number: string | null };
    extra: 'delivery_date' | 'from_status' | 'to_status';
  };
  'delivery_note.updated': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'quote.approved': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.cancelled': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.converted': {
    resource: 'quote';
    fields: { uuid: string };
    extra: 'target' | 'target_uuid';
  };
  'quote.created': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.deleted': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.expired': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.marked_as_pending': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.metadata_changed': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.number_assigned': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.rejected': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.updated': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
}
