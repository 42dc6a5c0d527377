import { type AlarmSeverity, alarmSeverities, findAlarmRule } from './alarm-rules.ts'

// The message about alarms, before it gets the format of its channel. It contains what the change feed contains: not the text of an alarm, which may quote
// an ERP or the marketplace, because an erasure cannot remove a buyer from Slack, Teams or a mailbox.

/** Why an alarm is in a message: it is new to the channel, is repeated, or is over. */
export const noticeReasons = ['new', 'open', 'over'] as const
/** One of {@link noticeReasons}. */
export type NoticeReason = (typeof noticeReasons)[number]

/** An alarm of a message. */
export interface AlarmNotice {
  readonly alarmId: bigint
  readonly reason: NoticeReason
  /** Empty: the alarm is about the daemon, or about a seller that was never served. */
  readonly sellerId: string
  readonly kind: string
  readonly subject: string
  readonly count: number | null
  readonly dueAt: Date | null
  readonly raisedAt: Date
  readonly resolvedAt: Date | null
}

/** A part of a message. */
export interface MessageSection {
  readonly heading: string
  readonly lines: readonly string[]
}

/** A message in plain text; each channel gets it in its format. */
export interface AlarmMessage {
  /** One line without text of others. */
  readonly title: string
  readonly sections: readonly MessageSection[]
  /** Address of the console; null: it is not known. */
  readonly link: string | null
}

/** Alarms of a section that are shown; the others are counted. */
const maxShown = 20

const headings: Readonly<Record<NoticeReason, string>> = { new: 'New', open: 'Still open', over: 'Over' }

const formatTime = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Rules are written in Markdown, a message is plain text. */
const stripMarks = (text: string): string => text.replaceAll('`', '').replaceAll('*', '')

const maxSubjectLength = 100

const formatSubject = (subject: string): string =>
  subject.length > maxSubjectLength ? `${subject.slice(0, maxSubjectLength)}…` : subject

/** Alarms with a count have the same subject for all of them, such as `orders`. */
const formatDetails = ({ kind, sellerId, subject, count, dueAt, raisedAt, resolvedAt, reason }: AlarmNotice): string => {
  const { namesSubject } = findAlarmRule(kind)
  return [
    ...(sellerId === '' ? [] : [`seller ${sellerId}`]),
    ...(count === null ? (namesSubject ? [formatSubject(subject)] : []) : [`${count} affected`]),
    ...(dueAt === null || reason === 'over' ? [] : [`due ${formatTime(dueAt)}`]),
    ...(reason === 'open' ? [`since ${formatTime(raisedAt)}`] : []),
    ...(resolvedAt === null ? [] : [`until ${formatTime(resolvedAt)}`]),
  ].join(', ')
}

const formatLine = (notice: AlarmNotice): string => {
  const { severity, title, toDo } = findAlarmRule(notice.kind)
  const details = formatDetails(notice)
  const line = `${severity}: ${title}${details === '' ? '' : ` (${details})`}`
  return notice.reason === 'new' ? `${line}. ${stripMarks(toDo)}` : line
}

const bySeverity = (one: AlarmNotice, other: AlarmNotice): number =>
  alarmSeverities.indexOf(findAlarmRule(one.kind).severity) - alarmSeverities.indexOf(findAlarmRule(other.kind).severity) ||
  one.raisedAt.getTime() - other.raisedAt.getTime()

const buildSection = (heading: string, notices: readonly AlarmNotice[]): MessageSection => {
  const shown = notices.toSorted(bySeverity).slice(0, maxShown)
  const more = notices.length - shown.length
  return { heading, lines: [...shown.map(formatLine), ...(more === 0 ? [] : [`and ${more} more`])] }
}

const findHighest = (notices: readonly AlarmNotice[]): AlarmSeverity | undefined =>
  alarmSeverities.find((severity) =>
    notices.some(({ kind, reason }) => reason !== 'over' && findAlarmRule(kind).severity === severity),
  )

const buildTitle = (notices: readonly AlarmNotice[]): string => {
  const highest = findHighest(notices)
  const [only] = notices
  const counts = noticeReasons.flatMap((reason) => {
    const count = notices.filter((notice) => notice.reason === reason).length
    return count === 0 ? [] : [`${count} ${headings[reason].toLowerCase()}`]
  })
  const text =
    notices.length === 1 && only !== undefined
      ? `${findAlarmRule(only.kind).title} (${headings[only.reason].toLowerCase()})`
      : `${notices.length} alarms (${counts.join(', ')})`
  return highest === undefined ? text : `${highest}: ${text}`
}

const buildLink = (consoleUrl: string | null): string | null =>
  consoleUrl === null ? null : `${consoleUrl.replace(/\/+$/, '')}/console/alarms`

/**
 * One message about these alarms.
 * @param notices at least one
 */
export const buildAlarmMessage = (notices: readonly AlarmNotice[], consoleUrl: string | null): AlarmMessage => {
  const sections = noticeReasons.flatMap((reason) => {
    const those = notices.filter((notice) => notice.reason === reason)
    return those.length === 0 ? [] : [buildSection(headings[reason], those)]
  })
  return {
    title: buildTitle(notices),
    sections,
    link: buildLink(consoleUrl),
  }
}

/** The message of a test of a channel. */
export const buildTestMessage = (channelName: string, consoleUrl: string | null): AlarmMessage => ({
  title: 'Test message of Tallyman',
  sections: [{ heading: 'Test', lines: [`Alarms for the channel ${channelName} arrive here. This message reports none.`] }],
  link: buildLink(consoleUrl),
})
