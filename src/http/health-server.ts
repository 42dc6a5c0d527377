import fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { App } from './app.ts'
import { healthRoutes } from './routes/health.ts'
import { serializerCompiler, validatorCompiler } from './schemas/serializers.ts'
import type { HttpServices } from './services.ts'

/** A server of `/livez`, `/healthz`, `/readyz` and `/metrics` alone, without a key. */
export interface HealthServer {
  /** Starts listening; returns the address with the actual port. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
  close(): Promise<void>
}

/** Builds the server. It reports not ready once `stopping` is aborted. */
export const createHealthServer = (
  services: Pick<HttpServices, 'health' | 'metrics' | 'log'>,
  stopping: AbortSignal,
): HealthServer => {
  const log: FastifyBaseLogger = services.log
  const app: App = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  healthRoutes(app, { services, stopping })
  return { listen: (address) => app.listen(address), close: () => app.close() }
}
