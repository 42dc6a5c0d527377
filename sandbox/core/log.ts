/** Writes one JSON line to stdout for the supervisor to read. Never carries credentials, addresses or bodies. */
export type Log = (level: 'info' | 'warn' | 'error', msg: string, fields?: Readonly<Record<string, unknown>>) => void

/** The log of the program: ISO time, component `sandbox`. */
export const stdoutLog: Log = (level, msg, fields = {}) => {
  process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), component: 'sandbox', msg, ...fields })}\n`)
}
