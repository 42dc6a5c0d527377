import { findIntervalMs, type IntervalSetting } from '../../../domain/sync/intervals.ts'
import { formatDuration } from '../../../util/duration.ts'
import type { Resource } from '../engine/resource.ts'
import type { SyncStream } from '../engine/stream.ts'
import { resources } from './resources.ts'

// The tables of docs/syncs.md, generated from the list of resources.

const settingText = ({ variable }: IntervalSetting): string => `\`${variable}\``

const paceText = ({ pace }: SyncStream<unknown>, poll: IntervalSetting): string => {
  if ('setting' in pace) return settingText(pace.setting)
  const times = pace.times === 1 ? '' : ` × ${pace.times}`
  return `${settingText(poll)}${times}${pace.minMs === 0 ? '' : `, every ${formatDuration(pace.minMs)} at most`}`
}

const defaultInterval = ({ pace }: SyncStream<unknown>, poll: IntervalSetting): string => {
  const everyMs = findIntervalMs(pace, poll, {})
  return everyMs === 'off' ? everyMs : formatDuration(everyMs)
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Row of a resource in the table of resources. */
export const resourceRow = ({ name, poll, enrolment, backfill }: Resource): string =>
  row(
    `\`${name}\``,
    settingText(poll),
    formatDuration(poll.ordinaryMs),
    formatDuration(poll.demonstrationMs),
    enrolment === 'needed' ? 'needed' : 'no',
    backfill === undefined ? 'no' : 'yes',
  )

/** Rows of a resource's streams in the table of streams. */
export const streamRows = ({ name, poll, streams }: Resource): readonly string[] =>
  Object.entries(streams).map(([stream, declared]) =>
    row(`\`${name}\``, `\`${stream}\``, declared.reads, paceText(declared, poll), defaultInterval(declared, poll)),
  )

/** The tables, as docs/syncs.md contains them between two comments. */
export const resourcesTables = (): string =>
  [
    row('resource', 'setting', 'ordinarily', 'demonstration', 'enrolment', 'backfills'),
    row('---', '---', '---', '---', '---', '---'),
    ...resources.map(resourceRow),
    '',
    row('resource', 'stream', 'what it reads', 'how often', 'ordinarily'),
    row('---', '---', '---', '---', '---'),
    ...resources.flatMap(streamRows),
  ].join('\n')

const begin = '<!-- Made from src/jobs/sync/resources/resources.ts by npm run syncs-table. -->\n'
const end = '<!-- End of what is made. -->'

/**
 * A page with its tables replaced.
 * @throws RangeError when the page does not have the two comments
 */
export const withTables = (page: string): string => {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new RangeError('the page has no comments that mark the tables of the resources')
  return `${page.slice(0, from + begin.length)}${resourcesTables()}\n${page.slice(to)}`
}
