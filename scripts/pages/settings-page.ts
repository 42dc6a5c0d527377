import type { z } from 'zod'
import { operationNames } from '../../src/clients/marketplace/endpoints.ts'
import { profiles } from '../../src/clients/marketplace/profiles/index.ts'
import type { Profile } from '../../src/clients/marketplace/profiles/profile.ts'
import { secrets, settingParts } from '../../src/config/environment.ts'
import { intervalEnvironment } from '../../src/config/intervals.ts'
import { sellerEntry } from '../../src/config/seller-entry.ts'
import { findSettingMeta } from '../../src/config/setting-meta.ts'
import { intervalSettings } from '../../src/domain/sync/intervals.ts'
import { resources } from '../../src/jobs/sync/resources/resources.ts'
import { formatDuration } from '../../src/util/duration.ts'

// The page docs/settings.md, generated from the parsers of the settings. A test compares the table of README.md with it.

/** A setting as readers see it. */
export interface DocumentedSetting {
  readonly variable: string
  /** As it stands in a table: in backticks, or in words. */
  readonly default: string
  readonly accepts: string
  readonly meaning: string
  readonly isSecret: boolean
}

const secretNames: ReadonlySet<string> = new Set(secrets)
const code = (text: string): string => `\`${text}\``
const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (headings: readonly string[], rows: readonly string[]): string =>
  [row(...headings), row(...headings.map(() => '---')), ...rows].join('\n')

const required = (variable: string, what: string, said: string | null): string => {
  if (said === null) throw new RangeError(`${variable} does not say ${what}`)
  return said
}

const formatDefault = (schema: z.ZodType): string => {
  const value = schema.safeParse(undefined).data
  if (value === undefined) return findSettingMeta(schema, 'unset') ?? 'unset'
  if (typeof value === 'number') return code(findSettingMeta(schema, 'unit') === 'ms' ? formatDuration(value) : String(value))
  if (Array.isArray(value)) return value.length === 0 ? 'unset' : code(value.join(','))
  return typeof value === 'string' ? code(value) : 'unset'
}

const buildSetting = ([variable, schema]: readonly [string, z.ZodType]): DocumentedSetting => ({
  variable,
  default: formatDefault(schema),
  accepts: required(variable, 'what it accepts', findSettingMeta(schema, 'accepts')),
  meaning: required(variable, 'what it means', findSettingMeta(schema, 'description')),
  isSecret: secretNames.has(variable),
})

const parts = Object.entries(settingParts).map(([title, shape]) => ({
  title,
  settings: Object.entries(shape).map(buildSetting),
}))

/** What a setting of an interval governs: each resource with what its streams read, as long as they have no setting of their own. */
const governedBy = (variable: string): string =>
  resources
    .flatMap(({ name, poll, streams }) => {
      const reads = Object.values(streams).flatMap(({ pace, reads: what }) => {
        const setting = 'setting' in pace ? pace.setting : poll
        return setting.variable === variable ? [what] : []
      })
      return reads.length === 0 ? [] : [`${code(name)}: ${[...new Set(reads)].join('; ')}`]
    })
    .join('. ')

const intervalAccepts = (variable: string): string => {
  const schema = intervalEnvironment.shape[variable]
  return required(variable, 'what it accepts', schema === undefined ? null : findSettingMeta(schema, 'accepts'))
}

/** Every setting of the daemon, each once. */
export const documentedSettings: readonly DocumentedSetting[] = [
  ...parts.flatMap(({ settings }) => settings),
  ...intervalSettings.map(({ variable, ordinaryMs }) => ({
    variable,
    default: code(formatDuration(ordinaryMs)),
    accepts: intervalAccepts(variable),
    meaning: governedBy(variable),
    isSecret: false,
  })),
]

const buildName = ({ variable, isSecret }: DocumentedSetting): string =>
  isSecret ? `${code(variable)}, ${code(`${variable}_FILE`)}` : code(variable)

