import { listenForStop } from './util/stop-signals.ts'

// Before anything else is loaded: a signal during loading needs a listener.
const stopping = listenForStop()

const { accessTokenHeader } = await import('./clients/marketplace/token-authorisation.ts')
const { profiles } = await import('./clients/marketplace/profiles/index.ts')
const { configExitCode, InvalidConfig, readConfig } = await import('./config/config.ts')
const { startDaemon } = await import('./daemon.ts')
const { escapeControlCharacters } = await import('./observability/control-characters.ts')
const { createLogger, createQuietLog, describeError } = await import('./observability/log.ts')
const { postgresOutage } = await import('./store/db/errors.ts')
const { commit, version } = await import('./util/version.ts')

const read = () => {
  try {
    return readConfig(process.env, process.stdout.isTTY === true)
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    for (const fault of error.faults) console.error(`tallyman: ${escapeControlCharacters(fault)}`)
    return process.exit(configExitCode)
  }
}

const config = read()
const headerPrefixes = [...profiles.values(), ...config.sellers].flatMap(({ headerPrefix }) => headerPrefix ?? [])
const telemetry = config.exportsTelemetry
  ? await (await import('./observability/otlp.ts')).startTelemetry({ version, commit })
  : null
const log = createLogger({
  ...config.log,
  ...(telemetry === null ? {} : { onLine: telemetry.onLogLine }),
  findOutage: postgresOutage,
  secretHeaders: [...new Set(headerPrefixes)].map(accessTokenHeader),
})
const quiet = createQuietLog(log)
telemetry?.onFault((fault) =>
  quiet.warn('telemetry', { fault }, 'traces, metrics or logs cannot be exported to OTEL_EXPORTER_OTLP_ENDPOINT'),
)
for (const name of config.unknownSettings) log.warn({ setting: name }, `${name} is not a setting and has no effect`)

if (config.afterRestore)
  log.warn(
    'AFTER_RESTORE is on: each order is read before its first command is sent; unset it once the ERP has posted again what was lost',
  )

stopping.begun({
  first: (signal) => log.info({ signal }, 'stopping: finishing work in progress'),
  second: (signal) => log.warn({ signal }, 'second signal: ending at once'),
})

// After an unhandled error the state of the program is undefined: restart.
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal({ err: error }, `${event}: ${describeError(error).message}; ending`)
    process.exit(1)
  })
}

try {
  await startDaemon(config, log, stopping, telemetry)
  await telemetry?.stop()
  process.exit(0)
} catch (error) {
  log.fatal({ err: error }, describeError(error).message)
  await telemetry?.stop()
  process.exit(1)
}
