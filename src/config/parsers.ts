import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { longestRetentionMs, type RetentionRule } from '../domain/retention.ts'
import { durationText, parseDurationMs } from '../duration.ts'
import { namesSentinels, parseSentinelAddress } from '../redis-address.ts'
import { readRegularFile } from '../regular-file.ts'

// Each of these reads the text of one variable; where that is not accepted its fault says what is. `docs/settings.md` says the same: `accepts` in
// the metadata of each.

const duration = (
  accepts: string,
  { minMs = 1, maxMs = Number.POSITIVE_INFINITY, off = false }: { minMs?: number; maxMs?: number; off?: boolean } = {},
) =>
  z.string().transform((text, context): number | 'off' => {
    if (off && text === 'off') return 'off'
    const durationMs = parseDurationMs(text)
    if (durationMs !== null && durationMs >= minMs && durationMs <= maxMs) return durationMs
    context.addIssue({ code: 'custom', message: `is not a duration; accepted: ${accepts}` })
    return z.NEVER
  })

/** What a variable without any rule accepts, and one of some words. */
const anyText = 'any text'
const wordsAccepted = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(', ')

/** Marks a variable whose value is a time span, to be shown as one. */
const milliseconds = { unit: 'ms' } as const

/** A duration in milliseconds. */
export const timeSpan = (fallbackMs: number, minMs = 1, maxMs?: number) => {
  const most = maxMs === undefined ? '' : `, up to ${Math.round(maxMs / 86_400_000)}d`
  const accepts = `a number with its unit, such as 500ms, 90s, 5m, 1h or 2d, at least ${durationText(minMs)}${most}`
  return duration(accepts, { minMs, ...(maxMs === undefined ? {} : { maxMs }) })
    .pipe(z.number())
    .meta({ accepts: `a duration of at least ${durationText(minMs)}${most}` })
    .default(fallbackMs)
    .meta(milliseconds)
}

/** A duration in milliseconds, or `off`. */
export const timeSpanOrOff = (fallbackMs: number, minMs: number) =>
  duration(`a number with its unit, such as 90s, 5m or 1h, at least ${durationText(minMs)}; or off`, { minMs, off: true })
    .meta({ accepts: `a duration of at least ${durationText(minMs)}, or \`off\`` })
    .default(fallbackMs)
    .meta(milliseconds)

/** How long a kind of data is kept, in milliseconds. */
export const retention = ({ defaultMs, leastMs, because }: RetentionRule) => {
  const least = because === null ? '' : ` of at least ${Math.round(leastMs / 86_400_000)}d (${because})`
  const accepted = `a number with its unit${least}, such as 90d or 500d, up to ${Math.round(longestRetentionMs / 86_400_000)}d; or forever`
  return z
    .string()
    .transform((text, context): number | 'forever' => {
      if (text === 'forever') return 'forever'
      const durationMs = parseDurationMs(text)
      if (durationMs !== null && durationMs >= leastMs && durationMs <= longestRetentionMs) return durationMs
      context.addIssue({
        code: 'custom',
        message: `is ${durationMs === null ? 'not a duration' : durationMs < leastMs ? 'too short' : 'too long'}; accepted: ${accepted}`,
      })
      return z.NEVER
    })
    .meta({ accepts: `a duration${because === null ? '' : ` of at least ${durationText(leastMs)}`}, or \`forever\`` })
    .default(defaultMs)
    .meta(milliseconds)
}

/** How often something is done, in milliseconds; absent where nothing is set. */
export const interval = () =>
  duration('a number with its unit of at least 1s, such as 90s, 5m or 1h; or off', { minMs: 1_000, off: true })
    .meta({ accepts: 'a duration of at least 1s, or `off`' })
    .optional()

const portAccepts = '0 (any free one) to 65535'
/** A port; 0: any free one. */
export const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, `is not a port; accepted: ${portAccepts}`)
    .transform(Number)
    .refine((value) => value <= 65_535, `is not a port; accepted: ${portAccepts}`)
    .meta({ accepts: portAccepts })
    .default(fallback)

/** A port that is only listened on when it is set. */
export const optionalPort = () => port(0).unwrap().optional()

/** A bound: a whole number between two others. */
export const bound = (fallback: number, least: number, most: number) => {
  const accepts = `a whole number from ${least} to ${most}`
  const fault = `is not a bound; accepted: ${accepts}`
  return z
    .string()
    .regex(/^\d{1,12}$/, fault)
    .transform(Number)
    .refine((value) => value >= least && value <= most, fault)
    .meta({ accepts })
    .default(fallback)
}

const anAddress = (protocols: readonly string[]): string =>
  `that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`

const address = (protocols: readonly string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.canParse(text) ? new URL(text) : null
      return parsed !== null && protocols.includes(parsed.protocol)
    },
    `is not an address; accepted: one ${anAddress(protocols)}`,
  )

const databaseProtocols = ['postgres:', 'postgresql:']
/** The address of a database. */
export const databaseUrl = address(databaseProtocols).meta({ accepts: `an address ${anAddress(databaseProtocols)}` })

