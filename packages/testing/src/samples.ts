import { uuidV7 } from './uuid.ts';

/**
 * A plausible value for each field, by name; `<id>` stands for a new id. Accents and slashes are there on purpose: PHP
 * escapes both.
 */
export const samples = {
  uuid: '<id>',
  amount: 1210,
  annulled_at: '2026-01-20T09:30:00+00:00',
  attempt_number: 1,
  cancelled_at: '2026-01-20T09:30:00+00:00',
  client_uuid: '<id>',
  code: 'F',
  corrective_invoice_number: 'R2026/0003',
  corrective_invoice_uuid: '<id>',
  days_overdue: 7,
  delivery_date: '2026-01-18',
  document_type: 'invoice',
  due_date: '2026-02-14',
  error_class: 'Symfony\\Component\\Mailer\\Exception\\TransportException',
  error_code: '4102',
  error_message: 'El NIF del destinatario no está identificado',
  from_status: 'pending',
  huella: '3C464DAF61ACB827C65FDA19F352A4E3BDC2C640E9E9FC4CC058073F38F12F60',
  invoice_number: 'F2026/0042',
  invoice_uuid: '<id>',
  is_corrective: false,
  method: 'transferencia',
  name: 'Diseño y Montajes Peña, S.L.',
  new_code: 'IVA21',
  new_keys: ['erp_id'],
  new_number: 'F2026/0042',
  new_valid_from: '2026-01-01',
  new_valid_until: null,
  new_year: 2026,
  next_run_date: '2026-02-15',
  number: 'F2026/0042',
  occurrence_number: 3,
  old_year: 2025,
  payment_date: '2026-01-15',
  payment_method: 'transferencia',
  payment_reference: 'TRF/2026/118',
  previous_code: 'IVA',
  previous_keys: [],
  previous_number: null,
  previous_valid_from: '2025-01-01',
  previous_valid_until: '2025-12-31',
  reason: 'Duplicada por error',
  recipient_email: 'facturas@example.com',
  sku: 'MNT-001',
  status: 'draft',
  substitute_invoice_number: 'F2026/0043',
  substitute_invoice_uuid: '<id>',
  substituted_invoice_uuids: ['<id>', '<id>'],
  target: 'invoice',
  target_uuid: '<id>',
  tax_id: 'B12345674',
  to_status: 'delivered',
  total: 1210,
  verifactu_record_id: '<id>',
  year: 2026,
} as const;

const document = {
  number: 'F2026/0042',
  status: 'sent',
  currency: 'EUR',
  issue_date: '2026-01-15',
  due_date: '2026-02-14',
  subtotal: '1000.00',
  tax_amount: '210.00',
  total: '1210.00',
  notes: 'Instalación en C/ Alcalá, 1 – «urgente»',
};

/** What the newest payloads hold beside `object` and `id`, by resource. Amounts are strings. */
export const objects: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  invoice: document,
  proforma: document,
  quote: document,
  purchase_invoice: document,
  delivery_note: { number: 'A2026/0007', status: 'pending', delivery_date: '2026-01-18' },
  recurring_invoice: { status: 'active', frequency: 'monthly', next_run_date: '2026-02-15', total: '1210.00' },
  payment: { amount: '1210.00', currency: 'EUR', method: 'transferencia', paid_at: '2026-01-15' },
  client: { name: 'Diseño y Montajes Peña, S.L.', tax_id: 'B12345674', email: 'facturas@example.com' },
  product: { name: 'Mantenimiento', sku: 'MNT-001', price: '100.00' },
  series: { code: 'F', document_type: 'invoice', year: 2026, next_number: 43 },
  tax: { code: 'IVA21', rate: '21.00', valid_from: '2026-01-01', valid_until: null },
};

/** The sample with new ids in it. */
export function filled(sample: unknown): unknown {
  if (Array.isArray(sample)) return sample.map(filled);
  return sample === '<id>' ? uuidV7() : sample;
}
