import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { markedTables, markTable, recordHash, type TableMarks, trackingNumber } from '../versioned/table-marks.ts'

// Marks which columns may contain a buyer's data, and how an erasure changes them. `docs/personal-data.md` and the column rights of `tallyman_bi` are
// generated from the marks, and a test fails if a column of the database is not marked. The tables of a resource are marked where they are declared
// (`personalData` of a table, or `markTable`); these are all other tables and views.
const otherTables: Readonly<Record<string, TableMarks>> = {
  'tallyman.alarm_channels': {
    none: `id name kind address target severities concerns seller_ids hours repeat_hours state failures failing_since last_error last_sent_at next_at
      lease_until created_at updated_at`,
  },
  'tallyman.alarm_notices': { none: 'channel_id alarm_id sent_at over_at' },
  'tallyman.alarms': {
    none: 'id kind raised_at resolved_at count due_at silenced_until silenced_by resolved_by told',
    reference: { subject: 'id of a command, an event, a campaign …' },
    buyer: {
      seller_id: ['seller; of a rejected or waiting event as named by the ERP', 'empty where no such seller was ever served'],
      message: [
        'text from the ERP, the marketplace or an operator',
        'replaced by "erased" if the alarm is about a command or event of the order',
      ],
      silenced_reason: ['text from an operator', 'replaced by "erased" if the alarm is about a command or event of the order'],
      resolved_reason: ['text from an operator', 'replaced by "erased" if the alarm is about a command or event of the order'],
    },
  },
  'tallyman.api_keys': {
    none: `id name scopes all_sellers seller_ids secret_hash previous_hash previous_until created_at created_by rotated_at last_used_at
      revoked_at`,
  },
  'tallyman.audit_entries': {
    none: 'id occurred_at actor action seller_id details key_id on_behalf_of',
    reference: { subject: 'id of a customer order, a command, an event …; kept: it identifies the affected object' },
    buyer: {
      reason: [
        'sentence of an operator',
        'replaced by "erased" if the act was on a command or event of the order, or it names the buyer',
      ],
    },
  },
  'tallyman.bi_settings': { none: 'only_row time_zone' },
  'tallyman.change_counter': { none: 'only_row last_seq' },
  'tallyman.claim_rows': {
    none: `seller_id month sku listed compared complete lost damaged found unexplained returned uncertain uncertain_reasons net_lost net_missing
      net_returned price_amount price_units currency`,
  },
  'tallyman.claim_totals': {
    none: `seller_id month currency skus skus_compared lost_units lost_value damaged_units damaged_value found_units found_value
      unexplained_units unexplained_value uncertain_units uncertain_value net_units net_value`,
  },
  'tallyman.command_attempts': {
    none: 'id command_id attempt correlation_id started_at finished_at outcome http_status',
    reference: { baseline: `units and states of the lines before the request; ${trackingNumber}` },
    buyer: {
      request: ['the request', 'replaced by `{"erased": true}`'],
      failure: ["the marketplace's message", 'kind and HTTP status are kept, the rest is removed'],
      read_backs: ['the order as read back', 'time, correlation id and verdict are kept, the rest is removed'],
    },
  },
  'tallyman.command_decisions': {
    none: 'id command_id decision actor decided_at lines',
    buyer: {
      reason: ["an operator's text", 'replaced by "erased"'],
      evidence: ['the evidence for the decision', 'as `evidence` of `tallyman.commands`'],
    },
  },
  'tallyman.command_lines': { none: 'command_id line_number seller_id purchase_order_id quantity' },
  'tallyman.commands': {
    none: `id sequence seller_id purchase_order_id kind state attempts next_action_at leased_until lease_owner created_at updated_at
      settled_at subject troubled_since troubled_looks act_by`,
    reference: { event_source: "the ERP's key of its event", event_id: "the ERP's key of its event" },
    buyer: {
      payload: [
        `the command with its units and money; ${trackingNumber}`,
        '`trackingUrl` and `method` of parcels and corrections become null, the rest is kept',
      ],
      parts: ['parts of the payload, as decided by an operator', 'as `payload`'],
      reason: ["the marketplace's codes, or an operator's text", 'replaced by "erased"'],
      evidence: ['the observations, as sentences', 'verdict and findings are kept, the sentences are removed'],
    },
  },
  'tallyman.enrolments': { none: 'seller_id resource enrolled detail checked_at changed_at' },
  'tallyman.erased_records': {
    none: 'seller_id kind erased_at',
    reference: {
      record_id: 'id of an erased customer order, purchase order or return; kept: later records of it are redacted',
    },
  },
  'tallyman.daily_figures': { none: 'seller_id day figure part total weight changed_at' },
  'tallyman.drift': { none: 'id seller_id operation kind path value example count first_seen_at last_seen_at' },
  'tallyman.erp_event': {
    none: 'sequence body_hash status received_at processed_at due_at data_removed_at trace',
    reference: { source: "the ERP's key of its event; must name no buyer", id: "the ERP's key of its event; must name no buyer" },
    buyer: {
      type: ['type as sent by the ERP; a rejected event may have any', 'a type that does not exist is replaced by "erased"'],
      seller_id: ['seller as named by the ERP; a rejected event may name any', 'null where no such seller was ever served'],
      data: ['data of the event as sent by the ERP', 'only `purchaseOrderId` and `sellerId` are kept'],
      problem: ['faults, which may quote the event', 'kind, title and code are kept, the rest is removed'],
      waits_for: ['why it waited', 'set to null'],
    },
  },
  'tallyman.event_proposals': {
    none: 'id seller_id type state proposed_by proposed_at decided_by decided_at',
    buyer: {
      data: ['data of the proposed event', 'only `purchaseOrderId` and `sellerId` are kept; an open proposal is rejected'],
      reason: ['text from the program that proposed it', 'replaced by "erased"'],
      decision_reason: ['text from an operator', 'replaced by "erased"'],
    },
  },
  'tallyman.inventory_order_marks': { none: 'seller_id changes_seq' },
  'tallyman.inventory_skus': {
    none: `seller_id sku gtin product_name source added_at log_read_up_to log_read_at log_moved_at log_due_at log_pass log_fault log_full_at
      log_full_due_at stake marketplace_sku log_known_at`,
  },
  'tallyman.log_reasons': { none: 'seller_id reason kind first_seen_at' },
  'tallyman.marketplace_status': { none: 'seller_id api_group status since checked_at' },
  'tallyman.named_orders': {
    none: 'seller_id purchase_order_id source named_on named_at state asked_at ask_again_at asks answer',
  },
  'tallyman.quarantined_records': {
    none: `id seller_id resource state seen_count observed_at first_seen_at last_seen_at replayed_at stream skipped retry_at dismissed_by
      created_from`,
    reference: { record_key: 'id of a purchase order, a return …', raw_hash: recordHash },
    buyer: {
      raw_text: ['a record that could not be parsed, as received', 'replaced by `{"erased": true}`'],
      fault: ['why it could not be parsed', 'replaced by "erased"'],
      dismissed_reason: ["an operator's text", 'replaced by "erased"'],
    },
  },
  // Used only by earlier versions, which may run concurrently.
  'tallyman.rate_buckets': { none: 'name version memory changed_at' },
  'tallyman.rate_members': { none: 'id is_sole drawn_until' },
  'tallyman.rate_limits': { none: 'name version state changed_at' },
  'tallyman.report_files': { none: 'report_id chunk first_byte bytes' },
  'tallyman.report_tries': { none: 'seller_id month tried_at failures' },
  'tallyman.refresh_tokens': {
    none: 'seller_id configured_fingerprint encrypted_token version stored_at lease_id lease_until used_at',
  },
  'tallyman.seller_credentials': { none: 'process seller_id credentials_fingerprint is_accepted changed_at' },
  'tallyman.seller_processes': { none: 'process roles seller_ids faults taken_at asked_at said_at' },
  'tallyman.reported_limits': { none: 'process limits reported_at' },
  'tallyman.retention_passes': {
    none: 'data lease_owner lease_until due_at started_at cutoff next_page removed finished_at last_removed removed_up_to',
  },
  'tallyman.seller_roles': { none: 'role seller_id' },
  'tallyman.sellers': {
    none: `seller_id state stopped_reason stopped_at credentials_fingerprint created_at updated_at paused_by resumes probe_at served_at
      removed_at removed_by limits limits_since mode mode_since mode_by`,
  },
  'tallyman.superseded_versions': {
    none: 'seller_id resource first_seen_at last_seen_at',
    reference: {
      record_key: 'id of a purchase order, a return …; the row is deleted',
      raw_hash: 'SHA-1 of the whole text; the row is deleted',
    },
    buyer: { raw: ['an earlier version of an order or a return as the marketplace sent it', 'the row is deleted'] },
  },
  'tallyman.sessions': { none: 'token_hash key_id proof created_at expires_at' },
  'tallyman.sync_runs': {
    none: 'id seller_id resource stream window_from window_to pages seen changed quarantined started_at finished_at error runs',
  },
  'tallyman.sync_states': {
    none: `seller_id resource stream watermark window_from window_to cursor pages pending lease_owner lease_fence lease_until last_started_at
      last_success_at last_error failures totals loaded_at`,
  },
  'tallyman.unnumbered_changes': {
    none: 'id occurred_at',
    buyer: {
      changes: ['what `warehouse.changes` gets within a second', 'moved to `warehouse.changes` by an erasure, and changed there'],
    },
  },
  'tallyman.unread_report_skus': { none: 'seller_id month sku' },
  'tallyman.watched_campaigns': {
    none: 'seller_id campaign_id source added_at removed_at removed_by missing_since problem problem_since',
  },
  'tallyman.webhook_deliveries': {
    none: 'id endpoint_id change_sequence subject status attempt at next_at first_at http_status error attempts created_at',
  },
  'tallyman.webhook_endpoints': {
    none: `id url types seller_id state reason state_since position failing_since last_success_at not_before created_at updated_at`,
  },
  'tallyman.webhook_secrets': { none: 'id endpoint_id secret created_at expires_at' },
  'warehouse.changes': {
    none: 'seq type purchase_order_id line_number return_order_id command_id occurred_at',
    reference: {
      seller_id:
        'seller; of a rejected event as named by the ERP, and emptied by an erasure where no such seller was ever served',
    },
    buyer: {
      data: [
        'units, states and tracking numbers; reasons from an operator or the marketplace; the type of a rejected event',
        '`reason` and `errors` are removed, a type that does not exist is replaced by "erased", the rest is kept',
      ],
    },
  },
  'warehouse.claims': {
    none: `id seller_id sku month kind units certainty unit_price value currency state deadline reference filed_units paid_amount reported_amount
      reported_units shipment_id state_by state_changed_at first_seen_at changed_at`,
  },
  'warehouse.differences': {
    none: `seller_id source id kind sku purchase_order_id line_number day units value currency state resolution first_seen_at resolved_at`,
  },
  'warehouse.fulfilment_daily': {
    none: `seller_id day ship_node_type orders units cancelled shipped on_time late delivered waiting overdue hours_to_ship`,
  },
  'warehouse.inventory': {
    none: `seller_id sku item_name gtin item_id offer_id brand item_condition publishing_status lifecycle stock_status available_units
    reserved_units on_hand_units inbound_units in_review_units in_movement_units age_0_to_90_units age_91_to_180_units
    age_181_to_270_units age_271_to_365_units age_over_365_units first_in_stock_on days_of_supply out_of_stock_on
    sales_forecast_weeks_1_to_4 sales_forecast_weeks_5_to_8 sales_forecast_weeks_9_to_12 sell_through_rate suggested_units surplus_units
    missing_since raw_hash raw observed_at first_seen_at changed_at`,
  },
  'warehouse.inventory_discrepancies': {
    none: `id seller_id sku gtin month kind report_units expected_units difference log_verdict log_certainty log_entry_ids log_entries log_copied_units
      log_late_units log_late_at earliest_day unit_price value currency state resolution first_seen_at changed_at resolved_at`,
  },
  'warehouse.order_payouts': {
    none: `seller_id purchase_order_id currency ordered_at day state units shipped charged tax paid net_tax commission fees refunds other payout
    open_amount last_posted_on`,
  },
  'warehouse.parcels': {
    none: `seller_id purchase_order_id line_number position sku ship_node_type carrier method_code units delivered_units ordered_at due_at shipped_at
    day hours_to_ship late delivery_due_at delivered_at delivered_late`,
  },
  'warehouse.refunds': {
    none: `seller_id purchase_order_id line_number position sku refund_id reason units amount tax currency refunded_at day return_order_id`,
  },
  'warehouse.sales_daily': {
    none: `seller_id day sku currency orders units gross discount tax shipping net refunded refunded_amount refunded_tax cancelled cancelled_amount`,
  },
  'warehouse.stock_now': {
    none: `seller_id sku gtin product_name source as_of on_hand_units available_units reserved_units inbound_units in_review_units in_movement_units
    stock_status days_of_supply out_of_stock_on`,
  },
}

