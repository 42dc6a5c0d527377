import { readFileSync } from 'node:fs'
import { readDaemonAddress } from '../daemon-address.ts'
import { Misused, wordsOf } from './faults.ts'

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
  /** Where each connection is a session of its own: `DATABASE_DIRECT_URL`, otherwise `databaseUrl`. */
  readonly sessionUrl: string | null
  readonly redisUrl: string | null
  /** Folder of the daemon that runs here. */
  readonly dataDir: string
}

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

const given = (environment: Environment, name: string): string | null => {
  const value = environment[name]?.trim()
  return value === undefined || value === '' ? null : value
}

// Any secret may be given as the path of a file instead (contract, "Environment").
const secret = (environment: Environment, name: string): string | null => {
  const file = given(environment, `${name}_FILE`)
  if (file === null) return given(environment, name)
  if (given(environment, name) !== null) throw new Misused(`${name} and ${name}_FILE are both set; set one of the two`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Misused(`${name}_FILE: ${file} cannot be read (${wordsOf(error)})`)
  }
}

/** An http address without a trailing slash. @throws Misused */
export const httpAddress = (name: string, text: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new Misused(`${name} is not an address that begins with http:// or https://: ${text}`)
  }
  return text.replace(/\/+$/, '')
}

const port = (environment: Environment, name: string, fallback: number): string => {
  const text = given(environment, name) ?? String(fallback)
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Misused(`${name} is not a port from 0 to 65535: ${text}`)
  return text
}

const dataDirOf = (environment: Environment): string => given(environment, 'DATA_DIR') ?? '.data'

// What is said outright counts first; then where the daemon of this DATA_DIR says that it listens. Port 0 says nothing: it is any free one.
const daemonUrlOf = (environment: Environment): string => {
  const url = given(environment, 'TALLYMAN_URL')
  if (url !== null) return httpAddress('TALLYMAN_URL', url)
  const number = port(environment, 'PORT', 8080)
  const isSaid = given(environment, 'PORT') !== null && Number(number) !== 0
  return (isSaid ? null : readDaemonAddress(dataDirOf(environment))) ?? `http://127.0.0.1:${number}`
}

/** Reads the settings of the command line. @throws Misused */
export const readCliSettings = (environment: Environment): CliSettings => ({
  daemonUrl: daemonUrlOf(environment),
  apiKey: secret(environment, 'API_KEY'),
  eventsSecret: secret(environment, 'EVENTS_SECRET')?.split(/[ ,]+/).find(Boolean) ?? null,
  sandboxUrl: httpAddress(
    'SANDBOX_URL',
    given(environment, 'SANDBOX_URL') ?? `http://127.0.0.1:${port(environment, 'SANDBOX_PORT', 8181)}`,
  ),
  databaseUrl: secret(environment, 'DATABASE_URL'),
  sessionUrl: secret(environment, 'DATABASE_DIRECT_URL') ?? secret(environment, 'DATABASE_URL'),
  redisUrl: secret(environment, 'REDIS_URL'),
  dataDir: dataDirOf(environment),
})
