import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { maxRetentionMs, type RetentionRule } from '../domain/sync/retention.ts'
import { isTimeZone } from '../domain/values/time-zone.ts'
import { formatDuration, parseDurationMs } from '../util/duration.ts'
import { namesSentinels, parseSentinelAddress } from '../util/net/redis-address.ts'
import { readRegularFile } from '../util/regular-file.ts'

// Each parser reads the text of one variable. Its errors name the accepted values, as `docs/settings.md` does: `accepts` in the metadata.

const duration = <Word extends string = never>(
  accepts: string,
  { minMs = 1, maxMs = Number.POSITIVE_INFINITY, word }: { minMs?: number; maxMs?: number; word?: Word } = {},
) =>
  z.string().transform((text, context): number | Word => {
    if (word !== undefined && text === word) return word
    const durationMs = parseDurationMs(text)
    if (durationMs !== null && durationMs >= minMs && durationMs <= maxMs) return durationMs
    const fault = durationMs === null ? 'not a duration' : durationMs < minMs ? 'too short' : 'too long'
    context.addIssue({ code: 'custom', message: `is ${fault}; accepted: ${accepts}` })
    return z.NEVER
  })

/** The accepted values of a variable without rules, and of an enumeration. */
const anyText = 'any text'
const formatAccepted = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(', ')

/** Marks a variable whose value is shown as a duration. */
const milliseconds = { unit: 'ms' } as const

/** A duration in milliseconds. */
export const timeSpan = (fallbackMs: number, minMs = 1, maxMs?: number) => {
  const maxText = maxMs === undefined ? '' : `, up to ${Math.round(maxMs / 86_400_000)}d`
  const accepts = `a number with its unit, such as 500ms, 90s, 5m, 1h or 2d, at least ${formatDuration(minMs)}${maxText}`
  return duration(accepts, { minMs, ...(maxMs === undefined ? {} : { maxMs }) })
    .pipe(z.number())
    .meta({ accepts: `a duration of at least ${formatDuration(minMs)}${maxText}` })
    .default(fallbackMs)
    .meta(milliseconds)
}

/** A duration in milliseconds between two bounds; it has no default. */
export const optionalTimeSpan = (minMs: number, maxMs: number) => {
  const range = `at least ${formatDuration(minMs)}, up to ${formatDuration(maxMs)}`
  return duration(`a number with its unit, such as 90s or 5m, ${range}`, { minMs, maxMs })
    .pipe(z.number())
    .meta({ accepts: `a duration of ${range}` })
    .meta(milliseconds)
    .optional()
}

/** A duration in milliseconds, or `off`. */
export const timeSpanOrOff = (fallbackMs: number, minMs: number) =>
  duration(`a number with its unit, such as 90s, 5m or 1h, at least ${formatDuration(minMs)}; or off`, { minMs, word: 'off' })
    .meta({ accepts: `a duration of at least ${formatDuration(minMs)}, or \`off\`` })
    .default(fallbackMs)
    .meta(milliseconds)

/** The retention of a kind of data, in milliseconds. */
export const retention = ({ defaultMs, minMs, because }: RetentionRule) => {
  const minText = because === null ? '' : ` of at least ${Math.round(minMs / 86_400_000)}d (${because})`
  const accepted = `a number with its unit${minText}, such as 90d or 500d, up to ${Math.round(maxRetentionMs / 86_400_000)}d; or forever`
  return duration(accepted, { minMs, maxMs: maxRetentionMs, word: 'forever' })
    .meta({ accepts: `a duration${because === null ? '' : ` of at least ${formatDuration(minMs)}`}, or \`forever\`` })
    .default(defaultMs)
    .meta(milliseconds)
}

/** An interval in milliseconds; absent if it is unset. */
export const interval = () =>
  duration('a number with its unit of at least 1s, such as 90s, 5m or 1h; or off', { minMs: 1_000, word: 'off' })
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

/** A port that is used only if it is set. */
export const optionalPort = () => port(0).unwrap().optional()

/** A whole number from `min` to `max`. */
export const bound = (fallback: number, min: number, max: number) => {
  const accepts = `a whole number from ${min} to ${max}`
  const fault = `is not a valid number; accepted: ${accepts}`
  return z
    .string()
    .regex(/^\d{1,12}$/, fault)
    .transform(Number)
    .refine((value) => value >= min && value <= max, fault)
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
    `is not an address; accepted: an address ${anAddress(protocols)}`,
  )

const databaseProtocols = ['postgres:', 'postgresql:']
/** The address of a database. */
export const databaseUrl = address(databaseProtocols).meta({ accepts: `an address ${anAddress(databaseProtocols)}` })

