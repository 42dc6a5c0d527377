import { readFileSync } from 'node:fs'
import { describeError, Misused } from '../api-client/errors.ts'
import { readDaemonAddress } from '../util/net/daemon-address.ts'

/** The settings that the command line needs; the others concern the daemon only. */
export interface CliSettings {
  /** Address of the daemon, without a trailing slash. */
  readonly daemonUrl: string
  readonly apiKey: string | null
  /** Signs the requests of `send`; the first of two during a rotation. */
  readonly eventsSecret: string | null
  /** Address of the sandbox, without a trailing slash. */
  readonly sandboxUrl: string
  readonly databaseUrl: string | null
  /** Address without a pooler, where each connection has its own session: `DATABASE_DIRECT_URL`, otherwise `databaseUrl`. */
  readonly sessionUrl: string | null
  readonly redisUrl: string | null
  /** Folder of the daemon that runs here. */
  readonly dataDir: string
}

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

const readVariable = (environment: Environment, name: string): string | null => {
  const value = environment[name]?.trim()
  return value === undefined || value === '' ? null : value
}

// Any secret may be given as the path of a file instead (docs/settings.md).
const readSecret = (environment: Environment, name: string): string | null => {
  const file = readVariable(environment, `${name}_FILE`)
  if (file === null) return readVariable(environment, name)
  if (readVariable(environment, name) !== null) throw new Misused(`${name} and ${name}_FILE are both set; set one of the two`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Misused(`${name}_FILE: ${file} cannot be read (${describeError(error)})`)
  }
}

/** An http address without a trailing slash. @throws Misused */
export const parseHttpAddress = (name: string, text: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new Misused(`${name} is not an address that begins with http:// or https://: ${text}`)
  }
  return text.replace(/\/+$/, '')
}

const readPort = (environment: Environment, name: string, fallback: number): string => {
  const text = readVariable(environment, name) ?? String(fallback)
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Misused(`${name} is not a port from 0 to 65535: ${text}`)
  return text
}

const findDataDir = (environment: Environment): string => readVariable(environment, 'DATA_DIR') ?? '.data'

// Order: TALLYMAN_URL, PORT, the stored address of the daemon on this DATA_DIR, the default port. PORT=0 means any free port, so it is no address.
const findDaemonUrl = (environment: Environment): string => {
  const url = readVariable(environment, 'TALLYMAN_URL')
  if (url !== null) return parseHttpAddress('TALLYMAN_URL', url)
  const number = readPort(environment, 'PORT', 8080)
  const isFixed = readVariable(environment, 'PORT') !== null && Number(number) !== 0
  return (isFixed ? null : readDaemonAddress(findDataDir(environment))) ?? `http://127.0.0.1:${number}`
}

/** Reads the settings of the command line. @throws Misused */
export const readCliSettings = (environment: Environment): CliSettings => ({
  daemonUrl: findDaemonUrl(environment),
  apiKey: readSecret(environment, 'API_KEY'),
  eventsSecret: readSecret(environment, 'EVENTS_SECRET')?.split(/[ ,]+/).find(Boolean) ?? null,
  sandboxUrl: parseHttpAddress(
    'SANDBOX_URL',
    readVariable(environment, 'SANDBOX_URL') ?? `http://127.0.0.1:${readPort(environment, 'SANDBOX_PORT', 8181)}`,
  ),
  databaseUrl: readSecret(environment, 'DATABASE_URL'),
  sessionUrl: readSecret(environment, 'DATABASE_DIRECT_URL') ?? readSecret(environment, 'DATABASE_URL'),
  redisUrl: readSecret(environment, 'REDIS_URL'),
  dataDir: findDataDir(environment),
})
