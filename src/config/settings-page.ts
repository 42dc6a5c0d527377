import { z } from 'zod'
import { profiles } from '../clients/marketplace/profiles/index.ts'
import type { Profile } from '../clients/marketplace/profiles/profile.ts'
import { durationText } from '../duration.ts'
import { intervalSettings, resources } from '../jobs/sync/resources.ts'
import { secrets, settingParts } from './environment.ts'
import { intervalEnvironment } from './intervals.ts'
import { operationNames } from './rate-limits.ts'
import { sellerEntry } from './seller-entry.ts'

// The page docs/settings.md, made from the parsers of the settings, and what the table of README.md is held against.

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

/** What the metadata of a schema, or of what it wraps, says under a name. */
const metaOf = (schema: z.ZodType, name: string): string | null => {
  const said = schema.meta()?.[name]
  if (typeof said === 'string') return said
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  const inner = wraps ? schema.unwrap() : null
  return inner instanceof z.ZodType ? metaOf(inner, name) : null
}

const required = (variable: string, what: string, said: string | null): string => {
  if (said === null) throw new RangeError(`${variable} does not say ${what}`)
  return said
}

const defaultOf = (schema: z.ZodType): string => {
  const value = schema.safeParse(undefined).data
  if (value === undefined) return metaOf(schema, 'unset') ?? 'unset'
  if (typeof value === 'number') return code(metaOf(schema, 'unit') === 'ms' ? durationText(value) : String(value))
  if (Array.isArray(value)) return value.length === 0 ? 'unset' : code(value.join(','))
  return typeof value === 'string' ? code(value) : 'unset'
}

const settingOf = ([variable, schema]: readonly [string, z.ZodType]): DocumentedSetting => ({
  variable,
  default: defaultOf(schema),
  accepts: required(variable, 'what it accepts', metaOf(schema, 'accepts')),
  meaning: required(variable, 'what it means', metaOf(schema, 'description')),
  isSecret: secretNames.has(variable),
})

const parts = Object.entries(settingParts).map(([title, shape]) => ({
  title,
  settings: Object.entries(shape).map(settingOf),
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
  return required(variable, 'what it accepts', schema === undefined ? null : metaOf(schema, 'accepts'))
}

/** Every setting of the daemon, each once. */
export const documentedSettings: readonly DocumentedSetting[] = [
  ...parts.flatMap(({ settings }) => settings),
  ...intervalSettings.map(({ variable, ordinaryMs }) => ({
    variable,
    default: code(durationText(ordinaryMs)),
    accepts: intervalAccepts(variable),
    meaning: governedBy(variable),
    isSecret: false,
  })),
]

const nameOf = ({ variable, isSecret }: DocumentedSetting): string =>
  isSecret ? `${code(variable)}, ${code(`${variable}_FILE`)}` : code(variable)

const partOf = ({ title, settings }: (typeof parts)[number]): string =>
  `## ${title}\n${table(
    ['variable', 'default', 'accepts', 'meaning'],
    settings.map((setting) => row(nameOf(setting), setting.default, setting.accepts, setting.meaning)),
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
        code(durationText(ordinaryMs)),
        code(durationText(demonstrationMs)),
        intervalAccepts(variable),
        governedBy(variable),
      ),
    ),
  )

const sellerTable = (): string =>
  table(
    ['member', 'meaning, or the variable that it replaces'],
    Object.entries(sellerEntry.shape).map(([member, schema]) =>
      row(code(member), required(member, 'what it means', metaOf(schema, 'description'))),
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
    `${parts.map(partOf).join('\n')}\n`,
    `## How often is read\n${wrapped(
      'By itself; `off`: never. Where the demonstration runs (`DEMO=on` without `MARKETPLACE_URL`) its shorter intervals hold. [syncs.md](syncs.md) lists the streams of each resource.',
    )}\n\n${intervalTable()}\n\n`,
    `## What a profile sets\n${wrapped(
      'What holds where these variables are unset. A profile also decides paths, members and words that no variable changes ([the sandbox](sandbox.md#profiles) lists them).',
    )}\n\n${profileTable()}\n\n`,
    `## The file of sellers\n${wrapped(
      '`SELLERS_FILE` is JSON or YAML: `sellers`, a list of objects with these members. `SELLER_ID`, `CLIENT_ID` and `CLIENT_SECRET` must be unset beside it. Files and variables that a seller names are read whenever this file is. All of these must be regular files, in UTF-8; a pipe, as process substitution makes one, is refused.',
    )}\n\n${sellerTable()}\n\n`,
    `## Operations\nNames for \`RATE_LIMITS\`:\n${wrapped(`${operationNames.map(code).join(', ')}.`)}\n`,
  ].join('')