const holdsCredentials = (text: string): boolean => {
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

/** An empty `?` or `#` also counts: paths are appended to the address. */
const hasQuery = (text: string): boolean => /[?#]/.test(text)

const webProtocols = ['http:', 'https:']
/** An address of requests or for a browser. */
export const webUrl = address(webProtocols)
  .refine(
    (text) => !URL.canParse(text) || !holdsCredentials(text),
    'contains a user name or a password, which are not sent; remove them',
  )
  .refine(
    (text) => !URL.canParse(text) || !hasQuery(text),
    'contains a query (?) or a fragment (#); remove it, since paths are appended to the address',
  )
  .meta({ accepts: `an address ${anAddress(webProtocols)}` })

const smtpAccepts = '`smtp://user:password@host:port` or `smtps://…`, without path and parameters'
const isSmtpAddress = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') return false
  return (
    ['', '/'].includes(url.pathname) && !hasQuery(text) && (url.username === '') === (url.password === '') && isDecodable(url)
  )
}
const isDecodable = ({ username, password }: URL): boolean => !/%(?![\dA-Fa-f]{2})/.test(username + password)

/** The address of a mail server. */
export const smtpUrl = z
  .string()
  .refine(isSmtpAddress, `is not the address of a mail server; accepted: ${smtpAccepts}`)
  .meta({ accepts: smtpAccepts })

const redisAccepts =
  'redis://… or rediss://…, several separated by commas for a cluster, or redis+sentinel://host:port,host:port/master (rediss+sentinel://…)'
/** The address of one Redis, of a cluster, or of sentinels. */
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

/** One of several values. */
export const pickOne = <const Values extends readonly [string, ...string[]]>(values: Values, fallback: Values[number]) =>
  choice(values).default(() => fallback)

/** One of several values, or unset. */
export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `is none of the accepted values: ${values.join(', ')}` }).meta({ accepts: formatAccepted(values) })

/** Any text that is not blank. */
export const text = z.string().trim().min(1).meta({ accepts: anyText })

/** Text that is sent in a header: characters of Latin-1 without control characters (RFC 9110, 5.5). */
export const headerText = text
  .refine(
    (value) => /^[\x20-\x7e\u00a0-\u00ff]*$/.test(value),
    'contains characters that are invalid in a header; accepted: those of Latin-1, without control characters',
  )
  .meta({ accepts: 'text of Latin-1, without control characters' })

const mailboxAccepts = 'an e-mail address, or `Name <address>`'
const isAddress = (text: string): boolean => z.email().safeParse(text).success
/** The sender of e-mails. */
export const mailbox = text
  .refine((value) => {
    const [, address] = /^[^<>"\p{Cc},;:@]*<([^<>]+)>$/u.exec(value) ?? []
    return isAddress(address ?? value)
  }, `is not a sender; accepted: ${mailboxAccepts}`)
  .meta({ accepts: mailboxAccepts })

const timeZoneAccepts = 'the IANA name of a time zone, such as `Europe/Berlin`'
/** The name of a time zone. */
export const timeZone = text
  // The sign of an offset means the opposite to Postgres.
  .refine((name) => isTimeZone(name) && !/^[+-]/.test(name), `is no time zone; accepted: ${timeZoneAccepts}`)
  .meta({ accepts: timeZoneAccepts })

const maxIdLength = 200
const isStorable = (value: string): boolean => value.length <= maxIdLength && value.isWellFormed() && !/\p{Cc}/u.test(value)
const idAccepts = `up to ${maxIdLength} characters, without control characters`
const isNoId = `is not an id; accepted: ${idAccepts}`

/** An id that Postgres can store and index. */
export const storedId = text.refine(isStorable, isNoId)

const sellerIdAccepts = `${idAccepts}, without white space around it, neither . nor ..`
/** The id of a seller. It is part of every row, job and address, so it must be valid in all of them. Addresses lose `.` and `..`. */
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
/** A PEM. Its line breaks may be `\\n` in an environment file. */
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

const keyBytes = 32
const encryptionKeysAccepts = `base64 of ${keyBytes} bytes, several separated by a comma while rotating; the first one encrypts`
/** Keys of 32 bytes (AES-256). */
export const encryptionKeys = z
  .string()
  .transform((list, context): readonly Uint8Array[] => {
    const keys = list
      .split(/[ ,]+/)
      .map((key) => (/^[A-Za-z\d+/]+={0,2}$/.test(key) ? Buffer.from(key, 'base64') : Buffer.alloc(0)))
    if (keys.every(({ length }) => length === keyBytes)) return keys
    context.addIssue({ code: 'custom', message: `is not a list of keys; accepted: ${encryptionKeysAccepts}` })
    return z.NEVER
  })
  .meta({ accepts: encryptionKeysAccepts })

const pemFile = (content: string, parse: (pem: Buffer) => unknown) =>
  z
    .string()
    .superRefine((file, context) => {
      const fault = (why: string): void =>
        context.addIssue({
          code: 'custom',
          message: `is not the path of a readable file with a ${content} in PEM: ${why}; accepted: the path of such a file`,
        })
      const read = readRegularFile(file)
      if (!read.ok) return fault(read.why)
      try {
        parse(read.content)
      } catch {
        // Messages of the parser may quote the key.
        fault('it has other contents')
      }
    })
    .meta({ accepts: 'the path of a PEM file' })

/** The path of a file of certificates. */
export const certificateFile = pemFile('certificate', (pem) => new X509Certificate(pem))

/** The path of a file of a private key. */
export const privateKeyFile = pemFile('private key', createPrivateKey)

/** Distinct names, separated by commas. */
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
  .refine((names) => names.every(isStorable), `is not a list of ids; accepted: ${idAccepts}, separated by commas`)
  .meta({ accepts: 'names separated by commas' })

/** A JSON object in a variable that is validated by a schema. `names` lists accepted names that are too many for a table. */
export const jsonObject = <Schema extends z.ZodType>(schema: Schema, accepts: string, names = '') =>
  z
    .string()
    .transform((source, context): z.output<Schema> => {
      const fault = (): never => {
        context.addIssue({ code: 'custom', message: `is invalid; accepted: a JSON object of ${accepts}${names}` })
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