const holdsCredentials = (text: string): boolean => {
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

/** An empty `?` or `#` counts too: paths are put behind it. */
const hasQuery = (text: string): boolean => /[?#]/.test(text)

const webProtocols = ['http:', 'https:']
/** An address that requests are sent to, or that a person opens. */
export const webUrl = address(webProtocols)
  .refine(
    (text) => !URL.canParse(text) || !holdsCredentials(text),
    'has a user name or a password in it, which are not sent; leave them out',
  )
  .refine(
    (text) => !URL.canParse(text) || !hasQuery(text),
    'has a query (?) or a fragment (#) in it; leave it out, paths are put behind the address',
  )
  .meta({ accepts: `an address ${anAddress(webProtocols)}` })

const redisAccepts =
  'redis://… or rediss://…, several of them with commas for a cluster, or redis+sentinel://host:port,host:port/master (rediss+sentinel://…)'
/** The address of a Redis, those of a cluster, or those of the sentinels of one. */
export const redisUrls = z
  .string()
  .refine((text) => {
    if (namesSentinels(text)) return parseSentinelAddress(text) !== null
    return text.split(',').every((part) => {
      const address = part.trim()
      return URL.canParse(address) && ['redis:', 'rediss:'].includes(new URL(address).protocol)
    })
  }, `is not a Redis address; accepted: ${redisAccepts}`)
  .meta({ accepts: redisAccepts })

/** One of some words. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values, fallback: Values[number]) =>
  choice(values).default(() => fallback)

/** One of some words, or unset. */
export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `is none of the accepted values: ${values.join(', ')}` }).meta({ accepts: wordsAccepted(values) })

/** Any text that is not blank. */
export const text = z.string().trim().min(1).meta({ accepts: anyText })

/** Text that is sent in a header: no control characters, and none beyond Latin-1 (RFC 9110, 5.5). */
export const headerText = text
  .refine(
    (value) => /^[\x20-\x7e\u00a0-\u00ff]*$/.test(value),
    'holds characters that no header can carry; accepted: those of Latin-1, without control characters',
  )
  .meta({ accepts: 'text of Latin-1, without control characters' })

const longestId = 200
const isStorable = (value: string): boolean => value.length <= longestId && value.isWellFormed() && !/\p{Cc}/u.test(value)
const idAccepts = `up to ${longestId} characters, without control characters`
const isNoId = `is not an id; accepted: ${idAccepts}`

/** An id that Postgres holds, and an index of it. */
export const storedId = text.refine(isStorable, isNoId)

const sellerIdAccepts = `${idAccepts}, without white space around it, neither . nor ..`
/** The id of a seller: it stands in every row, job and address, so it must be one in all of them. Addresses lose `.` and `..`. */
export const sellerIdText = z
  .string()
  .refine(
    (value) => value !== '' && value !== '.' && value !== '..' && value === value.trim() && isStorable(value),
    `is not the id of a seller; accepted: ${sellerIdAccepts}`,
  )
  .meta({ accepts: sellerIdAccepts })

/** The name of an environment variable. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'is not the name of a variable; accepted: letters, digits and _')

const pemAccepts = 'a PEM, such as one that begins with -----BEGIN PRIVATE KEY-----'
/** A PEM, whose line breaks an environment file may hold as `\\n`. */
export const rsaPrivateKey = z
  .string()
  .transform((pem) => pem.replaceAll('\\n', '\n'))
  .refine((pem) => {
    try {
      return createPrivateKey(pem).asymmetricKeyType === 'rsa'
    } catch {
      return false
    }
  }, `is not an RSA private key; accepted: ${pemAccepts}`)
  .meta({ accepts: pemAccepts })

const pemFile = (holds: string, parse: (pem: Buffer) => unknown) =>
  z
    .string()
    .superRefine((file, context) => {
      const fault = (why: string): void =>
        context.addIssue({
          code: 'custom',
          message: `is not the path of a readable file with a ${holds} in PEM: ${why}; accepted: one`,
        })
      const read = readRegularFile(file)
      if (!read.ok) return fault(read.why)
      try {
        parse(read.content)
      } catch {
        // What the parser says may quote the key.
        fault('something else stands there')
      }
    })
    .meta({ accepts: 'the path of a PEM file' })

/** The path of a file of certificates. */
export const certificateFile = pemFile('certificate', (pem) => new X509Certificate(pem))

/** The path of a file of a private key. */
export const privateKeyFile = pemFile('private key', createPrivateKey)

/** Names with commas between them, each once. */
export const nameList = z
  .string()
  .transform((list) => [
    ...new Set(
      list
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ),
  ])
  .refine((names) => names.every(isStorable), `is not a list of ids; accepted: ${idAccepts}, with commas between them`)
  .meta({ accepts: 'names with commas between them' })

/** A JSON object in a variable, held against a schema; `names` lists what it may name where that is too long for a table. */
export const jsonObject = <Schema extends z.ZodType>(schema: Schema, accepts: string, names = '') =>
  z
    .string()
    .transform((source, context): z.output<Schema> => {
      const fault = (): never => {
        context.addIssue({ code: 'custom', message: `is not what is accepted: a JSON object of ${accepts}${names}` })
        return z.NEVER
      }
      let value: unknown
      try {
        value = JSON.parse(source)
      } catch {
        return fault()
      }
      const parsed = schema.safeParse(value)
      return parsed.success ? parsed.data : fault()
    })
    .meta({ accepts: `a JSON object of ${accepts}` })
