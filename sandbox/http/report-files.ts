import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { renderFaults } from '../core/errors.ts'
import { openReportFile, reportFilesPath } from '../fulfillment/report-requests.ts'
import type { Gateway } from './gateway.ts'
import { readParams } from './params.ts'

/** The files of requested reports, as a store of files serves them: without a token, and with XML as the body of an error. */
export const registerReportFiles = (app: FastifyInstance, { world, life }: Gateway): void => {
  app.get(`${reportFilesPath}/:id/:name`, async (request, reply) => {
    await life.catchUp()
    const now = world.clock.now()
    const found = openReportFile(world, readParams(request)['id'] ?? '', now)
    if (found === null) {
      const { contentType, text } = renderFaults(403, [], 'xml', request.url, now)
      return reply.code(403).header('content-type', contentType).send(text)
    }
    reply.header('content-type', 'application/octet-stream')
    return reply.send(Buffer.isBuffer(found) ? found : Readable.from(found))
  })
}
