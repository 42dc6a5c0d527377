/** The status of one group of operations, as the marketplace itself reports it. */
export interface ReportedStatus {
  /** As the marketplace spells it, for example `Orders`. */
  readonly apiGroup: string
  /** `OPERATIONAL`, `SERVICE_DEGRADATION`, `SERVICE_OUTAGE` or another word. */
  readonly status: string
  /** When this status was first reported. */
  readonly since: Date
}

/** The statuses that explain a failure. */
const outages: ReadonlySet<string> = new Set(['SERVICE_OUTAGE', 'SERVICE_DEGRADATION'])

/** Each call needs a token. */
const ofTokens = ['Authentication', 'Authorization'] as const

/**
 * The groups whose operations a resource or a kind of command needs. The marketplace names no group of reports, recommendations, sales channels, campaigns or
 * settings. Display advertising is another host, and needs no token.
 */
const groupsByWork: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['orders', ['Orders', ...ofTokens]],
  ['returns', ['Returns', ...ofTokens]],
  ['inventory', ['Inventory', ...ofTokens]],
  ['inventory-log', ['Inventory', ...ofTokens]],
  ['replenishment', ofTokens],
  ['reconciliation', ofTokens],
  ['settlements', ofTokens],
  ['sales-channels', ofTokens],
  ['campaigns', ofTokens],
  ['shipping-settings', ofTokens],
  ['acknowledge', ['Orders', ...ofTokens]],
  ['ship', ['Orders', ...ofTokens]],
  ['correct-shipment', ['Orders', ...ofTokens]],
  ['cancel', ['Orders', ...ofTokens]],
  ['refund', ['Orders', 'Refunds', ...ofTokens]],
  ['refund-return', ['Returns', 'Refunds', ...ofTokens]],
  ['create-shipping-settings', ofTokens],
])

const normalise = (group: string): string => group.toLowerCase().replace(/[^a-z]/g, '')

/**
 * The message of an alarm, with one more sentence if the marketplace reports an outage of operations that this work needs.
 * @param work a resource or a kind of command; one that is not known needs no group
 * @param reported what the marketplace reports; groups that the work does not need are ignored
 */
export const addOutage = (message: string, work: string, reported: readonly ReportedStatus[]): string => {
  const admitted = (groupsByWork.get(work) ?? []).flatMap((group) =>
    reported
      .filter(({ apiGroup, status }) => normalise(apiGroup) === normalise(group) && outages.has(status))
      .map(({ status, since }) => `${status} for ${group} since ${since.toISOString()}`),
  )
  return admitted.length === 0 ? message : `${message.replace(/\.$/, '')}. The marketplace reports ${admitted.join(', and ')}.`
}