/** One column with its mark. */
export interface MarkedColumn {
  readonly table: string
  readonly column: string
  readonly mark: 'none' | 'reference' | 'buyer'
  /** Its content, if the name is not sufficient. */
  readonly holds: string
  /** How an erasure changes it; empty: not at all. */
  readonly erasure: string
}

for (const [table, marks] of Object.entries(otherTables)) markTable(table, marks)

/** All tables and views of `warehouse` and `tallyman` with their marks, by name. Loads every file of `src/store`, so that no mark is missing. */
const allTables = async (): Promise<readonly (readonly [table: string, marks: TableMarks])[]> => {
  const store = path.resolve(import.meta.dirname, '..')
  const files = (await readdir(store, { recursive: true })).filter(
    (file) => path.extname(file) === path.extname(import.meta.filename) && !file.startsWith('generated'),
  )
  await Promise.all(files.map((file) => import(pathToFileURL(path.join(store, file)).href)))
  return [...markedTables()].sort(([one], [other]) => (one < other ? -1 : 1))
}

const namesIn = (none: string): readonly string[] => none.split(/\s+/).filter(Boolean)

/** All columns with their marks, by table; those without a buyer's data first. */
export const markedColumns = async (): Promise<readonly MarkedColumn[]> =>
  (await allTables()).flatMap(([table, { none, reference = {}, buyer = {} }]) => [
    ...namesIn(none).map((column): MarkedColumn => ({ table, column, mark: 'none', holds: '', erasure: '' })),
    ...Object.entries(reference).map(
      ([column, holds]): MarkedColumn => ({ table, column, mark: 'reference', holds, erasure: '' }),
    ),
    ...Object.entries(buyer).map(
      ([column, [holds, erasure]]): MarkedColumn => ({ table, column, mark: 'buyer', holds, erasure }),
    ),
  ])

