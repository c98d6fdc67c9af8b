/** Clients, products, series and taxes. What the keys mean is said at `EventTypes`. */
export interface CatalogEventTypes {
  'client.created': {
    resource: 'client';
    fields: { uuid: string; name: string | null; tax_id: string | null };
    extra: never;
  };
  'client.deleted': {
    resource: 'client';
    fields: { uuid: string; name: string | null };
    extra: never;
  };
  'client.metadata_changed': {
    resource: 'client';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'client.updated': {
    resource: 'client';
    fields: { uuid: string };
    extra: never;
  };
  'product.created': {
    resource: 'product';
    fields: { uuid: string; name: string | null; sku: string | null };
    extra: never;
  };
  'product.updated': {
    resource: 'product';
    fields: { uuid: string };
    extra: never;
  };
  'series.archived': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.created': {
    resource: 'series';
    fields: { uuid: string; code: string | null; document_type: string | null; year: number | null };
    extra: never;
  };
  'series.deleted': {
    resource: 'series';
    fields: { uuid: string };
    extra: never;
  };
  'series.demoted_from_default': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.marked_as_default': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.number_consumed': {
    resource: 'series';
    fields: { uuid: string; code: string | null; year: number | null };
    extra: 'number';
  };
  'series.unarchived': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.updated': {
    resource: 'series';
    fields: { uuid: string };
    extra: never;
  };
  'series.year_reset': {
    resource: 'series';
    fields: { uuid: string };
    extra: 'new_year' | 'old_year';
  };
  'tax.external_reference_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_code' | 'previous_code';
  };
  'tax.metadata_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'tax.validity_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_valid_from' | 'new_valid_until' | 'previous_valid_from' | 'previous_valid_until';
  };
}
