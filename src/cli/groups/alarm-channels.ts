import { type Command, InvalidArgumentError, Option } from 'commander'
import { Misused } from '../../api-client/errors.ts'
import { channelKinds } from '../../domain/alarms/alarm-channels.ts'
import { alarmConcerns, alarmSeverities } from '../../domain/alarms/alarm-rules.ts'
import { parseCount } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import {
  addChannel,
  type ChannelMembers,
  changeChannel,
  listChannels,
  removeChannel,
  testChannel,
} from '../commands/alarms/channels.ts'

/** Local times of the hours of a channel. */
type Span = { readonly from: string; readonly to: string } | 'always'

/** @throws InvalidArgumentError */
const parseSpan = (text: string): Span => {
  if (text === 'always') return text
  const [, from, to] = /^(\d{2}:\d{2})-(\d{2}:\d{2})$/.exec(text) ?? []
  if (from !== undefined && to !== undefined) return { from, to }
  throw new InvalidArgumentError('times such as 08:00-18:00, or always, are accepted.')
}

/** Days from 1 (Monday) to 7 (Sunday). @throws InvalidArgumentError */
const parseWeekdays = (text: string): readonly number[] => {
  if (/^[1-7](,[1-7]){0,6}$/.test(text)) return text.split(',').map(Number)
  throw new InvalidArgumentError('days such as 1,2,3,4,5 (Monday to Friday) are accepted.')
}

/** @throws InvalidArgumentError */
const parseRepeat = (text: string): number | 'never' => {
  if (text === 'never') return text
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number of hours, or never, is accepted.')
}

interface ChannelOptions {
  readonly name?: string
  readonly url?: string
  readonly to?: readonly string[]
  readonly severity?: readonly string[]
  readonly concern?: readonly string[]
  readonly seller?: readonly string[]
  readonly hours?: Span
  readonly timeZone?: string
  readonly weekdays?: readonly number[]
  readonly repeat?: number | 'never'
}

const addOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'secret URL of Slack or Teams; - reads it from the standard input')
    .option('--to <addresses...>', 'recipients of e-mails')
    .addOption(
      new Option('--severity <severity...>', 'alarms of these severities (default: critical, warning)').choices(alarmSeverities),
    )
    .addOption(new Option('--concern <audience...>', 'alarms for these audiences (default: all)').choices(alarmConcerns))
    .option('--seller <id...>', 'alarms of these sellers (default: all, and those of the daemon)')
    .option('--hours <span>', 'local times at which messages are sent, such as 08:00-18:00, or always', parseSpan)
    .option('--time-zone <name>', 'of --hours, such as Europe/Berlin (default: UTC)')
    .option('--weekdays <days>', 'days on which --hours begin, 1 (Monday) to 7 (default: every day)', parseWeekdays)
    .option('--repeat <hours>', 'repeats an alarm that stays open after these hours, or never', parseRepeat)

const buildHours = ({ hours, timeZone, weekdays }: ChannelOptions): Pick<ChannelMembers, 'hours'> => {
  if (hours === undefined || hours === 'always') {
    if (timeZone !== undefined || weekdays !== undefined) throw new Misused('--time-zone and --weekdays need --hours with times')
    return hours === undefined ? {} : { hours: null }
  }
  return { hours: { ...hours, timeZone: timeZone ?? 'UTC', ...(weekdays === undefined ? {} : { weekdays }) } }
}

const buildMembers = async (
  { readInput }: CommandRegistry['process'],
  { name, url, to, severity, concern, seller, repeat, ...hours }: ChannelOptions,
): Promise<ChannelMembers> => ({
  ...(name === undefined ? {} : { name }),
  ...(url === undefined ? {} : { url: url === '-' ? (await readInput()).trim() : url }),
  ...(to === undefined ? {} : { recipients: to }),
  ...(severity === undefined ? {} : { severities: severity }),
  ...(concern === undefined ? {} : { concerns: concern }),
  ...(seller === undefined ? {} : { sellerIds: seller }),
  ...(repeat === undefined ? {} : { repeatHours: repeat === 'never' ? null : repeat }),
  ...buildHours(hours),
})

/** Adds `tallyman alarms channels`. */
export const addAlarmChannels = (alarms: Command, { defineCommand, runAction, process }: CommandRegistry): void => {
  const channels = alarms.command('channels').description('Slack, Teams and e-mail, to which alarms are sent')
  defineCommand(channels, 'list', 'channels with their rules and state', { isDefault: true })
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { limit: number }, command: Command) =>
      runAction(command, (context) => listChannels(context, options.limit)),
    )
  addOptions(defineCommand(channels, 'add', 'adds a channel; matching alarms that are open are sent at once'))
    .addArgument(channels.createArgument('<kind>', 'kind of the channel').choices(channelKinds))
    .argument('<name>', 'its name')
    .action((kind: string, name: string, options: ChannelOptions, command: Command) =>
      runAction(command, async (context) => addChannel(context, { ...(await buildMembers(process, options)), name, kind })),
    )
  addOptions(defineCommand(channels, 'change', 'changes what is given; waiting alarms are sent at once'))
    .argument('<id>')
    .option('--name <name>', 'its name')
    .action((id: string, options: ChannelOptions, command: Command) =>
      runAction(command, async (context) => {
        const members = await buildMembers(process, options)
        if (Object.keys(members).length === 0) throw new Misused('give at least one option with a change')
        return changeChannel(context, id, members)
      }),
    )
  defineCommand(channels, 'pause', 'sends nothing until it is resumed')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      runAction(command, (context) => changeChannel(context, id, { state: 'paused' })),
    )
  defineCommand(channels, 'resume', 'sends the alarms that are open')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) =>
      runAction(command, (context) => changeChannel(context, id, { state: 'active' })),
    )
  defineCommand(channels, 'test', 'sends a test message now and prints the result')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => testChannel(context, id)))
  defineCommand(channels, 'remove', 'removes a channel')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => removeChannel(context, id)))
}
