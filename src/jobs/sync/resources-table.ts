import { durationText } from '../../duration.ts'
import { everyMsOf, type IntervalSetting } from './intervals.ts'
import type { Resource } from './resource.ts'
import { resources } from './resources.ts'
import type { SyncStream } from './stream.ts'

// The tables of docs/syncs.md that follow from the list of resources.

const settingText = ({ variable }: IntervalSetting): string => `\`${variable}\``

const paceText = ({ pace }: SyncStream<unknown>, poll: IntervalSetting): string => {
  if ('setting' in pace) return settingText(pace.setting)
  const times = pace.times === 1 ? '' : ` × ${pace.times}`
  return `${settingText(poll)}${times}${pace.leastMs === 0 ? '' : `, every ${durationText(pace.leastMs)} at most`}`
}

const ordinarily = ({ pace }: SyncStream<unknown>, poll: IntervalSetting): string => {
  const everyMs = everyMsOf(pace, poll, {})
  return everyMs === 'off' ? everyMs : durationText(everyMs)
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** What a resource is in the table of resources. */
export const resourceRow = ({ name, poll, enrolment, past }: Resource): string =>
  row(
    `\`${name}\``,
    settingText(poll),
    durationText(poll.ordinaryMs),
    durationText(poll.demonstrationMs),
    enrolment === 'needed' ? 'needed' : 'no',
    past === undefined ? 'no' : 'yes',
  )

/** What its streams are in the table of streams. */
export const streamRows = ({ name, poll, streams }: Resource): readonly string[] =>
  Object.entries(streams).map(([stream, declared]) =>
    row(`\`${name}\``, `\`${stream}\``, declared.reads, paceText(declared, poll), ordinarily(declared, poll)),
  )

/** The tables, as they stand in docs/syncs.md between two comments. */
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

const begin = '<!-- Made from src/jobs/sync/resources.ts by npm run syncs-table. -->\n'
const end = '<!-- End of what is made. -->'

/**
 * A page with its tables written again.
 * @throws RangeError when the page does not say where they stand
 */
export const withTables = (page: string): string => {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new RangeError('the page does not say where the tables of the resources stand')
  return `${page.slice(0, from + begin.length)}${resourcesTables()}\n${page.slice(to)}`
}
