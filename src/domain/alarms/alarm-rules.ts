/** `critical`: units, money or a deadline are being lost now. `warning`: they will be lost without action. `notice`: information. */
export const alarmSeverities = ['critical', 'warning', 'notice'] as const
/** One of {@link alarmSeverities}. */
export type AlarmSeverity = (typeof alarmSeverities)[number]

/** The responsible roles: the warehouse ships and counts, the integrator maintains the ERP and webhook receivers, the operator runs the daemon. */
export const alarmConcerns = ['warehouse', 'integrator', 'operator'] as const
/** One of {@link alarmConcerns}. */
export type AlarmConcern = (typeof alarmConcerns)[number]

/** One kind of alarm. */
export interface AlarmRule {
  readonly severity: AlarmSeverity
  readonly concerns: AlarmConcern
  /** A headline. */
  readonly title: string
  /** The condition that opens it. */
  readonly opens: string
  /** The subject within a seller. One alarm is open for each subject. */
  readonly subject: string
  /** `cause`: it closes when its cause ends; `person`: it is about a past event, and a person closes it after a check. */
  readonly closes: 'cause' | 'person'
  /** Instructions. */
  readonly toDo: string
  /** A path of the HTTP interface, with `{sellerId}` and `{subject}`, that lists the affected records; null: the alarm is complete without a list. */
  readonly list: string | null
  /** The feed contains its subject. False for an id of an ERP, which may contain the name of a buyer. */
  readonly namesSubject: boolean
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Thresholds of alarms. Times in milliseconds. */
export const alarmThresholds = {
  /** Remaining time to acknowledge an order. */
  acknowledgeWithinMs: hourMs,
  /** Remaining time to ship an order. */
  shipWithinMs: 2 * hourMs,
  /** Remaining time until the marketplace cancels an order. */
  cancelWithinMs: dayMs,
  /** A stream is behind if it has not succeeded for this number of its intervals … */
  missedIntervals: 5,
  /** … and for this time. */
  behindForMs: 30 * minuteMs,
  /** Time since an order was named that is not stored. */
  orderMissingForMs: hourMs,
  /** This number of unreadable records within `quarantineWithinMs` means that a format has changed. */
  quarantineGrowth: 10,
  quarantineWithinMs: hourMs,
  /** Total value of the open differences of inventory reports of a seller in one currency. */
  discrepancyValue: 500,
  /** Total value of the differences between stock on hand and inventory log of a seller in one currency … */
  stockDifferenceValue: 500,
  /** … that have been open for this time, because a movement may be reported late. */
  stockDifferenceOpenForMs: dayMs,
  /** Time before the deadline of an open claim. */
  claimExpiresWithinMs: 14 * dayMs,
  /** Time since the units of a short inbound shipment were expected: then they can no longer be disputed. */
  inboundExpectedWithinMs: 60 * dayMs,
  /** Number of readings of a list without an end. */
  endlessWindows: 3,
  /** Days before the last day of a running campaign. */
  campaignEndsWithinDays: 3,
  /** Time since an operator paused a webhook. Its undelivered changes are kept. */
  webhookPausedForMs: hourMs,
  /** A snapshot of the database is old if it has been held for this time … */
  snapshotHeldMs: 30 * minuteMs,
  /** … or for this number of transactions, if Postgres does not report the time. */
  snapshotHeldTransactions: 1_000_000,
} as const

const command = {
  subject: 'the command',
  list: '/v1/commands/{subject}',
  namesSubject: true,
} as const
const campaign = { subject: 'the campaign', list: '/v1/campaigns/{subject}', namesSubject: true } as const
const webhook = {
  concerns: 'integrator',
  subject: 'the endpoint',
  list: '/v1/webhooks/{subject}/deliveries',
  namesSubject: true,
} as const
const orders = {
  concerns: 'warehouse',
  subject: '`orders`: one alarm for each seller',
  closes: 'cause',
  namesSubject: true,
} as const

/** Maximum number of orders in the message of an alarm. */
const namedOrders = 5

/**
 * The message of the alarm about unreadable orders.
 * @param keys their order ids, null for an unreadable id; not empty
 */
export const unreadableOrdersMessage = (keys: readonly (string | null)[]): string => {
  const ids = keys.flatMap((key) => key ?? []).toSorted()
  const named = ids.slice(0, namedOrders).join(', ')
  const more = ids.length > namedOrders ? ` and ${ids.length - namedOrders} more` : ''
  const nameless = keys.length - ids.length
  const others = nameless === 0 ? '' : `${nameless === 1 ? '1 order' : `${nameless} orders`} without a readable id`
  const all = [named === '' ? '' : `${ids.length === 1 ? 'order' : 'orders'} ${named}${more}`, others].filter(
    (part) => part !== '',
  )
  return `${all.join(', and ')} cannot be read: the marketplace's records are in quarantine and not stored`
}

/**
 * Every kind of alarm. `docs/alarms.md`, alarms in the HTTP interface and the feed, and the labels of the metrics are generated from it.
 */
export const alarmRules = {
  'acknowledge-deadline': {
    ...orders,
    severity: 'critical',
    title: 'Orders are not acknowledged in time',
    opens: 'Less than an hour is left to acknowledge an order, or the deadline has passed.',
    toDo:
      'Find out why the ERP does not accept the orders: is it running, do its events arrive, is a command held or waiting? Then send `erp.order.accepted` for each ' +
      'order, or set `AUTO_ACKNOWLEDGE=on-import`.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=acknowledgeBy',
  },
  'ship-by': {
    ...orders,
    severity: 'critical',
    title: 'Orders must be shipped',
    opens: 'An open order must be shipped within two hours, or is overdue.',
    toDo: 'Pack and ship the orders of the list, the earliest first. For an order that has been shipped, check its shipment event and its command.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=shipBy',
  },
  'auto-cancel': {
    ...orders,
    severity: 'critical',
    title: 'The marketplace is about to cancel orders',
    opens: 'Within a day the marketplace cancels the units of an order that have not been shipped.',
    toDo:
      'Ship them now with valid tracking, or cancel the units that cannot be delivered (`erp.lines.unfulfillable`). For an order that has been shipped, check its ' +
      'shipment event and its command.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=shipBy',
  },
  'late-returns': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Returns must be refunded',
    opens:
      'Returned units have arrived and must be refunded within 12 hours, or the deadline has passed. Only where the marketplace sets a deadline ' +
      '(profile `walmart-us`: 48 hours), and not for returns of goods that it fulfils.',
    subject: '`returns`: one alarm for each seller, which names the first five',
    closes: 'cause',
    toDo:
      'Check the goods and send `erp.return.refunded` for each return (`erp.credit.issued` for lines with `exceptionItemType`), the earliest first. Later the ' +
      'marketplace refunds them itself, in full.',
    list: '/v1/late-returns?sellerId={sellerId}',
    namesSubject: true,
  },
  'command-held': {
    ...command,
    severity: 'critical',
    concerns: 'integrator',
    title: 'A command waits for a decision',
    opens: "The result of a command is not evident from the marketplace's record.",
    closes: 'cause',
    toDo: 'Compare the command with the order (`tallyman commands show`), then confirm, reject or retry it, or decide by line.',
  },
  'command-rejected': {
    ...command,
    severity: 'critical',
    concerns: 'integrator',
    title: 'A command was refused',
    opens: 'The marketplace or our own rules refused a command; its units are available again.',
    closes: 'person',
    toDo: 'Read the reason (`tallyman commands show`), correct the cause in the ERP and send a new event, then resolve the alarm.',
  },
  'command-waiting': {
    ...command,
    severity: 'warning',
    concerns: 'operator',
    title: 'A command makes no progress',
    opens: 'The next step of a command fails repeatedly, or no process works on it.',
    closes: 'cause',
    toDo:
      'Check its attempts, whether a worker runs, and whether the marketplace answers; the message names an outage that the marketplace reports. The command ' +
      'continues automatically, or becomes held.',
  },
  'event-rejected': {
    severity: 'critical',
    concerns: 'integrator',
    title: 'An ERP event was rejected',
    opens: 'An accepted event could not be executed.',
    subject: 'source and id of the event',
    closes: 'person',
    toDo: 'Read the faults (`tallyman events show`), send a corrected event with a new id, then resolve the alarm.',
    list: '/v1/events?state=rejected',
    namesSubject: false,
  },
  'event-waiting': {
    severity: 'warning',
    concerns: 'integrator',
    title: 'ERP events wait',
    opens: 'An event has been undecided for 15 minutes.',
    subject: '`events`: one alarm for each seller',
    closes: 'cause',
    toDo: 'Read what they wait for (`tallyman events list --state received`); reject those that wait in vain.',
    list: '/v1/events?state=received',
    namesSubject: true,
  },
  'credentials-refused': {
    severity: 'critical',
    concerns: 'operator',
    title: 'A seller is stopped',
    opens: 'The marketplace refuses the credentials of a seller. All its syncs and commands are stopped.',
    subject: '`credentials`',
    closes: 'cause',
    toDo: 'Correct its credentials and reload the settings (`tallyman sellers reload`), or resume the seller (`tallyman sellers resume`).',
    list: '/v1/sellers',
    namesSubject: true,
  },
  'credentials-outdated': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A process has outdated credentials',
    opens:
      'The marketplace refuses the credentials of a seller in one process, and accepts those of another process, which continues to work.',
    subject: '`credentials`: one alarm for each seller, which names the processes',
    closes: 'cause',
    toDo: 'Correct the settings of the named processes, and reload them (`tallyman sellers reload`) or restart the processes.',
    list: '/v1/sellers',
    namesSubject: true,
  },
  'refresh-token-replaced': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A replaced refresh token is not stored',
    opens:
      'The marketplace has issued a new refresh token for a seller in place of the configured one, and `TOKEN_ENCRYPTION_KEY` is unset, so it is not stored. The ' +
      'seller is stopped when the marketplace no longer accepts the configured one.',
    subject: '`refresh-token`: one alarm for each seller',
    closes: 'cause',
    toDo: 'Set `TOKEN_ENCRYPTION_KEY` in every process, connect the seller again for a new refresh token, and restart. The alarm closes at the start.',
    list: '/v1/sellers',
    namesSubject: true,
  },
  'sync-failing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A sync fails',
    opens: 'A stream of a resource has failed five consecutive times.',
    subject: 'resource and stream',
    closes: 'cause',
    toDo: 'Read the error, and the outage if the marketplace reports one; `tallyman doctor` shows whether the marketplace answers. The sync is retried automatically.',
    list: '/v1/syncs',
    namesSubject: true,
  },
  'sync-behind': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A sync is behind',
    opens: 'A stream of an active seller has not succeeded for five of its intervals and for half an hour.',
    subject: 'resource and stream',
    closes: 'cause',
    toDo:
      'Check its last error, whether the message names an outage that the marketplace reports, whether a worker and a scheduler run, and whether the rate limit is ' +
      'exhausted (`tallyman_rate_limit_tokens`).',
    list: '/v1/syncs',
    namesSubject: true,
  },
  'reading-skipped': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Records were skipped',
    opens: 'A part of a list, or an order, was skipped because the marketplace does not return it.',
    subject: 'the resource',
    closes: 'cause',
    toDo: 'It is retried automatically. `tallyman quarantine list` lists everything that was skipped; dismiss entries that do not exist.',
    list: '/v1/quarantine?sellerId={sellerId}&state=open&skipped=true',
    namesSubject: true,
  },
  'list-without-end': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A list has no end',
    opens: 'Three times a list continued with new cursors but without new records.',
    subject: 'resource and stream',
    closes: 'cause',
    toDo:
      'Report it to the marketplace: each reading costs one or two more requests. A reading stops when all announced records have arrived, or is split into parts. ' +
      'The alarm closes when the list has an end again.',
    list: '/v1/syncs',
    namesSubject: true,
  },
  'order-unreadable': {
    severity: 'critical',
    concerns: 'operator',
    title: 'An order cannot be read',
    opens:
      "The marketplace's record of an order cannot be parsed or stored. Its buyer waits. Its events wait too, or act on its earlier state.",
    subject: '`orders`: one alarm for each seller',
    closes: 'cause',
    toDo:
      'Find the order in the seller center and ship it manually if it is due. `tallyman quarantine list` shows the fault; update Tallyman, then replay the record. ' +
      'The alarm closes when the order is read, or when its record is dismissed.',
    list: '/v1/quarantine?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'order-missing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Named orders are not stored',
    opens:
      'A return, the inventory log, a settlement report, an event or a notification named an order an hour ago, and it is still not stored.',
    subject: '`orders`: one alarm for each seller',
    closes: 'cause',
    toDo:
      'Each order is requested by its id again and again. Check whether the marketplace answers, and whether the order is in quarantine (`tallyman doctor --orders`, ' +
      '`tallyman quarantine list`). The alarm closes when the orders are stored, or when the marketplace has repeatedly denied them.',
    list: '/v1/completeness?sellerId={sellerId}',
    namesSubject: true,
  },
  'quarantine-growing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Many records do not parse',
    opens: 'Ten or more unreadable records arrived within an hour.',
    subject: '`quarantine`: one alarm for each seller',
    closes: 'cause',
    toDo: 'Compare the faults (`tallyman quarantine list`): a format has probably changed. Update Tallyman, then replay the records.',
    list: '/v1/quarantine?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'claims-expire': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Claims for inventory expire soon',
    opens: 'Open claims for units that are lost, damaged, missing, returned or not received expire within 14 days.',
    subject: '`claims`: one alarm for each seller',
    closes: 'cause',
    toDo:
      'Export the evidence (`tallyman claims export`), file the claims with the marketplace, and record it (`tallyman claims file`). Claims that are not filed by ' +
      'their deadline expire.',
    list: '/v1/claims/items?sellerId={sellerId}&state=open',
    namesSubject: false,
  },
  'inbound-short': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Inbound shipments are short',
    opens:
      'Units of inbound shipments were not received by the expected time, or nothing was received of a SKU that neither orders, stock, reports nor the log have.',
    subject: '`inbound`: one alarm for each seller',
    closes: 'cause',
    toDo:
      'Compare them with the delivery note; send the event again with the right SKU, or with `deliveredAt`. Claim missing units from day 10 after the delivery ' +
      '(`tallyman claims`). A line no longer counts when its claim is filed, or 60 days after its expected time.',
    list: '/v1/inbound-shipments?sellerId={sellerId}&state=not-received',
    namesSubject: true,
  },
  'report-faulty': {
    severity: 'warning',
    concerns: 'operator',
    title: 'An inventory report cannot be used',
    opens: 'A report has unreadable rows, or a column is missing.',
    subject: 'the month, or the report',
    closes: 'cause',
    toDo: 'Read the fault; define unknown headers in `REPORT_COLUMNS`. A later valid report closes the alarm.',
    list: null,
    namesSubject: true,
  },
  'marketplace-drift': {
    severity: 'notice',
    concerns: 'operator',
    title: "The marketplace's answers have changed",
    opens:
      "Records of the marketplace's answers have a field, a value or a type that is not published, or an answer has an unknown HTTP status. One alarm for each new " +
      'place of a record, for all sellers and all operations that return it.',
    subject: 'record (of a status: operation), kind and place',
    closes: 'person',
    toDo:
      'Read what was found (`tallyman drift`) and whether rules of the ERP depend on it; update Tallyman, or report it. Then resolve the alarm: the same place opens ' +
      'no other.',
    list: '/v1/drift',
    namesSubject: true,
  },
  'operation-deprecated': {
    severity: 'warning',
    concerns: 'operator',
    title: 'The marketplace announces the end of an operation',
    opens:
      'An answer has a header that announces a deprecation: any whose name contains `deprecat` or `sunset`. One alarm for each operation, for all sellers; another ' +
      'date opens it again.',
    subject: 'the operation',
    closes: 'person',
    toDo: 'Read the date (`tallyman drift --operation NAME`) and what replaces the operation, and update Tallyman before it. Then resolve the alarm.',
    list: '/v1/drift?operation={subject}',
    namesSubject: true,
  },
  'log-reason-unknown': {
    severity: 'notice',
    concerns: 'operator',
    title: 'The inventory log has an unknown reason',
    opens: 'A reason cannot be classified; its entries count as other.',
    subject: 'the reason',
    closes: 'person',
    toDo: 'Define its kind in `LOG_REASONS`, which closes the alarm, or resolve it: then it counts as other.',
    list: null,
    namesSubject: true,
  },
  'discrepancy-value': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Inventory differences have a high value',
    opens: 'The open differences of inventory reports of a seller have a value of 500 or more in one currency.',
    subject: 'the currency',
    closes: 'cause',
    toDo: 'Check the differences, the most valuable first, and claim lost units from the marketplace (`tallyman claims`).',
    list: '/v1/discrepancies?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'stock-difference-value': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Stock and inventory log differ by a high value',
    opens:
      'The stock on hand of a seller differs from the balance of the inventory log by a value of 500 or more in one currency, in differences that have been ' +
      'open for a day.',
    subject: 'the currency',
    closes: 'cause',
    toDo: 'Check the differences, the most valuable first, and ask the marketplace to count the items again (`tallyman stock differences`).',
    list: '/v1/stock-differences?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'campaign-budget': {
    ...campaign,
    severity: 'warning',
    concerns: 'integrator',
    title: 'A campaign is out of budget',
    opens: 'The marketplace reports that the budget of a campaign limits it or is used up.',
    closes: 'cause',
    toDo: 'Raise its budget at the marketplace, or let it end.',
  },
  'campaign-ending': {
    ...campaign,
    severity: 'notice',
    concerns: 'integrator',
    title: 'A campaign is about to end',
    opens: 'A running campaign ends within three days.',
    closes: 'cause',
    toDo: 'Change its last day at the marketplace, or let it end.',
  },
  'campaign-missing': {
    ...campaign,
    severity: 'warning',
    concerns: 'integrator',
    title: 'A campaign is missing',
    opens: 'The marketplace does not have a watched campaign.',
    closes: 'cause',
    toDo: 'Correct its id, or stop watching it (`tallyman campaigns unwatch`).',
  },
  'campaign-unreadable': {
    ...campaign,
    severity: 'warning',
    concerns: 'operator',
    title: 'A campaign cannot be read',
    opens: 'The marketplace refuses the read of a watched campaign, or its answer is unreadable.',
    closes: 'cause',
    toDo: 'Read the problem; the read is retried automatically.',
  },
  'campaign-anomaly': {
    ...campaign,
    severity: 'notice',
    concerns: 'integrator',
    title: 'A campaign changed its status unexpectedly',
    opens: "The marketplace's rules do not list this change of the status of a campaign.",
    closes: 'person',
    toDo: 'Check the campaign at the marketplace, then resolve the alarm.',
  },
  'snapshot-held': {
    severity: 'warning',
    concerns: 'operator',
    title: 'An old snapshot is held',
    opens:
      'A session, a standby, a prepared transaction or a replication slot has held a snapshot of the database for half an hour, or for a million ' +
      'transactions: vacuum cannot remove rows that were deleted since.',
    subject: 'its holder: `session 1234`, `replication slot name` …',
    closes: 'cause',
    toDo: 'Ask its owner to end the transaction, or end the session (runbook *An old snapshot is held*); drop an unused slot.',
    list: null,
    namesSubject: false,
  },
  'webhook-failing': {
    ...webhook,
    severity: 'warning',
    title: 'Deliveries to a webhook fail',
    opens: 'No delivery to a webhook has succeeded for some time.',
    closes: 'cause',
    toDo: 'Check its receiver; waiting deliveries are retried automatically.',
  },
  'webhook-stopped': {
    ...webhook,
    severity: 'critical',
    title: 'A webhook was stopped',
    opens: 'A webhook was paused because all deliveries failed, or disabled because its receiver answered 410.',
    closes: 'cause',
    toDo: 'Correct its receiver and resume it, or remove it.',
  },
  'webhook-paused': {
    ...webhook,
    severity: 'notice',
    title: 'A webhook is paused',
    opens: 'An operator has paused a webhook for more than an hour; its undelivered changes are kept.',
    closes: 'cause',
    toDo: 'Resume it, or disable or remove it.',
  },
  'webhook-given-up': {
    ...webhook,
    severity: 'warning',
    title: 'A delivery was given up',
    opens: 'A webhook refused a message repeatedly while it accepted others.',
    closes: 'person',
    toDo: 'Correct its receiver, redeliver the failed messages, then resolve the alarm.',
  },
  'webhook-behind': {
    ...webhook,
    severity: 'warning',
    title: 'A webhook delays the removal of changes',
    opens: 'Changes that are older than `RETAIN_CHANGES` are undelivered to a webhook; they are kept for it.',
    closes: 'cause',
    toDo: 'Correct its receiver and resume it; disable or remove it if it no longer needs them.',
  },
  'webhook-changes-gone': {
    ...webhook,
    severity: 'critical',
    title: 'A webhook has lost changes',
    opens: 'Changes were removed before they were delivered to a webhook.',
    closes: 'person',
    toDo: 'Read the current state from the tables or the API, then resolve the alarm.',
  },
  'alarm-channel-failing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Alarms do not reach a channel',
    opens: 'Three messages in a row to a channel for alarms failed. The channel itself does not get this alarm.',
    subject: 'the channel',
    closes: 'cause',
    toDo: 'Read its last error, correct its address or the mail server, and send a test message. Messages are retried at least every hour.',
    list: '/v1/alarm-channels/{subject}',
    namesSubject: true,
  },
} as const satisfies Readonly<Record<string, AlarmRule>>

/** A kind of alarm. */
export type AlarmKind = keyof typeof alarmRules

const isKind = (text: string): text is AlarmKind => Object.hasOwn(alarmRules, text)

/** Every kind of alarm, in the order of the rules. */
export const alarmKinds: readonly AlarmKind[] = Object.keys(alarmRules).filter(isKind)

const unknownKindRule: AlarmRule = {
  severity: 'warning',
  concerns: 'operator',
  title: 'An alarm of another version',
  opens: 'Another version of Tallyman raised it.',
  subject: '',
  closes: 'person',
  toDo: 'Read its message; resolve it when the problem is solved.',
  list: null,
  namesSubject: false,
}

/** The rule of a kind. A kind of another version has a rule by which a person closes the alarm. */
export const findAlarmRule = (kind: string): AlarmRule => (isKind(kind) ? alarmRules[kind] : unknownKindRule)

/** The path of the HTTP interface that lists the affected records of an alarm; null: its message is complete without a list. */
export const buildAlarmListPath = (kind: string, sellerId: string, subject: string): string | null =>
  findAlarmRule(kind)
    .list?.replace('{sellerId}', encodeURIComponent(sellerId))
    .replace('{subject}', encodeURIComponent(subject)) ?? null
