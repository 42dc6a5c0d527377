import { TZDate } from '@date-fns/tz'
import { z } from 'zod'
import { isTimeZone } from '../values/time-zone.ts'
import { type AlarmConcern, type AlarmKind, type AlarmSeverity, alarmKinds, findAlarmRule } from './alarm-rules.ts'

// Rules of the channels to which alarms are sent: which alarms, when, and when again after a failure.

/** Kinds of channels: an incoming webhook of Slack, a workflow of Teams, e-mail. */
export const channelKinds = ['slack', 'teams', 'email'] as const
/** One of {@link channelKinds}. */
export type ChannelKind = (typeof channelKinds)[number]

/** `paused`: nothing is sent; alarms that are open when it is resumed are sent then. */
export const channelStates = ['active', 'paused'] as const
/** One of {@link channelStates}. */
export type ChannelState = (typeof channelStates)[number]

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 08:00')
const endOfDay = z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be a time such as 18:00, at most 24:00')
const weekdaySchema = z.int().min(1, 'must be 1 (Monday) to 7 (Sunday)').max(7, 'must be 1 (Monday) to 7 (Sunday)')

/** When a channel is sent messages. Outside of these hours they wait. */
export const channelHoursSchema = z
  .strictObject({
    from: timeOfDay.meta({ description: 'Local time at which the hours begin.' }),
    to: endOfDay.meta({ description: 'Local time at which they end; not later than `from`: on the next day.' }),
    timeZone: z
      .string()
      .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')
      .meta({ description: 'IANA name of the time zone.' }),
    weekdays: z
      .array(weekdaySchema)
      .min(1, 'must name at least one day')
      .max(7, 'must name each day once')
      .default([1, 2, 3, 4, 5, 6, 7])
      .meta({ description: 'Days on which the hours begin; 1: Monday, 7: Sunday. Default: every day.' }),
  })
  .meta({ id: 'ChannelHours' })
/** See {@link channelHoursSchema}. */
export type ChannelHours = Readonly<z.output<typeof channelHoursSchema>>

/** Severities of the alarms that a channel gets unless it has others. */
export const defaultSeverities = ['critical', 'warning'] as const satisfies readonly AlarmSeverity[]

const parseMinutes = (time: string): number => {
  const [hours = '', minutes = ''] = time.split(':')
  return Number(hours) * 60 + Number(minutes)
}

/** Whether messages are sent at this time. */
export const isWithinHours = (hours: ChannelHours | null, now: Date): boolean => {
  if (hours === null) return true
  const local = new TZDate(now.getTime(), hours.timeZone)
  const minute = local.getHours() * 60 + local.getMinutes()
  const weekday = local.getDay() === 0 ? 7 : local.getDay()
  const from = parseMinutes(hours.from)
  const to = parseMinutes(hours.to)
  const beginsOn = (day: number): boolean => hours.weekdays.includes(day)
  if (from < to) return beginsOn(weekday) && minute >= from && minute < to
  const yesterday = weekday === 1 ? 7 : weekday - 1
  return (beginsOn(weekday) && minute >= from) || (beginsOn(yesterday) && minute < to)
}

/** Which alarms a channel gets, besides its sellers. */
export interface ChannelFilter {
  readonly severities: readonly AlarmSeverity[]
  /** Empty: all. */
  readonly concerns: readonly AlarmConcern[]
}

const matches = ({ severities, concerns }: ChannelFilter, kind: string): boolean => {
  const rule = findAlarmRule(kind)
  return severities.includes(rule.severity) && (concerns.length === 0 || concerns.includes(rule.concerns))
}

/** The kinds of alarms that a channel gets, and whether it gets kinds of other versions. */
export const listChannelKinds = (
  filter: ChannelFilter,
): { readonly kinds: readonly AlarmKind[]; readonly includesUnknown: boolean } => ({
  kinds: alarmKinds.filter((kind) => matches(filter, kind)),
  includesUnknown: matches(filter, ''),
})

const minuteMs = 60_000
const retryDelaysMs = [30_000, minuteMs, 5 * minuteMs, 15 * minuteMs] as const
const maxRetryDelayMs = 60 * minuteMs

/**
 * Time until the next attempt, in milliseconds. Attempts do not end: each message is built from the alarms of its time.
 * @param failures failed attempts since the last success, at least 1
 * @param askedMs the wait that the receiver asks for
 */
export const channelRetryDelayMs = (failures: number, askedMs: number | null): number =>
  Math.max(retryDelaysMs[failures - 1] ?? maxRetryDelayMs, Math.min(askedMs ?? 0, maxRetryDelayMs))

/** The alarm about a failing channel opens after this many failed attempts in a row. */
export const channelFailuresToAlarm = 3
