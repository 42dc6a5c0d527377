/** `critical`: units, money or a deadline are being lost now; `warning`: they will be if nobody acts; `notice`: to be known. */
export const alarmSeverities = ['critical', 'warning', 'notice'] as const
/** One of {@link alarmSeverities}. */
export type AlarmSeverity = (typeof alarmSeverities)[number]

/** Who acts on it: the warehouse ships and counts, the integrator has the ERP and the receivers of webhooks, the operator runs the daemon. */
export type AlarmConcern = 'warehouse' | 'integrator' | 'operator'

/** One kind of alarm. */
export interface AlarmRule {
  readonly severity: AlarmSeverity
  readonly concerns: AlarmConcern
  /** A headline. */
  readonly title: string
  /** When it opens. */
  readonly opens: string
  /** What its subject names within a seller: one alarm is open for each. */
  readonly subject: string
  /** `cause`: it closes with its cause; `person`: it tells of something past, and only a person closes it, after looking. */
  readonly closes: 'cause' | 'person'
  /** What to do, as instructions. */
  readonly toDo: string
  /** Where the things are that it is about: a path of the HTTP interface with `{sellerId}` and `{subject}`; null: the alarm says all. */
  readonly list: string | null
  /** Its subject is stated in the feed. Left out where it is an id of an ERP, which may name a buyer. */
  readonly namesSubject: boolean
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** When the conditions that are looked for become alarms. Times in milliseconds. */
export const alarmThresholds = {
  /** An order is told of when so little of its time to be acknowledged is left. */
  acknowledgeWithinMs: hourMs,
  /** An order is told of so long before it is to have been shipped. */
  shipWithinMs: 2 * hourMs,
  /** An order is told of so long before the marketplace cancels it. */
  cancelWithinMs: dayMs,
  /** A stream is behind when it has not ended well for so many of its intervals … */
  missedIntervals: 5,
  /** … and for so long. */
  behindForMs: 30 * minuteMs,
  /** So many records that do not parse, new within `quarantineWithinMs`, are not single ones any more: a format has changed. */
  quarantineGrowth: 10,
  quarantineWithinMs: hourMs,
  /** Open differences of inventory reports of a seller and a currency, added up, in that currency. */
  discrepancyValue: 500,
  /** A running campaign is told of so many days before its last. */
  campaignEndsWithinDays: 3,
  /** A webhook that a person has paused is told of after so long: what it has not got is kept for it. */
  webhookPausedForMs: hourMs,
  /** A snapshot of the database is old when it has been held for so long … */
  snapshotHeldMs: 30 * minuteMs,
  /** … or for so many transactions, where Postgres does not say for how long. */
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

/**
 * Every kind of alarm. `docs/alarms.md`, what the HTTP interface says of an alarm, its part in the feed and the labels of the metrics are made
 * from it.
 */
export const alarmRules = {
  'acknowledge-deadline': {
    ...orders,
    severity: 'critical',
    title: 'Orders are not acknowledged in time',
    opens: 'Less than an hour is left of the time in which the marketplace wants an order acknowledged, or none.',
    toDo:
      'Look why the ERP does not accept them: is it running, do its events arrive, is a command held or waiting? Then send `erp.order.accepted` for each, or set ' +
      '`AUTO_ACKNOWLEDGE=on-import`.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=acknowledgeBy',
  },
  'ship-by': {
    ...orders,
    severity: 'critical',
    title: 'Orders are due to leave',
    opens: 'An open order is to be shipped within two hours, or should have been.',
    toDo: 'Pack and hand over the orders of the list, the earliest first. One that has left: look for its shipment event or its command.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=shipBy',
  },
  'auto-cancel': {
    ...orders,
    severity: 'critical',
    title: 'The marketplace is about to cancel orders',
    opens: 'Within a day the marketplace cancels what is still open of an order, because it was not shipped.',
    toDo:
      'Ship them now with valid tracking, or cancel what cannot be delivered (`erp.lines.unfulfillable`) yourself. One that has left: look for its shipment ' +
      'event or its command.',
    list: '/v1/orders?sellerId={sellerId}&open=true&sort=shipBy',
  },
  'command-held': {
    ...command,
    severity: 'critical',
    concerns: 'integrator',
    title: 'A command waits for a decision',
    opens: 'What a command did does not follow from what the marketplace shows.',
    closes: 'cause',
    toDo: 'Compare what was asked with what the order shows (`tallyman commands show`), then confirm, reject, retry, or decide by line.',
  },
  'command-rejected': {
    ...command,
    severity: 'critical',
    concerns: 'integrator',
    title: 'A command was refused',
    opens: 'The marketplace or our own rules refused a command; its units are free again.',
    closes: 'person',
    toDo: 'Read the reason (`tallyman commands show`), correct the cause in the ERP and send a new event, then resolve the alarm.',
  },
  'command-waiting': {
    ...command,
    severity: 'warning',
    concerns: 'operator',
    title: 'A command does not go on',
    opens: 'The next step of a command fails time after time, or no process works on it.',
    closes: 'cause',
    toDo: 'Look at its attempts, and whether a worker runs and the marketplace answers. It goes on by itself, or ends as held.',
  },
  'event-rejected': {
    severity: 'critical',
    concerns: 'integrator',
    title: 'An ERP event was rejected',
    opens: 'An event that was accepted could not be carried out.',
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
    opens: 'An event has not been decided within 15 minutes.',
    subject: '`events`: one alarm for each seller',
    closes: 'cause',
    toDo: 'Read what they wait for (`tallyman events list --state received`); reject what will never come.',
    list: '/v1/events?state=received',
    namesSubject: true,
  },
  'credentials-refused': {
    severity: 'critical',
    concerns: 'operator',
    title: 'A seller is stopped',
    opens: 'The marketplace refuses the credentials of a seller; nothing of it runs.',
    subject: '`credentials`',
    closes: 'cause',
    toDo: 'Correct its credentials and have the settings read again (`tallyman sellers reload`), or resume it (`tallyman sellers resume`).',
    list: '/v1/sellers',
    namesSubject: true,
  },
  'credentials-outdated': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A process has outdated credentials',
    opens:
      'The marketplace refuses the credentials that a process has for a seller, and accepts those of another process, which goes on.',
    subject: '`credentials`: one alarm for each seller, which names the processes',
    closes: 'cause',
    toDo: 'Correct the settings of the processes that it names, and have them read again (`tallyman sellers reload`), or restart them.',
    list: '/v1/sellers',
    namesSubject: true,
  },
  'sync-failing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A sync fails',
    opens: 'A stream of a resource has failed five times in a row.',
    subject: 'resource and stream',
    closes: 'cause',
    toDo: 'Read the error; `tallyman doctor` shows whether the marketplace answers. It is retried by itself.',
    list: '/v1/syncs',
    namesSubject: true,
  },
  'sync-behind': {
    severity: 'warning',
    concerns: 'operator',
    title: 'A sync is behind',
    opens: 'A stream of an active seller has not ended well for five of its intervals, and for half an hour.',
    subject: 'resource and stream',
    closes: 'cause',
    toDo: 'Look whether a worker and a scheduler run, whether the rate budget is used up (`tallyman_rate_limit_tokens`), and at its last error.',
    list: '/v1/syncs',
    namesSubject: true,
  },
  'reading-skipped': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Something cannot be read',
    opens: 'A part of a list, or an order, was passed over because it cannot be had.',
    subject: 'the resource',
    closes: 'cause',
    toDo: 'It is tried again by itself. `tallyman quarantine list` names all of it; dismiss what is not to be had.',
    list: '/v1/quarantine?sellerId={sellerId}&state=open&skipped=true',
    namesSubject: true,
  },
  'quarantine-growing': {
    severity: 'warning',
    concerns: 'operator',
    title: 'Many records do not parse',
    opens: 'Ten records or more that could not be parsed came within an hour.',
    subject: '`quarantine`: one alarm for each seller',
    closes: 'cause',
    toDo: 'Compare the faults (`tallyman quarantine list`): a format has probably changed. Update, then replay them.',
    list: '/v1/quarantine?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'report-faulty': {
    severity: 'warning',
    concerns: 'operator',
    title: 'An inventory report cannot be used',
    opens: 'A report lacks a column, or has rows that cannot be used.',
    subject: 'the month, or the report',
    closes: 'cause',
    toDo: 'Read the fault; name an unknown header in `REPORT_COLUMNS`. A later valid report closes the alarm.',
    list: null,
    namesSubject: true,
  },
  'log-reason-unknown': {
    severity: 'notice',
    concerns: 'operator',
    title: 'The inventory log gives an unknown reason',
    opens: 'A reason cannot be classified; its entries count as other.',
    subject: 'the reason',
    closes: 'person',
    toDo: 'Name its kind in `LOG_REASONS`, which closes the alarm, or resolve it: it counts as other then.',
    list: null,
    namesSubject: true,
  },
  'discrepancy-value': {
    severity: 'warning',
    concerns: 'warehouse',
    title: 'Inventory differs by much money',
    opens: 'The open differences of inventory reports of a seller are worth 500 or more in one currency.',
    subject: 'the currency',
    closes: 'cause',
    toDo: 'Go through the differences, the dearest first, and claim from the marketplace what it has lost (`tallyman reconcile --month 2026-10`).',
    list: '/v1/discrepancies?sellerId={sellerId}&state=open',
    namesSubject: true,
  },
  'campaign-budget': {
    ...campaign,
    severity: 'warning',
    concerns: 'integrator',
    title: 'A campaign is out of budget',
    opens: 'The marketplace says that the budget of a campaign limits it, or is used up.',
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
    toDo: 'Move its last day at the marketplace, or let it end.',
  },
  'campaign-missing': {
    ...campaign,
    severity: 'warning',
    concerns: 'integrator',
    title: 'A campaign is missing',
    opens: 'The marketplace does not have a watched campaign.',
    closes: 'cause',
    toDo: 'Correct its id, or watch it no more (`tallyman campaigns unwatch`).',
  },
  'campaign-unreadable': {
    ...campaign,
    severity: 'warning',
    concerns: 'operator',
    title: 'A campaign cannot be read',
    opens: 'The marketplace refuses a watched campaign, or its answer cannot be understood.',
    closes: 'cause',
    toDo: 'Read the problem; it is retried by itself.',
  },
  'campaign-anomaly': {
    ...campaign,
    severity: 'notice',
    concerns: 'integrator',
    title: 'A campaign changed its status unexpectedly',
    opens: "The status of a campaign changed in a way that the marketplace's rules do not list.",
    closes: 'person',
    toDo: 'Check the campaign at the marketplace, then resolve the alarm.',
  },
  'snapshot-held': {
    severity: 'warning',
    concerns: 'operator',
    title: 'An old snapshot is held',
    opens:
      'A session, a standby, a prepared transaction or a replication slot has held a snapshot of the database for half an hour, or for a million ' +
      'transactions: vacuum cannot remove what died since.',
    subject: 'what holds it: `session 1234`, `replication slot name` …',
    closes: 'cause',
    toDo: 'Have its owner end the transaction, or end the session (runbook *An old snapshot is held*); drop a slot that nobody reads.',
    list: null,
    namesSubject: false,
  },
  'webhook-failing': {
    ...webhook,
    severity: 'warning',
    title: 'A webhook does not get through',
    opens: 'Nothing has reached a webhook for a while.',
    closes: 'cause',
    toDo: 'Look at its receiver; what waits is retried by itself.',
  },
  'webhook-stopped': {
    ...webhook,
    severity: 'critical',
    title: 'A webhook was stopped',
    opens: 'A webhook was paused because nothing arrived, or disabled because its receiver answered 410.',
    closes: 'cause',
    toDo: 'Correct its receiver and resume it, or remove it.',
  },
  'webhook-paused': {
    ...webhook,
    severity: 'notice',
    title: 'A webhook is paused',
    opens: 'An operator has paused a webhook for more than an hour; what it has not got is kept for it.',
    closes: 'cause',
    toDo: 'Resume it, or disable or remove it.',
  },
  'webhook-given-up': {
    ...webhook,
    severity: 'warning',
    title: 'A message was given up',
    opens: 'A webhook refused a message time after time while others arrived.',
    closes: 'person',
    toDo: 'Correct its receiver, redeliver what failed, then resolve the alarm.',
  },
  'webhook-behind': {
    ...webhook,
    severity: 'warning',
    title: 'A webhook holds changes back',
    opens: 'A webhook has not got changes that are older than `RETAIN_CHANGES`; they are kept for it.',
    closes: 'cause',
    toDo: 'Correct its receiver and resume it; disable or remove it if it needs them no more.',
  },
  'webhook-changes-gone': {
    ...webhook,
    severity: 'critical',
    title: 'A webhook has lost changes',
    opens: 'Changes were removed before a webhook got them.',
    closes: 'person',
    toDo: 'Read the effects from the tables or the API, then resolve the alarm.',
  },
} as const satisfies Readonly<Record<string, AlarmRule>>

/** A kind of alarm. */
export type AlarmKind = keyof typeof alarmRules

const isKind = (text: string): text is AlarmKind => Object.hasOwn(alarmRules, text)

/** Every kind of alarm, in the order of the rules. */
export const alarmKinds: readonly AlarmKind[] = Object.keys(alarmRules).filter(isKind)

const ofAnotherVersion: AlarmRule = {
  severity: 'warning',
  concerns: 'operator',
  title: 'An alarm of another version',
  opens: 'Another version raised it.',
  subject: '',
  closes: 'person',
  toDo: 'Read its message; resolve it when it is settled.',
  list: null,
  namesSubject: false,
}

/** The rule of a kind; of one that this version does not know (it was raised by another one), a rule that leaves it to a person. */
export const ruleOf = (kind: string): AlarmRule => (isKind(kind) ? alarmRules[kind] : ofAnotherVersion)

/** Where the things are that an alarm is about, as a path of the HTTP interface; null: its message says all. */
export const alarmList = (kind: string, sellerId: string, subject: string): string | null =>
  ruleOf(kind).list?.replace('{sellerId}', encodeURIComponent(sellerId)).replace('{subject}', encodeURIComponent(subject)) ?? null
