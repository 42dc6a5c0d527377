import { connectDaemon, type Daemon } from '../api-client/daemon.ts'
import type { Terminal } from './output/terminal.ts'
import { type CliSettings, type Environment, readCliSettings } from './settings.ts'

/** Dependencies of a command. */
export interface CliContext {
  readonly terminal: Terminal
  readonly environment: Environment
  readonly settings: CliSettings
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
  readonly daemon: Daemon
}

/** Streams, environment and interruption of one run of the command line. */
export interface CliProcess {
  readonly environment: Environment
  readonly out: NodeJS.WritableStream
  readonly messages: NodeJS.WritableStream
  /** Text of the standard input, for `send -`. */
  readonly readInput: () => Promise<string>
  /** One line of the standard input, for questions; empty at its end. */
  readonly readLine: () => Promise<string>
  /** Whether a person at the terminal can answer a question. */
  readonly isInteractive: boolean
  readonly signal: AbortSignal
  /** Continues as the daemon, in place of the command line. */
  readonly becomeDaemon: () => void
}

/** The context of one command. @throws Misused when a setting is wrong */
export const createContext = (process: CliProcess, json: boolean): CliContext => {
  const settings = readCliSettings(process.environment)
  return {
    terminal: { out: process.out, messages: process.messages, json },
    environment: process.environment,
    settings,
    signal: process.signal,
    daemon: connectDaemon({ url: settings.daemonUrl, apiKey: settings.apiKey, signal: process.signal }),
  }
}
