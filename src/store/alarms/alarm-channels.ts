import {
  type ChannelHours,
  type ChannelKind,
  type ChannelState,
  channelHoursSchema,
  channelKinds,
  channelStates,
} from '../../domain/alarms/alarm-channels.ts'
import { type AlarmConcern, type AlarmSeverity, alarmConcerns, alarmSeverities } from '../../domain/alarms/alarm-rules.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { Prisma } from '../generated/client.ts'
import { type AlarmKey, resolveAlarm } from './alarms.ts'

/** The rules of a channel: which alarms it gets, and when. */
export interface ChannelRules {
  readonly severities: readonly AlarmSeverity[]
  /** Empty: all. */
  readonly concerns: readonly AlarmConcern[]
  /** Empty: all, and alarms of the daemon itself. */
  readonly sellerIds: readonly string[]
  /** Null: always. */
  readonly hours: ChannelHours | null
  /** Null: an alarm that stays open is not repeated. */
  readonly repeatHours: number | null
}

/** A channel without its address. */
export interface AlarmChannel extends ChannelRules {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
  /** The address as it is shown: the host of the URL, or the recipients. */
  readonly target: string
  readonly state: ChannelState
  /** Failed attempts since the last success. */
  readonly failures: number
  readonly failingSince: Date | null
  /** A code or a status. */
  readonly lastError: string | null
  readonly lastSentAt: Date | null
  /** After a failure: when the next attempt is due. */
  readonly nextAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface StoredRules {
  readonly kind: string
  readonly severities: readonly string[]
  readonly concerns: readonly string[]
  readonly sellerIds: readonly string[]
  readonly hours: unknown
  readonly repeatHours: number | null
}

/** The rules of a row. */
export const parseRules = ({ severities, concerns, sellerIds, hours, repeatHours }: Omit<StoredRules, 'kind'>): ChannelRules => ({
  severities: severities.map((severity) => parseEnumColumn(alarmSeverities, severity)),
  concerns: concerns.map((concern) => parseEnumColumn(alarmConcerns, concern)),
  sellerIds,
  hours: hours === null ? null : channelHoursSchema.parse(hours),
  repeatHours,
})

type StoredChannel = Omit<AlarmChannel, keyof ChannelRules | 'kind' | 'state'> & StoredRules & { readonly state: string }

const fromRow = (row: StoredChannel): AlarmChannel => ({
  ...row,
  ...parseRules(row),
  kind: parseEnumColumn(channelKinds, row.kind),
  state: parseEnumColumn(channelStates, row.state),
})

const shown = { omit: { address: true, leaseUntil: true } } as const

/** One channel; null: there is none. */
export const readAlarmChannel = async ({ prisma }: SqlRunner, id: string): Promise<AlarmChannel | null> => {
  const row = await prisma.alarmChannel.findUnique({ where: { id }, ...shown })
  return row === null ? null : fromRow(row)
}

/** Channels in the order of their ids, after this one. */
export const listAlarmChannels = async (
  { prisma }: SqlRunner,
  after: string | null,
  limit: number,
): Promise<ListPage<AlarmChannel, string>> => {
  const rows = await prisma.alarmChannel.findMany({
    where: after === null ? {} : { id: { gt: after } },
    orderBy: { id: 'asc' },
    take: limit + 1,
    ...shown,
  })
  return buildPage(rows.map(fromRow), limit, ({ id }) => id)
}

/** Where the messages of a channel are sent. */
export interface ChannelAddress {
  /** The secret URL, or the recipients. */
  readonly address: string
  readonly target: string
}

/** A channel to create. */
export interface NewAlarmChannel extends ChannelRules, ChannelAddress {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
}

const toColumns = ({ severities, concerns, sellerIds, hours, ...rest }: Partial<NewAlarmChannel>) => ({
  ...rest,
  ...(severities === undefined ? {} : { severities: [...severities] }),
  ...(concerns === undefined ? {} : { concerns: [...concerns] }),
  ...(sellerIds === undefined ? {} : { sellerIds: [...sellerIds] }),
  ...(hours === undefined ? {} : { hours: hours === null ? Prisma.DbNull : { ...hours, weekdays: [...hours.weekdays] } }),
})

/** Creates an active channel. */
export const createAlarmChannel = async (tx: Transaction, channel: NewAlarmChannel): Promise<AlarmChannel> => {
  const { id, name, kind, address, target, severities } = channel
  const data = { ...toColumns(channel), id, name, kind, address, target, severities: [...severities] }
  return fromRow(await tx.prisma.alarmChannel.create({ data, ...shown }))
}

/** A person's change of a channel; absent members stay. */
export type AlarmChannelChange = Partial<Omit<NewAlarmChannel, 'id' | 'kind'>> & { readonly state?: ChannelState }

/** The alarm about a channel whose messages fail. */
export const channelAlarm = (id: string): AlarmKey => ({ sellerId: '', kind: 'alarm-channel-failing', subject: id })

/** Changes a channel; null: there is none. Its next attempt is due at once, and counts as the first one. */
export const changeAlarmChannel = async (
  tx: Transaction,
  id: string,
  { state, ...change }: AlarmChannelChange,
): Promise<AlarmChannel | null> => {
  const changed = await tx.execute(
    `UPDATE tallyman.alarm_channels SET state = coalesce($2, state), failures = 0, failing_since = NULL, last_error = NULL, next_at = NULL,
       updated_at = now() WHERE id = $1`,
    id,
    state ?? null,
  )
  if (changed === 0) return null
  await resolveAlarm(tx, channelAlarm(id))
  return fromRow(await tx.prisma.alarmChannel.update({ where: { id }, data: toColumns(change), ...shown }))
}

/** Deletes a channel and what it was sent. Returns whether there was one. */
export const removeAlarmChannel = async (tx: Transaction, id: string): Promise<boolean> => {
  const { count } = await tx.prisma.alarmChannel.deleteMany({ where: { id } })
  await resolveAlarm(tx, channelAlarm(id))
  return count > 0
}

/** The address of a channel for a test message; null: there is no such channel. Only the code that sends messages may read it. */
export const readChannelAddress = async (
  { prisma }: SqlRunner,
  id: string,
): Promise<{ readonly name: string; readonly kind: ChannelKind; readonly address: string } | null> => {
  const row = await prisma.alarmChannel.findUnique({ where: { id }, select: { name: true, kind: true, address: true } })
  return row === null ? null : { ...row, kind: parseEnumColumn(channelKinds, row.kind) }
}