const findPart = ({ title, settings }: (typeof parts)[number]): string =>
  `## ${title}\n${table(
    ['variable', 'default', 'accepts', 'meaning'],
    settings.map((setting) => row(buildName(setting), setting.default, setting.accepts, setting.meaning)),
  )}\n`

/** Settings whose value the profile gives where they are not set. */
const ofProfile = {
  HEADER_PREFIX: 'headerPrefix',
  QUANTITY_FIELD: 'quantityField',
  TOKEN_PATH: 'tokenPath',
} as const satisfies Readonly<Record<string, keyof Profile>>

const profileTable = (): string =>
  table(
    ['variable', ...[...profiles.keys()].map(code)],
    Object.entries(ofProfile).map(([variable, member]) =>
      row(code(variable), ...[...profiles.values()].map((profile) => code(profile[member]))),
    ),
  )

const intervalTable = (): string =>
  table(
    ['variable', 'default', 'demonstration', 'accepts', 'what is read'],
    intervalSettings.map(({ variable, ordinaryMs, demonstrationMs }) =>
      row(
        code(variable),
        code(formatDuration(ordinaryMs)),
        code(formatDuration(demonstrationMs)),
        intervalAccepts(variable),
        governedBy(variable),
      ),
    ),
  )

const sellerTable = (): string =>
  table(
    ['member', 'meaning, or the variable that it replaces'],
    Object.entries(sellerEntry.shape).map(([member, schema]) =>
      row(code(member), required(member, 'what it means', findSettingMeta(schema, 'description'))),
    ),
  )

/** Words in lines that are no longer than a page allows. */
const wrapped = (text: string): string => {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length >= 155) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}

const introduction = `# Settings

<!-- Made from src/config by npm run settings-page. -->
The ${documentedSettings.length} settings are environment variables. Each secret can also be given as \`NAME_FILE\`, the path of a file that holds it; both at once are refused. An empty
variable counts as unset. An invalid or misspelt setting ends the start with exit code 78 and a line for each fault, which names what is accepted. A duration is
a whole number with its unit: \`500ms\`, \`90s\`, \`5m\`, \`1h\`, \`2d\`.

\`GET /v1/settings\` (in the console: *Settings*) shows [what is in force](operations.md#which-settings-are-in-force). All settings are read at the start;
those of the sellers again with [\`npx tallyman sellers reload\`](operations.md#reading-the-sellers-again). The sandbox has
[settings of its own](sandbox.md#settings). The command line takes
\`TALLYMAN_URL\` and \`SANDBOX_URL\` besides, the addresses of the daemon and of the sandbox ([operations](operations.md#command-line)).

`

/** The text of docs/settings.md. */
export const settingsPage = (): string =>
  [
    introduction,
    `${parts.map(findPart).join('\n')}\n`,
    `## How often is read\n${wrapped(
      'By itself; `off`: never. Where the demonstration runs (`DEMO=on` without `MARKETPLACE_URL`) its shorter intervals hold. [syncs.md](syncs.md) lists the streams of each resource.',
    )}\n\n${intervalTable()}\n\n`,
    `## What a profile sets\n${wrapped(
      'What holds where these variables are unset. A profile also decides paths, members and words that no variable changes ([the sandbox](sandbox.md#profiles) lists them).',
    )}\n\n${profileTable()}\n\n`,
    `## The file of sellers\n${wrapped(
      '`SELLERS_FILE` is JSON or YAML: `sellers`, a list of objects with these members. `SELLER_ID`, `CLIENT_ID`, `CLIENT_SECRET`, `REFRESH_TOKEN` and `PARTNER_ID` must be unset beside it. Files and variables that a seller names are read whenever this file is. All of these must be regular files, in UTF-8; a pipe, as process substitution makes one, is refused.',
    )}\n\n${sellerTable()}\n\n`,
    `## Operations\nNames for \`RATE_LIMITS\`:\n${wrapped(`${operationNames.map(code).join(', ')}.`)}\n`,
  ].join('')