const intro = `# Personal data
The columns that store buyers' data, and how \`tallyman erase\` changes them. A column is marked in the declaration of its table
(\`personalData\`), or in \`src/store/privacy/personal-data.ts\` if the table belongs to no resource. This page is generated from these marks by
\`npm run personal-data\`; a test fails while a column of the database is unmarked, or while this page is out of date.

- **buyer**: may hold a buyer's data. The last column states how an erasure changes it.
- **reference**: an id that identifies a buyer only together with data of the marketplace, the carrier or the ERP. It is kept.
- **none**: no data of a buyer. It is kept.

\`tallyman_bi\` may read the columns of \`warehouse\` that are not marked **buyer** ([operations](operations.md)). In addition:

- **Queues** (schema \`bullmq\`, or Redis) contain ids only: of sellers, commands, and the source and id of ERP events. Exception: a waiting job of the queue
  \`erp-events\` contains its event, as the ERP added it. When the event is stored or refused, only its \`specversion\`, \`id\`, \`source\` and \`type\` remain.
- **Files of \`DATA_DIR\`**: the embedded Postgres; its log may contain parts of a row that a constraint refused.
  The sandbox's database contains generated buyers and belongs to the sandbox marketplace.
- **Logs, metrics, traces** contain no buyer's data.

How an erasure works, and how long copies remain in files of Postgres and in backups: [operations](operations.md).
`

/** The text of `docs/personal-data.md`. */
export const personalDataPage = async (): Promise<string> => {
  const marked = (await markedColumns()).filter(({ mark }) => mark !== 'none')
  const rows = marked.map(
    ({ table, column, mark, holds, erasure }) =>
      `| \`${table}\` | \`${column}\` | ${mark} | ${holds} | ${erasure || 'nothing'} |`,
  )
  const without = (await allTables()).flatMap(([table, { none }]) => wrapText(`- \`${table}\`: ${namesIn(none).join(', ')}`))
  return [
    intro,
    '## Columns that may hold or identify a buyer\n',
    '| table | column | mark | holds | erasure |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    "\n## Columns without a buyer's data\n",
    ...without,
    '',
  ].join('\n')
}

const maxLineLength = 150

const wrapText = (text: string): string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < maxLineLength) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(last === undefined ? word : `  ${word}`)
  }
  return lines
}
